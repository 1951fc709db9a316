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
#include "schema/trace_container.h"
#include "schema/trace_reader.h"

#define RUN_LOCK "merge-lock" /* a file in it that its user alone can open: locked by who merges */
#define RUN_EPILOG_CLAIM "epilog-claim" /* a directory in it: some node's epilog merges it, or did */

/* One MPI_COMM_WORLD: a directory of traces, parts of the nodes' containers, or both. */
struct run_world {
    char *name;
    int fd;       /* the run's directory where the world has none of its own */
    char **files; /* rank-*.sptrace, by rank */
    struct trace_part *parts; /* of containers, for each of files; NULL: there is no container */
    size_t file_count;
    uint64_t bytes;         /* of all traces */
    int64_t first_realtime; /* ns; INT64_MAX if no trace tells */
};

/* What the tasks of a node left in its spool (schema/trace_container.h). */
struct run_container {
    char *file;
    char part[TRACE_CONTAINER_NAME_SIZE]; /* of its name, and of the node's marker */
    bool is_complete;                     /* all traces were copied */
    bool is_elsewhere; /* its traces are in a spool of another node; as of containers_read_spools */
    char *spool;       /* where they are, or were; NULL: not told */
};

struct run {
    char *path;
    int fd;
    int claim; /* RUN_LOCK or the directory, locked; -1: not ours to lock */
    struct job_record job;
    struct error job_problem; /* why there is no job record; "" if there is one */
    struct exits exits;
    struct run_world *worlds; /* that hold traces, by first instant */
    size_t world_count;
    size_t unread_count; /* what could not be looked at, and may hold traces */
    struct error unread; /* the first, and why; "" if there is none */
    struct run_container *containers;
    size_t container_count;
    int *spools; /* directories of worlds that are open in spools */
    size_t spool_count;
};

/* Whether a file of this name is a rank's trace: rank-000017.sptrace. */
bool run_is_trace_name(const char *name);

/* The order of traces' names: by their numbers. */
int run_compare_names(const char *left, const char *right);

/* Looks through the directory at path; nothing in it is followed that is a link. Returns 0 and
 * *run, to be given to run_release, or -1 with errno of opening path (0: something else) and err.
 */
int run_open(struct run *run, const char *path, struct error *err);

/* The same in two steps, for who claims the run between them: what is listed before may be removed
 * by then. Opens it and reads its job record; returns as run_open. */
int run_enter(struct run *run, const char *path, struct error *err);

/* Lists what is in it. Returns 0, or -1 and err; run_release is up to the caller in any case. */
int run_list(struct run *run, struct error *err);

/* Opens the trace files[number] of a world; see trace_reader_open. */
int run_world_open(const struct run_world *world, size_t number, struct trace_reader **reader,
                   struct error *err);

/* Waits until every node that has begun a container has copied its traces, or is done without,
 * limit_ms at most. For a run that is not open yet; whatever is wrong with it does not matter
 * here. */
void run_wait(const char *path, int limit_ms);

/* Claims the run for this process until run_release. Returns 0, also where the run cannot be
 * claimed: it is not the caller's to write to, who can then remove nothing
 * either. Returns -1 and err if another process has claimed it. */
int run_claim(struct run *run, struct error *err);

/* Removes what is ours: traces, world directories, records, the directory itself. What else is in
 * it stays, and the directories around it. Returns 0, or -1 and err for what could not be
 * removed. */
int run_remove(struct run *run, struct error *err);

void run_release(struct run *run);

#endif
