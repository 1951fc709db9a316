/* SPDX-License-Identifier: BSD-3-Clause */
/* The nesting of one thread's calls, which come in the order of their ends.
 *
 * Which calls enclose others is learnt in a first pass; the second pass then knows on arrival of a
 * call which one it lies in. Memory grows with the calls that enclose others (a user's reduction
 * operator that calls MPI, an attribute copier), not with all calls.
 */
#ifndef SCOPE_LANE_H
#define SCOPE_LANE_H

#include <stddef.h>
#include <stdint.h>

struct lane_outer {
    uint64_t start, end; /* ticks */
    int64_t nested_ns;   /* time in calls directly inside, so far */
};

/* Zero-initialise. */
struct lane {
    struct lane_outer *outers; /* by start; of equal starts the longer first */
    size_t count, room;
    size_t next;    /* the first outer not yet begun */
    uint32_t *open; /* stack of outers begun and not ended: numbers */
    size_t depth;
    uint64_t previous_end;
};

/* First pass: a call of the thread. Returns 0, or -1 if memory is out. */
int lane_learn(struct lane *lane, uint64_t start, uint64_t end);

/* Between the passes. Returns 0, or -1 if memory is out. */
int lane_settle(struct lane *lane);

/* Second pass: the same calls in the same order. Returns how much of the call's duration_ns is its
 * own, and sets *is_outermost if it lies in no other. */
int64_t lane_exclusive(struct lane *lane, uint64_t start, uint64_t end, int64_t duration_ns,
                       int *is_outermost);

void lane_release(struct lane *lane);

#endif
