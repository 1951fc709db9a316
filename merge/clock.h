/* SPDX-License-Identifier: BSD-3-Clause */
/* From the ticks of one trace to nanoseconds of its host's CLOCK_MONOTONIC. */
#ifndef SCOPE_CLOCK_H
#define SCOPE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "merge/skew.h"
#include "schema/error.h"
#include "schema/trace_format.h"

/* A stretch of time in which the clock runs evenly. */
struct clock_segment {
    uint64_t begin, end; /* ticks; end is not part of it */
    int64_t ns;          /* at begin */
    uint64_t whole, fraction; /* ns in a tick: whole + fraction / 2^64 */
};

/* Piecewise linear through the sync points of the trace. Zero-initialise; add points; settle. */
struct clock {
    struct trace_sync *points;
    size_t count, room;
    uint64_t lead_ns, lead_ticks;   /* slope before the first point */
    uint64_t trail_ns, trail_ticks; /* and behind the last one */
    struct clock_segment *segments; /* from each point on, once settled; room for as many */
};

/* Adds a sync point, in any order. Returns 0, or -1 if memory is out. */
int clock_add(struct clock *clock, const struct trace_sync *point);

/* Sorts the points, leaves out those that contradict earlier ones (time does not run backwards) and
 * finds the slopes at both ends. Returns 0, or -1 and err if the ticks of this source (enum
 * trace_clock, shifted by shift) cannot be told from the points there are. */
int clock_settle(struct clock *clock, unsigned source, unsigned shift, struct error *err);

/* The time of ticks in ns; never decreasing with ticks, so what nests in ticks nests in ns. hint
 * (an index, 0 at first) makes the search short where calls come in order. */
int64_t clock_ns(const struct clock *clock, uint64_t ticks, size_t *hint);

/* The segment that ticks lie in, or NULL: before the first point, or so far behind the last one
 * that no time is left. hint as of clock_ns. */
const struct clock_segment *clock_find(const struct clock *clock, uint64_t ticks, size_t *hint);

/* clock_ns for ticks of the segment. */
static inline int64_t clock_segment_ns(const struct clock_segment *segment, uint64_t ticks)
{
    uint64_t after = ticks - segment->begin;
    return segment->ns + (int64_t)(after * segment->whole +
                                   (uint64_t)((unsigned __int128)after * segment->fraction >> 64));
}

/* Adds to the clock what ns says over the span_ns from begin_ns of its own time on. It is then to be
 * settled again. Returns 0, or -1 if memory is out. */
int clock_bend(struct clock *clock, const double ns[SKEW_KNOTS], int64_t begin_ns, double span_ns);

void clock_release(struct clock *clock);

#endif
