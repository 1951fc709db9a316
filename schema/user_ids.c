/* SPDX-License-Identifier: BSD-3-Clause */
/* The user, group and supplementary groups of a job, as slurmd knows them. */
#define _GNU_SOURCE
#include "schema/user_ids.h"

#include <grp.h>
#include <unistd.h>

int user_ids_assume(const struct user_ids *ids)
{
    if (geteuid() != 0)
        return geteuid() == ids->user && getuid() == ids->user ? 0 : -1;
    if (setgroups(ids->group_count, ids->groups) < 0 ||
        setresgid(ids->group, ids->group, ids->group) < 0 ||
        setresuid(ids->user, ids->user, ids->user) < 0)
        return -1;
    return ids->user != 0 && setuid(0) == 0 ? -1 : 0;
}
