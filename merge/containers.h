/* SPDX-License-Identifier: BSD-3-Clause */
/* The containers of a run: traces that nodes copied out of their spools, several to a file. */
#ifndef SCOPE_CONTAINERS_H
#define SCOPE_CONTAINERS_H

#include "merge/run.h"

/* Notes the file as a container of the run if its name says so. Returns 0, or -1 without memory. */
int containers_note(struct run *run, const char *file);

/* Adds the traces in the containers that were noted to the run's worlds. A container that cannot
 * be read to its end is not complete; what is before the end is taken. Returns 0, or -1 without
 * memory. */
int containers_read(struct run *run);

/* For a run that is not over: adds the traces that lie in spools of this node as yet. Returns 0, or
 * -1 without memory. */
int containers_read_spools(struct run *run);

/* Removes them from the run's directory. Returns 0, or -1 and err. */
int containers_remove(const struct run *run, struct error *err);

void containers_release(struct run *run);

#endif
