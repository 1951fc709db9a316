/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of one rank's hardware counters: its record, and what its markers measured. */
#ifndef SCOPE_LIKWID_RANK_H
#define SCOPE_LIKWID_RANK_H

#include <stdint.h>

#include "merge/likwid_marker.h"
#include "merge/likwid_record.h"
#include "schema/error.h"

struct likwid_rank {
    uint32_t number;
    int host; /* ranks with the same number here share processors */
    struct likwid_record record;
    struct likwid_marker marker;
    const char *source;    /* of the marker's values, as the Python package calls it */
    struct error why;      /* nothing was counted, or not all of it; "" */
    struct error not_read; /* why LIKWID has not computed the metrics itself; "" if it has */
};

/* Reads the files beside the trace of rank->number in dirfd. Returns 0 and rank, to be released; 1
 * if the rank was not to be counted; or -1 if memory is out. */
int likwid_rank_load(struct likwid_rank *rank, int dirfd);

/* The event set of a region, or NULL: its names are not known. */
const struct likwid_group *likwid_rank_group(const struct likwid_rank *rank,
                                             const struct likwid_region *region);

void likwid_rank_release(struct likwid_rank *rank);

/* Removes those files. Returns 0, or -1 and errno. */
int likwid_rank_remove(int dirfd, uint32_t number);

#endif
