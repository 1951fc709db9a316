/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's part in slurmstepd: what it does when a task starts and when it has ended. */
#ifndef SCOPE_STEPD_H
#define SCOPE_STEPD_H

#include <slurm/spank.h>

#include "spank/settings.h"

/* Registers a step that is to be profiled for its job's epilog, and makes its spool; runs as root,
 * before the step's tasks. */
void stepd_step(spank_t spank, const struct settings *settings);

/* Registers what mpirun starts in a batch script, or an interactive shell, that asked; runs as root
 * when its process is there and waits to begin. */
void stepd_task_started(spank_t spank, const struct settings *settings);

/* Prepares the environment of the task that is about to start; runs as the user, in its root. */
void stepd_task(spank_t spank, const struct settings *settings);

/* Notes how a task of a profiled step ended; runs as root, with the environment of the task. */
void stepd_task_exit(spank_t spank, const struct settings *settings);

/* The step is over, even if its tasks never started. */
void stepd_exit(void);

#endif
