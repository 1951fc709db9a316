/* SPDX-License-Identifier: BSD-3-Clause */
/* How a rank ended, as its parent saw it. */
#ifndef SCOPE_RANK_END_H
#define SCOPE_RANK_END_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/job_end.h"

enum rank_end_of {
    END_UNSEEN,      /* no exit record tells */
    END_OF_RANK,     /* the rank's own process */
    END_OF_TASK,     /* Slurm's task, some child of which the rank was */
    END_OF_LAUNCHER, /* what sp-run started, mpirun for example */
};

struct rank_end {
    enum rank_end_of of;
    int32_t status;      /* as waitpid(2) has it; -1: END_UNSEEN */
    bool has_rank_clock; /* monotonic_ns is of the CLOCK_MONOTONIC that the rank read */
    int64_t realtime_ns, monotonic_ns;
    enum job_end_cause cause; /* why Slurm sent the signal that killed it */
    int64_t ns; /* on the file's timeline, once placed; -1: END_UNSEEN */
};

enum { RANK_END_TEXT = 128 };

/* Puts the end on the file's timeline, which is offset_ns ahead of the rank's CLOCK_MONOTONIC and
 * begins at epoch_ns of CLOCK_REALTIME. Nothing ends before its last sign of life, last_ns. */
void rank_end_place(struct rank_end *end, int64_t offset_ns, int64_t epoch_ns, int64_t last_ns);

/* Takes the end of the job for the cause of this one, if that was by a signal that somebody sent,
 * and not before it. */
void rank_end_explain(struct rank_end *end, const struct job_end *job);

/* Whether the rank came back from MPI_Finalize (its trace's phase is PHASE_CLOSED), and what ended
 * had status 0. */
bool rank_end_is_normal(const struct rank_end *end, uint32_t phase);

/* "normal", "exit status 3", "signal 11 (SIGSEGV)", "signal 9 (SIGKILL), cause unknown", "signal 15
 * (SIGTERM), job cancelled", "its task ended with exit status 3", "unknown: no exit record", ... */
void rank_end_text(const struct rank_end *end, uint32_t phase, char text[static RANK_END_TEXT]);

/* The same as the end of a sentence about the rank: "killed by signal 11 (SIGSEGV)", "ended with
 * exit status 3 without MPI_Finalize". */
void rank_end_clause(const struct rank_end *end, uint32_t phase, char text[static RANK_END_TEXT]);

#endif
