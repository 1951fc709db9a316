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
        struct clock_segment *segments = realloc(clock->segments, room * sizeof(*segments));
        if (!segments)
            return -1;
        clock->segments = segments;
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

/* ticks * ns / per_ticks, rounded down or up, at most NS_LIMIT. */
static int64_t scale(uint64_t ticks, uint64_t ns, uint64_t per_ticks, int round_up)
{
    unsigned __int128 product = (unsigned __int128)ticks * ns;
    unsigned __int128 result = product / per_ticks + (round_up && product % per_ticks != 0);
    return result > (unsigned __int128)NS_LIMIT ? NS_LIMIT : (int64_t)result;
}

/* The time of ticks from a point up to the next one. */
static int64_t between(const struct trace_sync *from, uint64_t ticks)
{
    const struct trace_sync *to = from + 1;
    return from->monotonic_ns + scale(ticks - from->ticks,
                                      (uint64_t)(to->monotonic_ns - from->monotonic_ns),
                                      to->ticks - from->ticks, 0);
}

/* Rounded up, so that the time of what is at most 2^32 ticks after begin is exact to the last ns:
 * the largest whole number that is not above the real one. Further on it can be one more, but
 * never runs backwards and never passes the end. */
static struct clock_segment make_segment(const struct trace_sync *from, uint64_t end, uint64_t ns,
                                         uint64_t per_ticks)
{
    unsigned __int128 rest = (unsigned __int128)(ns % per_ticks) << 64;
    return (struct clock_segment){
        .begin = from->ticks,
        .end = end,
        .ns = from->monotonic_ns,
        .whole = ns / per_ticks,
        .fraction = (uint64_t)(rest / per_ticks + (rest % per_ticks != 0)),
    };
}

/* Where the time behind the last point would pass NS_LIMIT. */
static uint64_t find_end(const struct clock *clock)
{
    const struct trace_sync *last = &clock->points[clock->count - 1];
    uint64_t left_ns = (uint64_t)(NS_LIMIT - last->monotonic_ns);
    if (clock->trail_ns == 0)
        return UINT64_MAX;
    unsigned __int128 ticks = (unsigned __int128)left_ns * clock->trail_ticks / clock->trail_ns;
    return ticks < UINT64_MAX - last->ticks ? last->ticks + (uint64_t)ticks : UINT64_MAX;
}

static void make_segments(struct clock *clock)
{
    size_t last = clock->count - 1;
    const struct trace_sync *points = clock->points;
    struct clock_segment *segments = clock->segments;
    for (size_t i = 0; i < last; i++)
        segments[i] = make_segment(&points[i], points[i + 1].ticks,
                                   (uint64_t)(points[i + 1].monotonic_ns - points[i].monotonic_ns),
                                   points[i + 1].ticks - points[i].ticks);
    segments[last] =
        make_segment(&points[last], find_end(clock), clock->trail_ns, clock->trail_ticks);
}

int clock_settle(struct clock *clock, unsigned source, unsigned shift, struct error *err)
{
    if (clock->count > 1)
        qsort(clock->points, clock->count, sizeof(*clock->points), compare_points);
    drop_contradictions(clock);
    if (clock->count >= 2) {
        find_slopes(clock);
        make_segments(clock);
        return 0;
    }
    if (clock->count == 0)
        return error_set(err, "no valid sync point");
    if (source != CLOCK_SOURCE_MONOTONIC || shift > 32)
        return error_set(err, "one sync point only: the speed of its clock is not known");
    clock->lead_ns = clock->trail_ns = UINT64_C(1) << shift;
    clock->lead_ticks = clock->trail_ticks = 1;
    make_segments(clock);
    return 0;
}

const struct clock_segment *clock_find(const struct clock *clock, uint64_t ticks, size_t *hint)
{
    const struct clock_segment *segments = clock->segments;
    if (*hint < clock->count && segments[*hint].begin <= ticks && ticks < segments[*hint].end)
        return &segments[*hint];
    size_t low = 0, high = clock->count; /* segments[low].begin <= ticks < segments[high].begin */
    if (ticks < segments[0].begin || ticks >= segments[high - 1].end)
        return NULL;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (segments[middle].begin <= ticks)
            low = middle;
        else
            high = middle;
    }
    *hint = low;
    return &segments[low];
}

int64_t clock_ns(const struct clock *clock, uint64_t ticks, size_t *hint)
{
    const struct trace_sync *first = &clock->points[0];
    const struct clock_segment *segment = clock_find(clock, ticks, hint);
    if (segment)
        return clock_segment_ns(segment, ticks);
    return ticks < first->ticks
               ? first->monotonic_ns -
                     scale(first->ticks - ticks, clock->lead_ns, clock->lead_ticks, 1)
               : NS_LIMIT;
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
    if (clock->count > 1)
        qsort(clock->points, clock->count, sizeof(*clock->points), compare_points);
    /* Time goes on, whatever ns says: no point contradicts another, so that none will be dropped. */
    double least = 0;
    for (size_t i = 0; i < clock->count; i++) {
        double own = (double)clock->points[i].monotonic_ns;
        double bent = own + skew_at(ns, (own - (double)begin_ns) / span_ns);
        least = fmin(fmax(bent, least), (double)NS_LIMIT);
        clock->points[i].monotonic_ns = llround(least);
    }
    return 0;
}

void clock_release(struct clock *clock)
{
    free(clock->points);
    free(clock->segments);
    *clock = (struct clock){0};
}
