/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes of /metadata: what tells this run from others a year later. */
#ifndef SCOPE_METADATA_H
#define SCOPE_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "merge/rank.h"
#include "merge/run.h"
#include "schema/error.h"
#include "schema/profile_writer.h"

struct metadata {
    const struct run *run;
    const struct run_world *world;
    const struct rank *ranks;
    size_t rank_count;
    uint64_t world_size;
    uint64_t missing;    /* ranks without a trace */
    int64_t paused_ns;   /* in which ranks recorded nothing, all together */
    int64_t finalize_ns; /* end of the timeline, which begins at 0 */
    int64_t epoch_ns;    /* CLOCK_REALTIME at 0, on the first rank's host */
    const char *ends;    /* how the ranks ended */
    const char *labels;  /* the grain of the labels */
    bool has_handles;    /* labels tell communicators by their Fortran handles */
    bool has_no_events;  /* they were left out: the file would have been too large */
};

/* Writes them. Returns 0, or -1 and err. */
int metadata_write(const struct metadata *metadata, struct profile_writer *writer,
                   struct error *err);

#endif
