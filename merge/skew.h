/* SPDX-License-Identifier: BSD-3-Clause */
/* How far one clock is ahead of another, from bounds on it that hold at some times.
 *
 * A message bounds it from one side: it was not received before it was sent. Messages in both
 * directions bound it from both, and the middle is the best that can be told; one line through the
 * middle where the clocks drift evenly, several where they do not. (The envelopes of Duda, Harrus,
 * Haddad and Bernard, "Estimating global time in distributed systems", 1987, with the widest line
 * between them instead of the hulls' diagonals.)
 */
#ifndef SCOPE_SKEW_H
#define SCOPE_SKEW_H

#include <stdbool.h>
#include <stddef.h>

/* Time is from 0 to 1, the whole run, and bounds are in ns. */
enum { SKEW_STEPS = 256, SKEW_KNOTS = SKEW_STEPS + 1 };

struct skew_bound {
    double time, ns;
};

struct skew_bounds {
    const struct skew_bound *lower, *upper; /* by time */
    size_t lower_count, upper_count;
};

/* The difference at the times i / SKEW_STEPS, linear in between. */
struct skew {
    double ns[SKEW_KNOTS];
    double half_width_ns; /* half of the room between the bounds where it is narrowest: the error
                             is no larger there; infinite where one side has no bound */
};

/* Finds it. Returns false if one side has no bound at all: what is then in *skew is 0, or what the
 * other side's bounds ask for at the least, all the time. drift_max: the most by which it may
 * change in the whole run, ns. */
bool skew_fit(struct skew *skew, const struct skew_bounds *bounds, double drift_max);

/* The difference at a time. */
static inline double skew_at(const double ns[SKEW_KNOTS], double time)
{
    double place = time <= 0 ? 0 : time >= 1 ? SKEW_STEPS : time * SKEW_STEPS;
    int knot = place >= SKEW_STEPS ? SKEW_STEPS - 1 : (int)place;
    return ns[knot] + (ns[knot + 1] - ns[knot]) * (place - knot);
}

#endif
