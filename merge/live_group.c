/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that wait for the same, put together. */
#include "merge/live_group.h"

#include <stdlib.h>
#include <string.h>

#include "merge/members.h"

/* Communicators whose members are looked through for those who are not there. */
enum { MEMBERS_MAX = 1 << 20 };

/* One thread of one rank. */
struct place {
    const struct live_rank *rank;
    const struct live_thread *thread;
};

static int no_memory(struct error *err)
{
    return error_set(err, "out of memory");
}

/* --- what is the same --------------------------------------------------------------------------
 */

static int compare_texts(const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

static int compare_numbers(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* Peers do not count: in a halo exchange each rank has others. Nor does the last call of a rank
 * that is outside MPI. */
static int compare_calls(const struct region_label *a, const struct region_label *b)
{
    int order = compare_texts(a->operation, b->operation);
    order = order ? order : compare_texts(a->request, b->request);
    order = order ? order : compare_numbers(a->communicator, b->communicator);
    order = order ? order : compare_numbers(a->root, b->root);
    return order ? order : compare_numbers(a->tag, b->tag);
}

static int compare_states(const struct live_thread *a, const struct live_thread *b)
{
    if (a->state != b->state)
        return a->state < b->state ? -1 : 1;
    if (a->state <= LIVE_POLLS)
        return compare_calls(&a->call.call, &b->call.call);
    return a->state == LIVE_DEAD ? compare_texts(a->end, b->end) : 0;
}

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    int order = compare_states(a->thread, b->thread);
    return order ? order : compare_numbers(a->rank->number, b->rank->number);
}

/* --- one group ---------------------------------------------------------------------------------
 */

static void add_place(struct live_group *group, const struct place *place)
{
    const struct live_thread *thread = place->thread;
    if (group->rank_count == 0 || group->ranks[group->rank_count - 1] != place->rank->number)
        group->ranks[group->rank_count++] = place->rank->number;
    if (group->call.call.peer != thread->call.call.peer) {
        group->call.call.peer = PEER_NONE;
        group->call.is_common = group->call.has_several_peers = true;
    }
    if (group->call.world_peer != thread->call.world_peer)
        group->call.world_peer = -1;
    if (thread->age_ns < 0)
        return;
    if (group->age_least < 0 || thread->age_ns < group->age_least)
        group->age_least = thread->age_ns;
    if (thread->age_ns > group->age_most)
        group->age_most = thread->age_ns;
}

static int make_group(struct live_group *group, const struct place *places, size_t count)
{
    *group = (struct live_group){.state = places->thread->state,
                                 .call = places->thread->call,
                                 .end = places->thread->end,
                                 .age_least = -1,
                                 .age_most = -1};
    group->ranks = calloc(count, sizeof(*group->ranks));
    if (!group->ranks)
        return -1;
    for (size_t i = 0; i < count; i++)
        add_place(group, &places[i]);
    return 0;
}

/* --- who is not there --------------------------------------------------------------------------
 */

static bool is_finalize(const struct region_label *call)
{
    return call->operation && strcmp(call->operation, "finalize") == 0;
}

/* Whether all members of its communicator make the call, and none goes on long before the last. */
static bool is_collective(const struct region_label *call)
{
    static const char *const others[] = {"comm_dup", "comm_split", "comm_create", "cart_create",
                                         "win_fence"};
    if (call->kind == KIND_COLLECTIVE || is_finalize(call))
        return true;
    for (size_t i = 0; call->operation && i < sizeof(others) / sizeof(*others); i++) {
        if (strcmp(call->operation, others[i]) == 0)
            return true;
    }
    return false;
}

static bool is_in(const struct live_group *group, uint32_t rank)
{
    size_t low = 0, high = group->rank_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (group->ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < group->rank_count && group->ranks[low] == rank;
}

/* The members of the group's communicator as a text, and how many there are; NULL: not known. */
static const char *find_members(const struct live *live, const struct live_group *group,
                                uint32_t *size, char own[static MEMBERS_RUN_SIZE])
{
    int64_t id = group->call.call.communicator;
    const struct communicators *communicators = &live->vocabulary.communicators;
    if (id == COMMUNICATOR_WORLD || is_finalize(&group->call.call)) {
        struct trace_rank_run all = {.first = 0, .count = live->world_size, .stride = 1};
        *size = live->world_size;
        return members_print_run(&all, own);
    }
    for (size_t i = 0; i < communicators->count; i++) {
        const struct communicator *communicator = &communicators->list[i];
        if (communicator->id != id || communicator->ambiguous ||
            communicator->kind != COMMUNICATOR_INTRA || id <= COMMUNICATOR_SELF)
            continue;
        *size = communicator->local.size;
        return communicator->local.members;
    }
    return NULL;
}

static int compare_ranks(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static int find_absent(struct live_group *group, const struct live *live)
{
    char own[MEMBERS_RUN_SIZE];
    uint32_t size = 0;
    struct trace_rank_run run;
    if (group->state != LIVE_CALL || !is_collective(&group->call.call))
        return 0;
    const char *members = find_members(live, group, &size, own);
    if (!members || size > MEMBERS_MAX)
        return 0;
    group->absent = calloc((size_t)size + 1, sizeof(*group->absent));
    if (!group->absent)
        return -1;
    while (members_next(&members, &run)) {
        for (uint32_t i = 0; i < run.count && group->absent_count < size; i++) {
            uint32_t rank = (uint32_t)((int64_t)run.first + (int64_t)i * run.stride);
            if (!is_in(group, rank))
                group->absent[group->absent_count++] = rank;
        }
    }
    qsort(group->absent, group->absent_count, sizeof(*group->absent), compare_ranks);
    return 0;
}

/* --- all of them -------------------------------------------------------------------------------
 */

static int compare_groups(const void *left, const void *right)
{
    const struct live_group *a = left, *b = right;
    if (a->state != b->state)
        return a->state < b->state ? -1 : 1;
    if (a->rank_count != b->rank_count)
        return a->rank_count > b->rank_count ? -1 : 1;
    return compare_numbers(a->ranks[0], b->ranks[0]);
}

static int split(struct live_groups *groups, const struct place *places, size_t count,
                 const struct live *live)
{
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count; next++) {
            if (compare_states(places[first].thread, places[next].thread) != 0)
                break;
        }
        struct live_group *group = &groups->list[groups->count++];
        if (make_group(group, &places[first], next - first) < 0 || find_absent(group, live) < 0)
            return -1;
    }
    qsort(groups->list, groups->count, sizeof(*groups->list), compare_groups);
    return 0;
}

int live_groups_make(struct live_groups *groups, const struct live *live, struct error *err)
{
    size_t count = 0;
    *groups = (struct live_groups){0};
    for (size_t i = 0; i < live->rank_count; i++)
        count += live->ranks[i].thread_count;
    struct place *places = calloc(count + 1, sizeof(*places));
    groups->list = calloc(count + 1, sizeof(*groups->list));
    int status = places && groups->list ? 0 : -1;
    count = 0;
    for (size_t i = 0; status == 0 && i < live->rank_count; i++) {
        for (size_t j = 0; j < live->ranks[i].thread_count; j++)
            places[count++] =
                (struct place){.rank = &live->ranks[i], .thread = &live->ranks[i].threads[j]};
    }
    if (status == 0) {
        qsort(places, count, sizeof(*places), compare_places);
        status = split(groups, places, count, live);
    }
    free(places);
    return status < 0 ? no_memory(err) : 0;
}

void live_groups_release(struct live_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        free(groups->list[i].ranks);
        free(groups->list[i].absent);
    }
    free(groups->list);
    *groups = (struct live_groups){0};
}
