/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes on which the ranks of a run were, as their traces tell. */
#ifndef SCOPE_RUN_NODES_H
#define SCOPE_RUN_NODES_H

#include <stddef.h>

#include "merge/names.h"

/* Adds the names to *nodes, which is to be released. What cannot be read tells of none. Returns 0,
 * or -1 if memory is out. */
int run_nodes_find(struct names *nodes, const char *run);

/* How many of them have their marker in the directory run. */
size_t run_nodes_done(const struct names *nodes, int run);

#endif
