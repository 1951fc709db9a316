/* SPDX-License-Identifier: BSD-3-Clause */
/* The child of slurmstepd that adds an exit record to a run directory, with the ids of the job. */
#define _GNU_SOURCE
#include "spank/exit_child.h"

#include <fcntl.h>
#include <grp.h>
#include <unistd.h>

#include "schema/exit_record.h"
#include "spank/bounded_child.h"

/* Gives up the privileges for good. No initgroups: it would ask a directory service, and the job's
 * groups are those it was started with. */
static int become_user(const struct exit_child *child)
{
    if (geteuid() != 0)
        return geteuid() == child->user && getuid() == child->user ? 0 : -1;
    if (setgroups(child->group_count, child->groups) < 0 ||
        setresgid(child->group, child->group, child->group) < 0 ||
        setresuid(child->user, child->user, child->user) < 0)
        return -1;
    return child->user != 0 && setuid(0) == 0 ? -1 : 0;
}

static void append(const void *data)
{
    const struct exit_child *child = data;
    if (become_user(child) < 0)
        return;
    int run = open(child->run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (run >= 0)
        exit_record_append(run, child->name, child->line, child->length);
}

int exit_child_append(const struct exit_child *child, int limit_ms)
{
    return bounded_child_run(append, child, limit_ms);
}
