/* SPDX-License-Identifier: BSD-3-Clause */
/* A run directory: its records, its worlds, and the traces in them. */
#ifndef SCOPE_RUN_H
#define SCOPE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/exits.h"
#include "schema/error.h"
#include "schema/job_record.h"

#define RUN_EPILOG_CLAIM "epilog-claim" /* a directory in it: some node's epilog merges it, or did */

/* One MPI_COMM_WORLD: a directory of traces. */
struct run_world {
    char *name;
    int fd;
    char **files; /* rank-*.sptrace, by rank */
    size_t file_count;
    uint64_t bytes;         /* of all traces */
    int64_t first_realtime; /* ns; INT64_MAX if no trace tells */
};

struct run {
    char *path;
    int fd;
    int claim; /* the job record, locked; -1: not ours to lock */
    struct job_record job;
    struct error job_problem; /* why there is no job record; "" if there is one */
    struct exits exits;
    struct run_world *worlds; /* that hold traces, by first instant */
    size_t world_count;
};

/* Whether a file of this name is a rank's trace: rank-000017.sptrace. */
bool run_is_trace_name(const char *name);

/* Looks through the directory at path; nothing in it is followed that is a link. Returns 0 and
 * *run, to be given to run_release, or -1 with errno of opening path (0: something else) and err.
 */
int run_open(struct run *run, const char *path, struct error *err);

/* Claims the run for this process until run_release. Returns 0, also where the run cannot be claimed:
 * it has no job record, or that is not the caller's to write, who can then remove nothing either.
 * Returns -1 and err if another process has claimed it. */
int run_claim(struct run *run, struct error *err);

/* Removes what is ours: traces, world directories, records, the directory itself. What else is in
 * it stays, and the directories around it. Returns 0, or -1 and err for what could not be
 * removed. */
int run_remove(struct run *run, struct error *err);

void run_release(struct run *run);

#endif
