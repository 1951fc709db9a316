/* SPDX-License-Identifier: BSD-3-Clause */
/* The child of slurmstepd that marks a node's part of a run done, with the ids of the job. */
#ifndef SCOPE_NODE_DONE_H
#define SCOPE_NODE_DONE_H

#include "schema/user_ids.h"

struct node_done {
    struct user_ids ids;
    const char *run;  /* absolute path of the run directory */
    const char *name; /* of the marker (schema/node_marker.h) */
};

/* Makes the marker, if the run directory is there and no link. Returns 0, also if nothing was
 * made, or -1 if the file system did not answer within limit_ms. */
int node_done_mark(const struct node_done *done, int limit_ms);

#endif
