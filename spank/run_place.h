/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the run directory of a step lies: srun and every slurmstepd must come to the same answer.
 */
#ifndef SCOPE_RUN_PLACE_H
#define SCOPE_RUN_PLACE_H

#include <stddef.h>

#include "schema/error.h"
#include "schema/run_path.h"

/* Makes the value of out= ("": the working directory) absolute in pattern[size]; its patterns stay,
 * and a '%' in the working directory is escaped. That is `directory`, or this process's where it is
 * NULL. Returns 0, or -1 and err. */
int run_place_parent(const char *out, const char *directory, char *pattern, size_t size,
                     struct error *err);

/* Writes the run directory of the step names->job and names->step below pattern to path[size].
 * restart is the text of SLURM_RESTART_COUNT or NULL. Returns 0, or -1 and err. */
int run_place_directory(const char *pattern, const struct run_names *names, const char *restart,
                        char *path, size_t size, struct error *err);

#endif
