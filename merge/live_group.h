/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that wait for the same, put together. */
#ifndef SCOPE_LIVE_GROUP_H
#define SCOPE_LIVE_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "merge/live.h"
#include "schema/error.h"

struct live_group {
    enum live_state state;
    struct flight call; /* what their calls have in common: without a peer where they differ */
    const char *end;    /* as of live_thread */
    uint32_t *ranks;    /* in order, each once */
    size_t rank_count;
    int64_t age_least, age_most; /* ns; -1: of none is it known */
    uint32_t *absent; /* who of the communicator is not in this collective call, in order */
    size_t absent_count;
};

struct live_groups {
    struct live_group *list; /* who is in MPI first, the largest group first */
    size_t count;
};

/* Groups all threads of all ranks by what they do. Returns 0, or -1 and err if memory is out;
 * *groups is to be released in both cases. It points into live. */
int live_groups_make(struct live_groups *groups, const struct live *live, struct error *err);

void live_groups_release(struct live_groups *groups);

#endif
