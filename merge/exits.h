/* SPDX-License-Identifier: BSD-3-Clause */
/* The exit records of a run, and which of them is a rank's. */
#ifndef SCOPE_EXITS_H
#define SCOPE_EXITS_H

#include <stddef.h>
#include <stdint.h>

#include "merge/rank_end.h"
#include "schema/error.h"
#include "schema/job_end.h"
#include "schema/trace_format.h"

enum { EXITS_MAX = 1 << 22 }; /* records; what is beyond is not taken */

struct exit_entry {
    uint32_t node, host; /* in the lists of texts */
    int32_t local, pid, status;
    int64_t task, realtime_ns, monotonic_ns;
};

/* Zero-initialise; add files; settle; find. */
struct exits {
    char **nodes; /* one for each file, what follows "exit-" in its name */
    size_t node_count;
    char **hosts; /* keys (host_key.h) */
    size_t host_count;
    struct exit_entry *entries;
    size_t count, room;
    const struct exit_entry **by_pid, **by_local; /* the settled ones, by node and this */
    const struct exit_entry *launcher;            /* what sp-run started; NULL: not one */
    struct job_end job;   /* why Slurm ended the job */
    struct error problem; /* of the first file with one; "" if there is none */
    size_t problem_count; /* files */
};

/* Whether a file of this name holds exit records. */
int exits_is_name(const char *name);

/* Takes the records of dirfd/name. What is none is left out: see problem. Returns 0, or -1 if
 * memory is out. */
int exits_add_file(struct exits *exits, int dirfd, const char *name);

/* Takes why Slurm ended the job, if that is told in the directory. */
void exits_add_job_end(struct exits *exits, int dirfd);

/* Returns 0, or -1 if memory is out. */
int exits_settle(struct exits *exits);

/* How the process with this trace ended: by its own record (same node, process id and local id), by
 * that of the task it belongs to (same node and local id), by that of sp-run's child, or
 * END_UNSEEN. */
struct rank_end exits_find(const struct exits *exits, const struct trace_header *header);

void exits_release(struct exits *exits);

#endif
