/* SPDX-License-Identifier: BSD-3-Clause */
/* The run directory that the ranks of one mpirun share, and find without talking to each other. */
#ifndef SCOPE_MPIRUN_RUN_H
#define SCOPE_MPIRUN_RUN_H

#include <stddef.h>

#include "schema/error.h"

/* Writes the name of the run of MPI_COMM_WORLD `world` below the directory parent to name[size]:
 * "PREFIX-N", with "-rRESTART" behind if restart > 0. It is the one that holds the directory
 * "WORLD-0"; the first rank of the world that asks makes it, with the first number that is free.
 * Returns 0, or -1 and err. */
int mpirun_run_find(int parent, const char *prefix, const char *world, int restart, char *name,
                    size_t size, struct error *err);

#endif
