/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of Slurm that run on this host. */
#ifndef SCOPE_RUNNING_STEPS_H
#define SCOPE_RUNNING_STEPS_H

#include <stdbool.h>

enum { RUNNING_STEP_SIZE = 64 };

/* Whether there is one that could count in hardware: not a job's extern step, nor where this
 * process itself runs (batch script, interactive step or task), nor over: "17.0", "" for none,
 * whose slurmstepd may take a moment to end. step is then its name. Sees what /proc shows. */
bool running_steps_find(const char *over, char step[static RUNNING_STEP_SIZE]);

#endif
