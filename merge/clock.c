/* SPDX-License-Identifier: BSD-3-Clause */
/* From the ticks of one trace to nanoseconds of its host's CLOCK_MONOTONIC. */
#include "merge/clock.h"

#include <math.h>
#include <stdlib.h>

/* A slope over less would mostly be the noise of reading two clocks one after the other. */
#define SLOPE_SPAN_NS 1000000
/* No machine is up for this long: 36 years. Keeps sums of a few times from overflowing. */
#define NS_LIMIT (INT64_C(1) << 60)

int clock_add(struct clock *clock, const struct trace_sync *point)
{
    if (clock->count == clock->room) {
        size_t room = clock->room ? 2 * clock->room : 8;
        struct trace_sync *points = realloc(clock->points, room * sizeof(*points));
        if (!points)
            return -1;
        clock->points = points;
        clock->room = room;
    }
    clock->points[clock->count++] = *point;
    return 0;
}

static int compare_points(const void *left, const void *right)
{
    const struct trace_sync *a = left, *b = right;
    if (a->ticks != b->ticks)
        return a->ticks < b->ticks ? -1 : 1;
    return a->monotonic_ns < b->monotonic_ns ? -1 : a->monotonic_ns > b->monotonic_ns;
}

static void drop_contradictions(struct clock *clock)
{
    size_t kept = 0;
    for (size_t i = 0; i < clock->count; i++) {
        const struct trace_sync *point = &clock->points[i];
        if (point->monotonic_ns < 0 || point->monotonic_ns > NS_LIMIT)
            continue;
        if (kept > 0 && (point->ticks == clock->points[kept - 1].ticks ||
                         point->monotonic_ns < clock->points[kept - 1].monotonic_ns))
            continue;
        clock->points[kept++] = *point;
    }
    clock->count = kept;
}

static void find_slopes(struct clock *clock)
{
    const struct trace_sync *points = clock->points;
    size_t last = clock->count - 1, end = 1, start = last - 1;
    while (end < last && points[end].monotonic_ns - points[0].monotonic_ns < SLOPE_SPAN_NS)
        end++;
    while (start > 0 && points[last].monotonic_ns - points[start].monotonic_ns < SLOPE_SPAN_NS)
        start--;
    clock->lead_ns = (uint64_t)(points[end].monotonic_ns - points[0].monotonic_ns);
    clock->lead_ticks = points[end].ticks - points[0].ticks;
    clock->trail_ns = (uint64_t)(points[last].monotonic_ns - points[start].monotonic_ns);
    clock->trail_ticks = points[last].ticks - points[start].ticks;
}

int clock_settle(struct clock *clock, unsigned source, unsigned shift, struct error *err)
{
    if (clock->count > 1)
        qsort(clock->points, clock->count, sizeof(*clock->points), compare_points);
    drop_contradictions(clock);
    if (clock->count >= 2) {
        find_slopes(clock);
        return 0;
    }
    if (clock->count == 0)
        return error_set(err, "no valid sync point");
    if (source != CLOCK_SOURCE_MONOTONIC || shift > 32)
        return error_set(err, "one sync point only: the speed of its clock is not known");
    clock->lead_ns = clock->trail_ns = UINT64_C(1) << shift;
    clock->lead_ticks = clock->trail_ticks = 1;
    return 0;
}

/* ticks * ns / per_ticks, rounded down or up, at most NS_LIMIT. */
static int64_t scale(uint64_t ticks, uint64_t ns, uint64_t per_ticks, int round_up)
{
    unsigned __int128 product = (unsigned __int128)ticks * ns;
    unsigned __int128 result = product / per_ticks + (round_up && product % per_ticks != 0);
    return result > (unsigned __int128)NS_LIMIT ? NS_LIMIT : (int64_t)result;
}

/* The last point at or before ticks; the caller knows that there is one. */
static size_t find_point(const struct clock *clock, uint64_t ticks, size_t hint)
{
    const struct trace_sync *points = clock->points;
    if (hint + 1 < clock->count && points[hint].ticks <= ticks && ticks < points[hint + 1].ticks)
        return hint;
    size_t low = 0, high = clock->count; /* points[low] <= ticks < points[high] */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (points[middle].ticks <= ticks)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The time of ticks from a point up to the next one. */
static int64_t between(const struct trace_sync *from, uint64_t ticks)
{
    const struct trace_sync *to = from + 1;
    return from->monotonic_ns + scale(ticks - from->ticks,
                                      (uint64_t)(to->monotonic_ns - from->monotonic_ns),
                                      to->ticks - from->ticks, 0);
}

int64_t clock_ns(const struct clock *clock, uint64_t ticks, size_t *hint)
{
    const struct trace_sync *points = clock->points, *last = &points[clock->count - 1];
    if (ticks < points[0].ticks)
        return points[0].monotonic_ns -
               scale(points[0].ticks - ticks, clock->lead_ns, clock->lead_ticks, 1);
    if (ticks >= last->ticks) {
        int64_t ns =
            last->monotonic_ns + scale(ticks - last->ticks, clock->trail_ns, clock->trail_ticks, 0);
        return ns > NS_LIMIT ? NS_LIMIT : ns;
    }
    *hint = find_point(clock, ticks, *hint);
    return between(&points[*hint], ticks);
}

/* A point between two of the clock's own, where its correction has a bend. */
static int add_bend(struct clock *clock, double monotonic_ns, size_t count)
{
    size_t i = 0;
    while (i + 1 < count && (double)clock->points[i + 1].monotonic_ns <= monotonic_ns)
        i++;
    if (i + 1 >= count || (double)clock->points[i].monotonic_ns >= monotonic_ns)
        return 0;
    const struct trace_sync *from = &clock->points[i], *to = from + 1;
    double part = (monotonic_ns - (double)from->monotonic_ns) /
                  ((double)to->monotonic_ns - (double)from->monotonic_ns);
    uint64_t ticks = from->ticks + (uint64_t)(part * (double)(to->ticks - from->ticks));
    const struct trace_sync bend = {.ticks = ticks, .monotonic_ns = between(from, ticks)};
    return ticks > from->ticks && ticks < to->ticks ? clock_add(clock, &bend) : 0;
}

int clock_bend(struct clock *clock, const double ns[SKEW_KNOTS], int64_t begin_ns, double span_ns)
{
    size_t count = clock->count;
    for (int i = 1; i < SKEW_STEPS; i++) {
        double bend = ns[i - 1] - 2 * ns[i] + ns[i + 1];
        if (fabs(bend) >= 0.5 &&
            add_bend(clock, (double)begin_ns + span_ns * i / SKEW_STEPS, count) < 0)
            return -1;
    }
    for (size_t i = 0; i < clock->count; i++) {
        double time = ((double)clock->points[i].monotonic_ns - (double)begin_ns) / span_ns;
        clock->points[i].monotonic_ns += llround(skew_at(ns, time));
    }
    return 0;
}

void clock_release(struct clock *clock)
{
    free(clock->points);
    *clock = (struct clock){0};
}
