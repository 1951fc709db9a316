/* SPDX-License-Identifier: BSD-3-Clause */
/* The child of slurmstepd that adds an exit record to a run directory, with the ids of the job. */
#define _GNU_SOURCE
#include "spank/exit_child.h"

#include <fcntl.h>

#include "schema/exit_record.h"
#include "spank/bounded_child.h"

static int append(const void *data)
{
    const struct exit_child *child = data;
    if (user_ids_assume(&child->ids) < 0)
        return -1;
    int run = open(child->run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return run < 0 ? -1 : exit_record_append(run, child->name, child->line, child->length);
}

int exit_child_append(const struct exit_child *child, int limit_ms)
{
    return bounded_child_run(append, child, limit_ms) < 0 ? -1 : 0;
}
