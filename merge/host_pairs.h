/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of the clocks of two hosts against one another, for all pairs that have met. */
#ifndef SCOPE_HOST_PAIRS_H
#define SCOPE_HOST_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "merge/skew.h"

struct host_pair {
    int first, second;                /* hosts, first < second */
    struct skew_bound *lower, *upper; /* of second's clock against first's: the tightest in each
                                         part of the run; ns is infinite where there is none */
};

/* Zero-initialise. */
struct host_pairs {
    struct host_pair *list;
    size_t count, room;
    uint32_t *slots;
    size_t slot_count;
};

/* Takes note that what happened on host `before` at before_ns was not after what happened on host
 * `behind` at behind_ns, at this time of the run (0 to 1), by the clocks as they are. Pairs that
 * are too many (4,096) are not noted. Returns 0, or -1 if memory is out. */
int host_pairs_note(struct host_pairs *pairs, int before, int64_t before_ns, int behind,
                    int64_t behind_ns, double time);

/* Moves the hosts' clocks so that all is in its order, as far as that can be: into ns, by host and
 * knot, which is added to. The first host keeps its own. drift_max: see skew_fit. half_width_ns, by
 * host, is how far the truth can be from what was found, at the least: infinite where only one side
 * or none is bounded, 0 for the first. Returns 0, or -1 if memory is out. */
int host_pairs_align(const struct host_pairs *pairs, size_t host_count, double drift_max,
                     double (*ns)[SKEW_KNOTS], double *half_width_ns);

void host_pairs_release(struct host_pairs *pairs);

#endif
