/* SPDX-License-Identifier: BSD-3-Clause */
/* What the epilog does for one step, as its user: wait for the run to be whole, claim, merge. */
#ifndef SCOPE_EPILOG_STEP_H
#define SCOPE_EPILOG_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "schema/step_record.h"

struct epilog_bounds {
    unsigned threads;
    uint64_t memory;         /* bytes */
    unsigned likwid_seconds; /* for LIKWID to compute metrics */
};

/* Merges the run directory as at the end of srun, within bounds, and says its line on stderr.
 * Returns an enum world_status. */
typedef int epilog_merge(void *data, const char *run, const struct epilog_bounds *bounds);

struct epilog_step {
    const struct step_record *record;
    const char *node;          /* that the epilog is of */
    int64_t begun, wait_until; /* of the epilog, as user_child_now has it */
    epilog_merge *merge;
    void *merge_data;
};

enum epilog_end {
    EPILOG_DONE,    /* merged, complete */
    EPILOG_NOTHING, /* there is no run, or somebody else merges it, or did: nothing is said */
    EPILOG_TELL,    /* what is said on stderr is for the user */
};

/* In a process that has the user's ids (user_child.h): ends this node's part of the step, of which
 * no process is left here: what a slurmstepd that was killed left in the spool is copied, and the
 * node is marked done. Returns 0. */
int epilog_step_settle(const struct epilog_step *step);

/* The same, once all steps are settled. Returns an enum epilog_end. */
int epilog_step_merge(const struct epilog_step *step);

struct epilog_note {
    const char *run, *text;
    bool is_mpirun; /* run is what the names of several begin with */
    pid_t merger; /* that was ended: its temporary file goes; 0: none was */
};

/* The same: adds the text to RUN.log beside the run directory. */
int epilog_step_note(const struct epilog_note *note);

#endif
