/* SPDX-License-Identifier: BSD-3-Clause */
/* The user, group and supplementary groups of a job, as slurmd knows them. */
#ifndef SCOPE_USER_IDS_H
#define SCOPE_USER_IDS_H

#include <stddef.h>
#include <sys/types.h>

struct user_ids {
    uid_t user;
    gid_t group;
    const gid_t *groups; /* the supplementary ones; not owned */
    size_t group_count;
};

/* Gives up the privileges of this process for these ids, for good. No initgroups: it would ask a
 * directory service, and a job's groups are those it was started with. Without privileges it can
 * only stay who it is. Makes nothing but system calls. Returns 0, or -1: then the process may be
 * half of each, and is to end. */
int user_ids_assume(const struct user_ids *ids);

#endif
