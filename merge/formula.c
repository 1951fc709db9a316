/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic on named values, as LIKWID's groups tell metrics. */
#include "merge/formula.h"

#include <stdlib.h>
#include <string.h>

struct cursor {
    const char *at;
    formula_lookup *lookup;
    const void *context;
    int depth;
};

static bool read_sum(struct cursor *cursor, double *value);

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool takes(struct cursor *cursor, char c)
{
    while (*cursor->at == ' ')
        cursor->at++;
    if (*cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static bool read_name(struct cursor *cursor, double *value)
{
    const char *name = cursor->at;
    while (is_letter(*cursor->at) || is_digit(*cursor->at))
        cursor->at++;
    return cursor->lookup(cursor->context, name, (size_t)(cursor->at - name), value);
}

/* A number, a name, or a formula in parentheses, with a sign or not. */
static bool read_value(struct cursor *cursor, double *value)
{
    if (++cursor->depth > FORMULA_DEPTH)
        return false;
    bool is_good = false;
    if (takes(cursor, '-')) {
        is_good = read_value(cursor, value);
        *value = -*value;
    } else if (takes(cursor, '(')) {
        is_good = read_sum(cursor, value) && takes(cursor, ')');
    } else if (is_letter(*cursor->at)) {
        is_good = read_name(cursor, value);
    } else if (is_digit(*cursor->at) || *cursor->at == '.') {
        char *end;
        *value = strtod(cursor->at, &end);
        is_good = end != cursor->at;
        cursor->at = end;
    }
    cursor->depth--;
    return is_good;
}

static bool read_product(struct cursor *cursor, double *value)
{
    if (!read_value(cursor, value))
        return false;
    for (;;) {
        bool divides = takes(cursor, '/');
        double next = 0;
        if (!divides && !takes(cursor, '*'))
            return true;
        if (!read_value(cursor, &next))
            return false;
        *value = divides ? *value / next : *value * next;
    }
}

static bool read_sum(struct cursor *cursor, double *value)
{
    if (!read_product(cursor, value))
        return false;
    for (;;) {
        bool subtracts = takes(cursor, '-');
        double next = 0;
        if (!subtracts && !takes(cursor, '+'))
            return true;
        if (!read_product(cursor, &next))
            return false;
        *value += subtracts ? -next : next;
    }
}

bool formula_evaluate(const char *text, formula_lookup *lookup, const void *context, double *value)
{
    struct cursor cursor = {.at = text, .lookup = lookup, .context = context};
    *value = 0;
    return read_sum(&cursor, value) && cursor.at[strspn(cursor.at, " ")] == '\0';
}
