/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's part in srun (and, for the option alone, in salloc and sbatch). */
#ifndef SCOPE_SRUN_H
#define SCOPE_SRUN_H

#include <slurm/spank.h>

#include "spank/settings.h"

/* Takes the option's value; the last one counts. Prints the words and exits for "help".
 * Returns 0, or -1 after having said on stderr what is wrong with it. */
int srun_option(const char *what);

/* srun's arguments are read: finds out what is asked for (by the option, else by the user's
 * SCOPE_PROFILE, else by the site), and hands on what holds for all components of a heterogeneous
 * step. */
void srun_announce(const struct settings *settings);

/* The same in sbatch, for what mpirun starts in the batch script: steps within the job are announced
 * by their own srun. */
void srun_announce_job(const struct settings *settings);

/* The step has its number: hands on where its run goes. */
void srun_launch(spank_t spank);

/* The step has ended. */
void srun_finish(const struct settings *settings);

#endif
