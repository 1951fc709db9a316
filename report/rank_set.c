/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of ranks as people write it: "0-3,7". */
#include "report/rank_set.h"

#include <errno.h>
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
