/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of a run's hosts, set so that no message is received before it is sent. */
#ifndef SCOPE_ALIGNMENT_H
#define SCOPE_ALIGNMENT_H

#include <stddef.h>
#include <stdint.h>

#include "merge/rank.h"
#include "merge/skew.h"

struct alignment_host {
    double ns[SKEW_KNOTS]; /* added to its clock, over the run */
    double half_width_ns;  /* the truth may be that far off, at the least; infinite: messages do not
                              tell, or from one side only */
    uint64_t messages;     /* that it sent to or received from other hosts */
};

/* Zero-initialise. */
struct alignment {
    struct alignment_host *hosts; /* by number */
    size_t host_count;
    uint64_t messages;    /* between hosts, of which the send and the receive were compared */
    uint64_t collectives; /* pairs of hosts in collectives that were */
    uint64_t violations_before, violations_after; /* of these, ended before they had begun */
    int64_t begin_ns;
    double span_ns; /* of the run: where hosts[].ns lies */
};

/* Compares what the ranks' traffic tells, moves their clocks (rank.clock and .offset_ns) and
 * releases the traffic. Ranks are in the order of their numbers, on hosts 0 to host_count - 1, and
 * their clocks as good as they are without messages; communicators are settled. The first host
 * keeps its clock. Returns 0, or -1 if memory is out. */
int alignment_find(struct alignment *alignment, struct rank *ranks, size_t rank_count,
                   size_t host_count, const struct communicators *communicators);

/* The correction of a host's clock when that, without it, is at ns of the first host's. */
double alignment_at(const struct alignment *alignment, size_t host, double ns);

/* The largest correction of a host's clock, ns. */
double alignment_largest_ns(const struct alignment *alignment, size_t host);

void alignment_release(struct alignment *alignment);

#endif
