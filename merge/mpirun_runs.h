/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of a batch script's mpiruns: directories that are found by their names. */
#ifndef SCOPE_MPIRUN_RUNS_H
#define SCOPE_MPIRUN_RUNS_H

/* Is told the path of a run directory. */
typedef void mpirun_runs_take(void *data, const char *run);

/* Calls take with each directory PREFIX-N and PREFIX-N-rR that is there, in no order; prefix is an
 * absolute path. Where there is nothing to be read there are none. */
void mpirun_runs_each(const char *prefix, mpirun_runs_take *take, void *data);

#endif
