/* SPDX-License-Identifier: BSD-3-Clause */
/* The child of slurmstepd that marks a node's part of a run done, with the ids of the job. */
#define _GNU_SOURCE
#include "spank/node_done.h"

#include <fcntl.h>

#include "schema/node_marker.h"
#include "spank/bounded_child.h"

static int mark(const void *data)
{
    const struct node_done *done = data;
    if (user_ids_assume(&done->ids) < 0)
        return -1;
    int run = open(done->run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return run < 0 ? -1 : node_marker_put(run, done->name);
}

int node_done_mark(const struct node_done *done, int limit_ms)
{
    return bounded_child_run(mark, done, limit_ms) < 0 ? -1 : 0;
}
