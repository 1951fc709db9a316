/* SPDX-License-Identifier: BSD-3-Clause */
/* The children of slurmstepd that copy a spool's traces and empty it, with the ids of the job. */
#include "spank/spool_child.h"

#include "schema/spool_files.h"
#include "spank/bounded_child.h"

static int copy(const void *data)
{
    const struct spool_child *child = data;
    return user_ids_assume(&child->ids) < 0
               ? -1
               : spool_files_copy(child->spool, child->run, child->container);
}

static int empty(const void *data)
{
    const struct spool_child *child = data;
    return user_ids_assume(&child->ids) < 0 ? -1 : spool_files_remove(child->spool);
}

int spool_child_copy(const struct spool_child *child, int limit_ms)
{
    return bounded_child_run(copy, child, limit_ms);
}

int spool_child_empty(const struct spool_child *child, int limit_ms)
{
    return bounded_child_run(empty, child, limit_ms);
}
