/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a group: world ranks in its order, as runs and as text, "0-3,8-14:2". */
#include "merge/members.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *members_print_run(const struct trace_rank_run *run, char text[static MEMBERS_RUN_SIZE])
{
    int64_t last = (int64_t)run->first + ((int64_t)run->count - 1) * run->stride;
    if (run->count <= 1)
        snprintf(text, MEMBERS_RUN_SIZE, "%" PRIu32, run->first);
    else if (run->stride == 1)
        snprintf(text, MEMBERS_RUN_SIZE, "%" PRIu32 "-%" PRId64, run->first, last);
    else
        snprintf(text, MEMBERS_RUN_SIZE, "%" PRIu32 "-%" PRId64 ":%" PRId32, run->first, last,
                 run->stride);
    return text;
}

static bool take_number(const char **text, int64_t *number)
{
    const char *digits = **text == '-' ? *text + 1 : *text;
    char *end;
    if (*digits < '0' || *digits > '9')
        return false;
    *number = strtoll(*text, &end, 10);
    *text = end;
    return true;
}

bool members_next(const char **members, struct trace_rank_run *run)
{
    int64_t first, last, stride = 1;
    const char *text = *members;
    if (!take_number(&text, &first) || first < 0 || first > UINT32_MAX)
        return false;
    last = first;
    if (*text == '-' && (text++, !take_number(&text, &last)))
        return false;
    if (*text == ':' && (text++, !take_number(&text, &stride)))
        return false;
    /* A communicator's runs were made by arithmetic on numbers from a file: any of them can be off.
     * */
    if (stride == 0 || stride < INT32_MIN || stride > INT32_MAX || last < INT32_MIN ||
        last > UINT32_MAX || (last - first) / stride < 0)
        return false;
    *run = (struct trace_rank_run){.first = (uint32_t)first,
                                   .count = (uint32_t)((last - first) / stride) + 1,
                                   .stride = (int32_t)stride};
    *members = *text == ',' ? text + 1 : text;
    return true;
}

int64_t members_at(const struct trace_rank_run *runs, uint32_t run_count, uint64_t index)
{
    for (uint32_t i = 0; i < run_count; i++) {
        if (index < runs[i].count) {
            int64_t rank = (int64_t)runs[i].first + (int64_t)index * runs[i].stride;
            return rank < 0 ? -1 : rank;
        }
        index -= runs[i].count;
    }
    return -1;
}
