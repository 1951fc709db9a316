/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of this process: from MPI's handles to ids and job-wide keys. */
#include "preload/communicator.h"

#include <string.h>

#include "preload/memo.h"
#include "preload/pages.h"
#include "schema/lock.h"

enum { BUCKETS_FIRST = 256, CHUNK = 64 };
enum { KEY_WORLD = 1, KEY_SELF = 2, KEY_PARENT = 3 };
enum { KEY_COUNTERS_FIRST = 64 };

static lock_t table_lock;
static struct communicator **buckets; /* open addressing, a power of two, at most half full */
static uint32_t bucket_mask;
static uint32_t live;
static uint32_t next_id = COMMUNICATOR_OTHERS;
static struct communicator *free_list;

static uint32_t hash(uint64_t handle)
{
    return (uint32_t)(handle * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The bits of splitmix64's finaliser: every bit of the input moves every bit of the output. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A hash as a key: none of those that have a meaning of their own. */
static uint64_t as_key(uint64_t hash)
{
    return hash > KEY_PARENT ? hash : hash + KEY_PARENT + 1;
}

static uint64_t derived_key(const struct communicator *parent, uint32_t creation,
                            uint32_t first_member)
{
    if (!parent || parent->facts.key == 0)
        return 0;
    return as_key(mix(parent->facts.key ^ mix((uint64_t)creation << 32 | first_member)));
}

/* Equal on both sides of an intercommunicator. */
static uint64_t pair_hash(uint64_t one, uint64_t other)
{
    return one < other ? mix(one ^ mix(other)) : mix(other ^ mix(one));
}

static void put(struct communicator **table, uint32_t mask, struct communicator *c)
{
    uint32_t i = hash(c->handle);
    while (table[i & mask])
        i++;
    table[i & mask] = c;
}

static bool make_room(void)
{
    if (buckets && live <= bucket_mask / 2)
        return true;
    uint32_t size = buckets ? (bucket_mask + 1) * 2 : BUCKETS_FIRST;
    struct communicator **bigger = pages_take(size * sizeof *bigger);
    if (!bigger)
        return false;
    for (uint32_t i = 0; buckets && i <= bucket_mask; i++) {
        if (buckets[i])
            put(bigger, size - 1, buckets[i]);
    }
    pages_give(buckets, buckets ? (bucket_mask + 1) * sizeof *buckets : 0);
    buckets = bigger;
    bucket_mask = size - 1;
    return true;
}

/* A zeroed structure, of which we never give one back to the system: pointers to it stay valid. */
static struct communicator *take(void)
{
    if (!free_list) {
        struct communicator *chunk = pages_take(CHUNK * sizeof *chunk);
        if (!chunk)
            return NULL;
        for (int i = 0; i < CHUNK; i++) {
            chunk[i].next_free = free_list;
            free_list = &chunk[i];
        }
    }
    struct communicator *c = free_list;
    free_list = c->next_free;
    memset(c, 0, sizeof *c);
    return c;
}

static uint32_t slot_of(uint64_t handle)
{
    uint32_t i = hash(handle);
    while (buckets[i & bucket_mask] && buckets[i & bucket_mask]->handle != handle)
        i++;
    return i & bucket_mask;
}

/* Takes the communicator out and closes the gap it leaves in its probe sequence. */
static void remove_at(uint32_t hole)
{
    struct communicator *c = buckets[hole];
    pages_give((void *)(uintptr_t)c->facts.runs, c->run_room);
    c->next_free = free_list;
    free_list = c;
    buckets[hole] = NULL;
    live--;
    for (uint32_t i = (hole + 1) & bucket_mask; buckets[i]; i = (i + 1) & bucket_mask) {
        struct communicator *moved = buckets[i];
        buckets[i] = NULL;
        put(buckets, bucket_mask, moved);
    }
    memo_invalidate();
}

/* Makes a place for a handle, with the lock held; one that is still known was freed behind our
 * back. NULL when memory is out. */
static struct communicator *add_handle(uint64_t handle)
{
    struct communicator *c = make_room() ? take() : NULL;
    if (!c)
        return NULL;
    uint32_t known = slot_of(handle);
    if (buckets[known])
        remove_at(known);
    c->handle = handle;
    put(buckets, bucket_mask, c);
    live++;
    return c;
}

static struct communicator *add_as(uint64_t handle, uint32_t id,
                                   const struct communicator_answer *answer)
{
    struct communicator *c = add_handle(handle);
    if (!c) {
        pages_give(answer->runs, answer->run_room);
        return NULL;
    }
    c->peers = answer->peers;
    c->neighbors = -1;
    c->run_room = answer->run_room;
    c->foreign = answer->foreign;
    c->remote_first = answer->remote_first;
    c->remote_hash = answer->remote_hash;
    c->facts = (struct trace_communicator){
        .id = id,
        .kind = answer->kind,
        .parent = -1,
        .rank = answer->rank,
        .size = answer->size,
        .handle = answer->fortran_handle,
        .run_count = answer->run_count,
        .runs = answer->runs,
    };
    return c;
}

static struct communicator *add(uint64_t handle, const struct communicator_answer *answer)
{
    return add_as(handle, next_id++, answer);
}

struct communicator *communicator_add_predefined(uint64_t handle, uint32_t id,
                                                 const struct communicator_answer *answer)
{
    uint64_t signals = lock_take_hold(&table_lock);
    struct communicator *c = add_as(handle, id, answer);
    if (c)
        c->facts.key = id == COMMUNICATOR_WORLD ? KEY_WORLD : KEY_SELF;
    lock_give_let(&table_lock, signals);
    return c;
}

uint32_t communicator_count_creation(struct communicator *parent)
{
    return parent ? __atomic_fetch_add(&parent->creations, 1, __ATOMIC_RELAXED) : 0;
}

/* How often each key of members and tag was made; grows by doubling. */
static struct key_counter {
    uint64_t key; /* 0: free */
    uint64_t count;
} * counters;
static size_t counter_room, counter_count;

static struct key_counter *counter_at(struct key_counter *table, size_t room, uint64_t key)
{
    size_t i = (size_t)key & (room - 1);
    while (table[i].key && table[i].key != key)
        i = (i + 1) & (room - 1);
    return &table[i];
}

static bool make_counter_room(void)
{
    if (counter_room && counter_count < counter_room / 2)
        return true;
    size_t room = counter_room ? 2 * counter_room : KEY_COUNTERS_FIRST;
    struct key_counter *bigger = pages_take(room * sizeof *bigger);
    if (!bigger)
        return false;
    for (size_t i = 0; i < counter_room; i++) {
        if (counters[i].key)
            *counter_at(bigger, room, counters[i].key) = counters[i];
    }
    pages_give(counters, counter_room * sizeof *counters);
    counters = bigger;
    counter_room = room;
    return true;
}

/* The key of the next communicator with these members and this tag; 0 when memory is out. */
static uint64_t joined_key(uint64_t members_and_tag)
{
    if (!make_counter_room())
        return 0;
    uint64_t key = as_key(members_and_tag);
    struct key_counter *counter = counter_at(counters, counter_room, key);
    if (!counter->key)
        counter_count++;
    counter->key = key;
    return as_key(mix(key ^ mix(counter->count++)));
}

static uint64_t members_hash(const struct communicator *c)
{
    return communicator_hash_runs(c->facts.runs, c->facts.run_count);
}

/* The key of what the creation with that number on parent made. Both groups of an intercommunicator
 * have to find the same one: from a parent that has both, if need be by which first member is the
 * smaller; from parents of either side (MPI_Comm_accept and _connect) by their members. A group
 * from another world never looks for it in this one's file. */
static uint64_t created_key(const struct communicator *c, const struct communicator *parent,
                            uint32_t creation)
{
    if (c->facts.run_count == 0 && !c->foreign)
        return 0;
    uint32_t first = c->facts.run_count ? c->facts.runs[0].first : UINT32_MAX;
    if (c->facts.kind == COMMUNICATOR_INTER && c->remote_hash) {
        if (parent->facts.kind == COMMUNICATOR_INTRA)
            return joined_key(pair_hash(members_hash(c), c->remote_hash));
        first = first < c->remote_first ? first : c->remote_first;
    }
    return derived_key(parent, creation, first);
}

struct communicator *communicator_add(uint64_t handle, struct communicator *parent,
                                      uint32_t creation, const struct communicator_answer *answer)
{
    uint64_t signals = lock_take_hold(&table_lock);
    struct communicator *c = add(handle, answer);
    if (c && parent) {
        c->facts.parent = (int32_t)parent->facts.id;
        c->facts.key = created_key(c, parent, creation);
    }
    lock_give_let(&table_lock, signals);
    return c;
}

struct communicator *communicator_add_joined(uint64_t handle, const struct communicator *parent,
                                             uint64_t tag_hash,
                                             const struct communicator_answer *answer)
{
    uint64_t signals = lock_take_hold(&table_lock);
    struct communicator *c = add(handle, answer);
    if (c && parent)
        c->facts.parent = (int32_t)parent->facts.id;
    if (c && tag_hash && c->facts.run_count > 0) {
        uint64_t members = members_hash(c);
        if (c->facts.kind == COMMUNICATOR_INTRA)
            c->facts.key = joined_key(mix(members ^ mix(tag_hash)));
        else if (c->remote_hash)
            c->facts.key = joined_key(mix(pair_hash(members, c->remote_hash) ^ mix(tag_hash)));
    }
    lock_give_let(&table_lock, signals);
    return c;
}

void communicator_add_owned(uint64_t handle, const struct communicator *on)
{
    uint64_t signals = lock_take_hold(&table_lock);
    struct communicator *c = add_handle(handle);
    if (c) {
        c->facts = on->facts;
        c->run_room = on->run_room;
        c->facts.runs = on->run_room ? pages_take(on->run_room) : NULL;
        if (c->facts.runs)
            memcpy((void *)(uintptr_t)c->facts.runs, on->facts.runs, on->run_room);
        else
            c->facts.run_count = 0;
    }
    lock_give_let(&table_lock, signals);
}

struct communicator *communicator_add_parent(uint64_t handle,
                                             const struct communicator_answer *answer)
{
    uint64_t signals = lock_take_hold(&table_lock);
    struct communicator *c = add(handle, answer);
    if (c)
        c->facts.key = KEY_PARENT;
    lock_give_let(&table_lock, signals);
    return c;
}

struct communicator *communicator_find(uint64_t handle)
{
    uint64_t signals = lock_take_hold(&table_lock);
    struct communicator *c = buckets ? buckets[slot_of(handle)] : NULL;
    lock_give_let(&table_lock, signals);
    return c;
}

void communicator_forget(uint64_t handle)
{
    uint64_t signals = lock_take_hold(&table_lock);
    uint32_t slot = buckets ? slot_of(handle) : 0;
    if (buckets && buckets[slot])
        remove_at(slot);
    lock_give_let(&table_lock, signals);
}

uint32_t communicator_runs(const int *ranks, uint32_t count, struct trace_rank_run *runs)
{
    uint32_t made = 0;
    for (uint32_t i = 0; i < count;) {
        struct trace_rank_run run = {.first = (uint32_t)ranks[i], .count = 1, .stride = 1};
        if (i + 1 < count) {
            run.stride = ranks[i + 1] - ranks[i];
            while (i + run.count < count &&
                   ranks[i + run.count] - ranks[i + run.count - 1] == run.stride)
                run.count++;
        }
        /* Two ranks are no pattern: the second may begin a longer run. */
        if (run.count == 2 && i + 2 < count)
            run = (struct trace_rank_run){.first = run.first, .count = 1, .stride = 1};
        i += run.count;
        runs[made++] = run;
    }
    return made;
}

uint64_t communicator_hash(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t hash = size;
    for (size_t i = 0; i < size; i++)
        hash = mix(hash ^ p[i]);
    return hash ? hash : 1;
}

uint64_t communicator_hash_runs(const struct trace_rank_run *runs, uint32_t count)
{
    return communicator_hash(runs, count * sizeof *runs);
}

void communicator_forked(void)
{
    table_lock = 0;
}
