/* SPDX-License-Identifier: BSD-3-Clause */
/* That a node's part of a run is done: the empty file "done-NODE" in the run directory.
 *
 * Where components of a heterogeneous step share a node each has a marker of its own, with the
 * job of the component behind: "done-node1+18". The first component's has none.
 */
#ifndef SCOPE_NODE_MARKER_H
#define SCOPE_NODE_MARKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODE_MARKER_PREFIX "done-"

enum { NODE_MARKER_NAME_SIZE = 256 }; /* its zero byte included */

/* Writes the marker's name to name; component: 0 for the first or only one, else its job. Returns
 * 0, or -1 if node cannot be part of a file's name. */
int node_marker_name(const char *node, uint32_t component, char name[static NODE_MARKER_NAME_SIZE]);

/* Whether a file of this name is a marker. */
bool node_marker_is(const char *name);

/* Makes the marker, never through a link. Makes nothing but system calls, so a child of a process
 * with threads may call it. Returns 0, also if it was there, or -1 with errno. */
int node_marker_put(int dirfd, const char *name);

/* How many markers there are in the directory, or -1 with errno. */
int64_t node_marker_count(int dirfd);

/* Removes all markers in the directory. Returns 0, or -1 with errno. */
int node_marker_remove_all(int dirfd);

#endif
