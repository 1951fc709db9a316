/* SPDX-License-Identifier: BSD-3-Clause */
/* The nesting of one thread's calls, which come in the order of their ends. */
#include "merge/lane.h"

#include <stdlib.h>

int lane_learn(struct lane *lane, uint64_t start, uint64_t end)
{
    uint64_t previous_end = lane->previous_end;
    lane->previous_end = end;
    if (start >= previous_end)
        return 0;
    if (lane->count == lane->room) {
        size_t room = lane->room ? 2 * lane->room : 16;
        struct lane_outer *outers = realloc(lane->outers, room * sizeof(*outers));
        if (!outers || room > UINT32_MAX)
            return -1;
        lane->outers = outers;
        lane->room = room;
    }
    lane->outers[lane->count++] = (struct lane_outer){.start = start, .end = end};
    return 0;
}

static int compare_outers(const void *left, const void *right)
{
    const struct lane_outer *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->end > b->end ? -1 : a->end < b->end;
}

int lane_settle(struct lane *lane)
{
    if (lane->count == 0)
        return 0;
    qsort(lane->outers, lane->count, sizeof(*lane->outers), compare_outers);
    lane->open = calloc(lane->count, sizeof(*lane->open));
    return lane->open ? 0 : -1;
}

static struct lane_outer *innermost(const struct lane *lane)
{
    return lane->depth ? &lane->outers[lane->open[lane->depth - 1]] : NULL;
}

int64_t lane_exclusive(struct lane *lane, uint64_t start, uint64_t end, int64_t duration_ns,
                       int *is_outermost)
{
    while (lane->next < lane->count && lane->outers[lane->next].start <= start)
        lane->open[lane->depth++] = (uint32_t)lane->next++;
    while (lane->depth && innermost(lane)->end < end) /* only if the trace contradicts itself */
        lane->depth--;
    int64_t nested_ns = 0;
    struct lane_outer *outer = innermost(lane);
    if (outer && outer->start == start && outer->end == end) {
        nested_ns = outer->nested_ns;
        lane->depth--;
        outer = innermost(lane);
    }
    if (outer)
        outer->nested_ns += duration_ns;
    *is_outermost = outer == NULL;
    return nested_ns < duration_ns ? duration_ns - nested_ns : 0;
}

void lane_release(struct lane *lane)
{
    free(lane->outers);
    free(lane->open);
    *lane = (struct lane){0};
}
