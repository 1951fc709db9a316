/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of ranks as people write it: "0-3,7". */
#include "report/rank_set.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads digits at *p and moves behind them; -1 if there are none or the number is too large. */
static int read_rank(const char **p, uint32_t *rank)
{
    char *end;
    if (**p < '0' || **p > '9')
        return -1;
    errno = 0;
    unsigned long long number = strtoull(*p, &end, 10);
    if (errno || number > UINT32_MAX)
        return -1;
    *p = end;
    *rank = (uint32_t)number;
    return 0;
}

static int read_range(const char **p, struct rank_range *range)
{
    if (read_rank(p, &range->first) < 0)
        return -1;
    range->last = range->first;
    if (**p != '-')
        return 0;
    ++*p;
    return read_rank(p, &range->last) < 0 || range->last < range->first ? -1 : 0;
}

int rank_set_parse(struct rank_set *set, const char *text, struct error *err)
{
    size_t most = 1;
    for (const char *p = text; *p; p++)
        most += *p == ',';
    set->count = 0;
    set->ranges = calloc(most, sizeof(*set->ranges));
    if (!set->ranges)
        return error_set(err, "out of memory");
    for (const char *p = text;; p++) {
        if (read_range(&p, &set->ranges[set->count++]) < 0 || (*p != ',' && *p != '\0')) {
            rank_set_release(set);
            return error_set(err, "\"%s\" is no list of ranks such as 0-3,7", text);
        }
        if (*p == '\0')
            return 0;
    }
}

static int compare_ranks(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

int rank_set_of(struct rank_set *set, uint32_t *ranks, size_t count, struct error *err)
{
    set->count = 0;
    set->ranges = calloc(count + 1, sizeof(*set->ranges));
    if (!set->ranges)
        return error_set(err, "out of memory");
    qsort(ranks, count, sizeof(*ranks), compare_ranks);
    for (size_t i = 0; i < count; i++) {
        struct rank_range *last = set->count > 0 ? &set->ranges[set->count - 1] : NULL;
        if (last && ranks[i] - last->last <= 1)
            last->last = ranks[i];
        else
            set->ranges[set->count++] = (struct rank_range){ranks[i], ranks[i]};
    }
    return 0;
}

static int print_range(const struct rank_range *range, char *text, size_t size)
{
    return range->first == range->last
               ? snprintf(text, size, "%" PRIu32, range->first)
               : snprintf(text, size, "%" PRIu32 "-%" PRIu32, range->first, range->last);
}

/* "0-3,7", or its beginning and "..." */
static const char *print_set(const struct rank_set *set, char *text, size_t size)
{
    enum { RANGE_SIZE = 24 }; /* two numbers, their sign and the comma; longer than "..." */
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < set->count; i++) {
        if (length > 0)
            text[length++] = ',';
        if (size - length < 2 * RANGE_SIZE) {
            strcpy(text + length, "...");
            break;
        }
        length += (size_t)print_range(&set->ranges[i], text + length, size - length);
    }
    return text;
}

static bool overlaps(const struct rank_range *range, const struct rank_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (range->first <= set->ranges[i].last && range->last >= set->ranges[i].first)
            return true;
    }
    return false;
}

int rank_set_check(const struct rank_set *wanted, const struct rank_set *present, struct error *err)
{
    char range[32], all[256];
    for (size_t i = 0; i < wanted->count; i++) {
        if (overlaps(&wanted->ranges[i], present))
            continue;
        print_range(&wanted->ranges[i], range, sizeof(range));
        return error_set(err, "%s %s: the file has calls of %s%s",
                         strchr(range, '-') ? "none of the ranks" : "no rank", range,
                         present->count == 0 ? "no rank at all" : "ranks ",
                         print_set(present, all, sizeof(all)));
    }
    return 0;
}

bool rank_set_has(const struct rank_set *set, uint64_t rank)
{
    if (!set->ranges)
        return true;
    for (size_t i = 0; i < set->count; i++) {
        if (rank >= set->ranges[i].first && rank <= set->ranges[i].last)
            return true;
    }
    return false;
}

void rank_set_release(struct rank_set *set)
{
    free(set->ranges);
    *set = (struct rank_set){0};
}
