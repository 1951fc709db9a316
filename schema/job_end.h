/* SPDX-License-Identifier: BSD-3-Clause */
/* Why Slurm ended the job of a run, if it did: the file "job-end" in its run directory.
 *
 * One line of text: "job-end=1 cause=time-limit realtime=NS". The first number is the version.
 */
#ifndef SCOPE_JOB_END_H
#define SCOPE_JOB_END_H

#include <stdint.h>

#include "schema/error.h"

#define JOB_END_NAME "job-end"

enum job_end_cause {
    JOB_END_UNKNOWN,
    JOB_END_CANCELLED,
    JOB_END_TIME_LIMIT,
    JOB_END_NODE_FAILURE,
    JOB_END_PREEMPTED,
    JOB_END_DEADLINE,
};

struct job_end {
    enum job_end_cause cause;
    int64_t realtime_ns; /* from when on Slurm ended it, by slurmctld's clock */
};

/* Writes the file, which must not be there. Returns 0, or -1 with errno. */
int job_end_write(int dirfd, const struct job_end *end);

/* Reads the file, which may be anything. Returns 0; the cause is JOB_END_UNKNOWN if there is none.
 * Or -1 and err, which names it. */
int job_end_read(int dirfd, struct job_end *end, struct error *err);

#endif
