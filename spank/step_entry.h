/* SPDX-License-Identifier: BSD-3-Clause */
/* What a profiled step leaves in the node's registry: srun's options do not reach the epilog. */
#ifndef SCOPE_STEP_ENTRY_H
#define SCOPE_STEP_ENTRY_H

#include "schema/error.h"
#include "schema/options.h"
#include "spank/settings.h"
#include "spank/task.h"

/* As root in slurmstepd, before the tasks start: adds the step to the registry, with the ids that
 * slurmd knows. merge is that of the step's WHAT; a run that nobody is to merge has no entry.
 * Returns 0, or -1 and err. */
int step_entry_add(const struct task *task, const struct settings *settings, enum merge_mode merge,
                   struct error *err);

/* The same for what mpirun starts below the batch script, an interactive shell, or a daemon of its
 * own, whose process is there and waits to begin. */
int step_entry_add_mpirun(const struct task *task, const struct settings *settings,
                          struct error *err);

#endif
