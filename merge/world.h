/* SPDX-License-Identifier: BSD-3-Clause */
/* The merge of one world: its traces into one profile file. */
#ifndef SCOPE_WORLD_H
#define SCOPE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "merge/labels.h"
#include "merge/losses.h"
#include "merge/rank.h"
#include "merge/run.h"
#include "merge/timeline.h"
#include "schema/error.h"
#include "schema/rank_groups.h"

#define WORLD_MEMORY (UINT64_C(1) << 30)

enum world_status {
    WORLD_COMPLETE = 0,
    WORLD_LOSSES = 1,  /* merged, but not everything was there */
    WORLD_NOTHING = 2, /* no usable trace: no file */
    WORLD_FAILED = 3,  /* cannot write the file */
};

struct world_options {
    bool overwrite;
    bool show_progress;
    unsigned threads; /* 0: one */
    uint64_t memory;  /* bytes; 0: WORLD_MEMORY */
    bool is_strict; /* no file where there are losses: WORLD_NOTHING */
    enum timeline_clock clock;
    enum labels labels;
    bool has_handles;    /* in labels, of communicators: Fortran's, instead of job-wide numbers */
    bool is_old_schema;  /* schema 2 */
    int compress;        /* as of struct profile_form */
    uint64_t most_bytes; /* a file that would be larger has no events; 0: any */
    unsigned likwid_seconds; /* for LIKWID to compute metrics; 0: it is not asked */
    bool is_over;            /* the step is known to have ended */
};

struct world_result {
    uint64_t world_size;
    uint64_t calls;                    /* MPI calls the file tells of, each poll one */
    uint64_t states[RANK_MISSING + 1]; /* ranks in each state */
    char ends[RANK_GROUPS_SENTENCE];   /* how they ended */
    char in_flight[RANK_GROUPS_SENTENCE]; /* where those were that did not finalise MPI */
    char likwid[RANK_GROUPS_SENTENCE];    /* why hardware counters of ranks are missing */
    char not_read_back[ERROR_TEXT_SIZE];  /* what went wrong with LIKWID's own metrics */
    enum labels labels;                   /* the grain they have */
    bool has_no_events;                   /* for the file would have been too large */
    char clock[TIMELINE_TEXT];            /* how hosts were put on one timeline; "" for one host */
};

/* Merges world into a new file at path (see publish.h). Each loss is told through losses, which
 * are of this world alone.
 * WORLD_NOTHING and WORLD_FAILED leave err. */
enum world_status world_merge(const struct run *run, const struct run_world *world,
                              const char *path, const struct world_options *options,
                              struct losses *losses, struct world_result *result,
                              struct error *err);

#endif
