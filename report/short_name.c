/* SPDX-License-Identifier: BSD-3-Clause */
/* The short form of an MPI region's name. */
#include "report/short_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "schema/mpi_kind.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"
#define DIGITS "0123456789"

/* A piece of the name; not terminated. */
struct word {
    const char *text;
    int length;
};

/* Moves *p behind prefix; false if it does not begin with that. */
static bool skip(const char **p, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(*p, prefix, length) != 0)
        return false;
    *p += length;
    return true;
}

/* Takes characters of set; false if there are none. */
static bool take(const char **p, const char *set, struct word *word)
{
    size_t length = strspn(*p, set);
    *word = (struct word){*p, (int)length};
    *p += length;
    return length > 0;
}

static bool take_number(const char **p, struct word *word)
{
    const char *begin = *p;
    *p += *begin == '-';
    if (!take(p, DIGITS, word))
        return false;
    *word = (struct word){begin, (int)(*p - begin)};
    return true;
}

static bool is_absent(struct word number)
{
    return number.length == 2 && memcmp(number.text, "-1", 2) == 0;
}

/* Only polls that found nothing are of another kind than the other calls of their function. */
static bool take_kind(const char **p, bool *is_poll)
{
    struct word word;
    if (!take(p, LETTERS "-", &word))
        return false;
    enum mpi_kind kind = mpi_kind_from_word(word.text, (unsigned long)word.length);
    *is_poll = kind == KIND_POLL;
    return kind != KIND_COUNT;
}

const char *short_name(const char *name, char text[static SHORT_NAME_SIZE])
{
    static const char *const keys[] = {" peer=", " root=", " tag=", " comm="};
    enum { KEYS = sizeof(keys) / sizeof(*keys) };
    struct word operation, bytes, numbers[KEYS], request = {"", 0};
    const char *p = name;
    bool is_poll;
    if (strlen(name) >= SHORT_NAME_SIZE) /* else it fits: no part of it gets longer */
        return name;
    if (!skip(&p, "mpi:") || !take(&p, LETTERS, &operation) || !skip(&p, " kind=") ||
        !take_kind(&p, &is_poll) || !skip(&p, " bytes=") || !take_number(&p, &bytes))
        return name;
    for (int i = 0; i < KEYS; i++) {
        if (!skip(&p, keys[i]) || !take_number(&p, &numbers[i]))
            return name;
    }
    if (skip(&p, " request=") && !take(&p, LETTERS, &request))
        return name;
    if (*p != '\0')
        return name;
    int length = sprintf(text, "mpi:%.*s%s", operation.length, operation.text,
                         is_poll ? " kind=poll" : "");
    if (request.length > 0)
        length += sprintf(text + length, " %.*s", request.length, request.text);
    if (!is_absent(bytes))
        length += sprintf(text + length, " %.*s B", bytes.length, bytes.text);
    for (int i = 0; i < KEYS; i++) {
        if (!is_absent(numbers[i]))
            length += sprintf(text + length, "%s%.*s", keys[i], numbers[i].length, numbers[i].text);
    }
    return text;
}
