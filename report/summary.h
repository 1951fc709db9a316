/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers of a report, taken from a profile's index. */
#ifndef SCOPE_SUMMARY_H
#define SCOPE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/functions.h"
#include "report/rank_set.h"
#include "schema/error.h"
#include "schema/profile_reader.h"

/* One rank that has rows in the profile. Times in ns. */
struct summary_rank {
    uint32_t rank;
    uint64_t mpi_calls;  /* each poll is one, also in a run that is one event */
    uint64_t unrecorded; /* of these, without an event and a region */
    double session;      /* 0: not known */
    double mpi;          /* in MPI during the session, nested calls counted once if recorded */
};

/* One region over the chosen ranks. Times in ns. */
struct summary_region {
    const char *name;
    uint64_t calls, ranks;
    double total, exclusive;
    int64_t minimum, maximum;
    bool is_inside, is_outside; /* of the session, on some rank whose session is known */
};

struct summary {
    struct summary_rank *ranks; /* by number */
    size_t rank_count;
    struct summary_region *regions; /* by total, the largest first */
    size_t region_count;
    uint64_t mpi_calls;
    double session; /* sum over ranks; the 100 % of shares; 0: not known */
    double mpi;
    struct functions polls, unrecorded, failed;
    uint64_t pauses, paused_ranks;
    double paused; /* ns, all ranks together */
    const struct profile_end **ends;
    size_t end_count;
};

/* Sums up the rows of the ranks in set. Returns 0 and *summary (names and ends are profile's), to be
 * released, or -1 and err (memory). */
int summary_make(struct summary *summary, const struct profile *profile, const struct rank_set *set,
                 struct error *err);

/* part / whole, or -1 where that says nothing. */
double summary_share(double part, double whole);

void summary_release(struct summary *summary);

#endif
