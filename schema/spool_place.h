/* SPDX-License-Identifier: BSD-3-Clause */
/* A site's spool: a directory of root's on each node, in which steps have theirs. */
#ifndef SCOPE_SPOOL_PLACE_H
#define SCOPE_SPOOL_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/error.h"

/* Opens the directory, in which nobody but root may rename or make anything. Returns a descriptor,
 * or -1 and err. */
int spool_place_open(const char *path, struct error *err);

/* As root: removes the directory path of a step from the spool around it, if it is empty. Returns
 * 0, also if it is not there, or -1 and err. */
int spool_place_remove(const char *path, struct error *err);

/* Whether name is that of a step's directory: JOB.STEP-RESTART-NODE. */
bool spool_place_is_step(const char *name, uint32_t *job, uint32_t *step);

#endif
