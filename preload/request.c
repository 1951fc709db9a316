/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in flight, and the calls that started them. */
#include "preload/request.h"

#include <stdbool.h>

#include "preload/pages.h"
#include "schema/lock.h"
#include "schema/trace_format.h"

/* Handles lie in an open-addressed table; each has a list of its requests, oldest first. A list is
 * searched from both ends, since programs complete requests in the order they were started or in
 * the reverse, and only so far: the cost of a call stays bounded whatever the program does. */
enum { SEARCH_MAX = 64 };
enum { HANDLES_FIRST = 128, MIGRATE_STEP = 8 };
enum { CHUNK = 4096, CHUNKS_MAX = 65536 };
enum { ORIGINS_FIRST = 1024, ORIGINS_MAX = 1 << 20 };

struct node {
    const void *address;
    uint32_t origin;       /* id */
    uint32_t older, newer; /* index + 1; 0: none. A free node's newer leads to the next free one. */
};

struct handle {
    uint64_t value;
    uint32_t oldest, newest;   /* index + 1 */
    uint32_t count;            /* 0: the place is free */
    bool differ;               /* requests of other origins were added since count was 0 */
    bool same_address;         /* and some at one address: it does not tell them apart */
    uintptr_t lowest, highest; /* addresses since count was 0 */
};

struct table {
    struct handle *handles;
    size_t mask, count;
};

/* Growing moves a few handles with every new request from `old` to `table`. */
static struct table table, old;
static size_t old_next;

static struct node **chunks;
static uint32_t node_count, free_node;
static size_t kept;
static bool threads;
static lock_t table_lock;

void request_use_threads(void)
{
    threads = true;
}

size_t request_count(void)
{
    return kept;
}

static struct node *node_at(uint32_t number)
{
    return &chunks[(number - 1) / CHUNK][(number - 1) % CHUNK];
}

/* The number of a fresh node, or 0 when memory is out. */
static uint32_t node_take(void)
{
    uint32_t number = free_node;
    if (number) {
        free_node = node_at(number)->newer;
        return number;
    }
    if (!chunks && !(chunks = pages_take(CHUNKS_MAX * sizeof *chunks)))
        return 0;
    uint32_t chunk = node_count / CHUNK;
    if (chunk == CHUNKS_MAX)
        return 0;
    if (!chunks[chunk] && !(chunks[chunk] = pages_take(CHUNK * sizeof **chunks)))
        return 0;
    return ++node_count;
}

static void node_give(uint32_t number)
{
    node_at(number)->newer = free_node;
    free_node = number;
}

static size_t home(const struct table *t, uint64_t value)
{
    return (size_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 29) & t->mask;
}

static struct handle *find_in(const struct table *t, uint64_t value)
{
    if (!t->handles)
        return NULL;
    for (size_t i = home(t, value); t->handles[i].count; i = (i + 1) & t->mask) {
        if (t->handles[i].value == value)
            return &t->handles[i];
    }
    return NULL;
}

static struct handle *put(struct table *t, const struct handle *handle)
{
    size_t i = home(t, handle->value);
    while (t->handles[i].count)
        i = (i + 1) & t->mask;
    t->handles[i] = *handle;
    t->count++;
    return &t->handles[i];
}

/* Takes a handle out and closes the gap in the probe sequences that pass it. */
static void take_out(struct table *t, struct handle *handle)
{
    size_t hole = (size_t)(handle - t->handles);
    t->count--;
    for (size_t i = (hole + 1) & t->mask; t->handles[i].count; i = (i + 1) & t->mask) {
        size_t from_home = (i - home(t, t->handles[i].value)) & t->mask;
        if (from_home < ((i - hole) & t->mask))
            continue; /* its home lies behind the hole */
        t->handles[hole] = t->handles[i];
        hole = i;
    }
    t->handles[hole].count = 0;
}

static void migrate(size_t steps)
{
    while (old.handles && steps-- > 0) {
        if (old.count == 0 || old_next > old.mask) {
            pages_give(old.handles, (old.mask + 1) * sizeof *old.handles);
            old = (struct table){0};
            return;
        }
        /* Moving a handle may pull another one into its place. */
        while (old.handles[old_next].count) {
            struct handle moved = old.handles[old_next];
            take_out(&old, &old.handles[old_next]);
            put(&table, &moved);
        }
        old_next++;
    }
}

static bool make_room(void)
{
    migrate(MIGRATE_STEP);
    if (table.handles && table.count <= table.mask / 2)
        return true;
    migrate(SIZE_MAX); /* nothing is left by now: moving outruns filling */
    size_t size = table.handles ? (table.mask + 1) * 2 : HANDLES_FIRST;
    struct handle *handles = pages_take(size * sizeof *handles);
    if (!handles)
        return table.handles && table.count < table.mask;
    old = table;
    old_next = 0;
    table = (struct table){.handles = handles, .mask = size - 1};
    return true;
}

static struct handle *find(uint64_t value, struct table **in)
{
    struct handle *handle = find_in(&table, value);
    *in = &table;
    if (!handle && old.handles) {
        handle = find_in(&old, value);
        *in = &old;
    }
    return handle;
}

static void append(struct handle *handle, uint32_t number)
{
    struct node *node = node_at(number);
    node->older = handle->newest;
    node->newer = 0;
    if (handle->newest)
        node_at(handle->newest)->newer = number;
    else
        handle->oldest = number;
    handle->newest = number;
    handle->count++;
    kept++;
}

static void unlink_node(struct handle *handle, uint32_t number)
{
    const struct node *node = node_at(number);
    *(node->older ? &node_at(node->older)->newer : &handle->oldest) = node->newer;
    *(node->newer ? &node_at(node->newer)->older : &handle->newest) = node->older;
    node_give(number);
    handle->count--;
    kept--;
}

/* The request at address, looked for from both ends of the list; 0 if it is not found. */
static uint32_t find_node(const struct handle *handle, const void *address)
{
    uint32_t oldest = handle->oldest, newest = handle->newest;
    for (int steps = 0; steps < SEARCH_MAX && oldest; steps++) {
        if (node_at(oldest)->address == address)
            return oldest;
        if (node_at(newest)->address == address)
            return newest;
        oldest = node_at(oldest)->newer;
        newest = node_at(newest)->older;
        if (!newest)
            break;
    }
    return 0;
}

static void started(uint64_t value, const void *address, uint32_t origin)
{
    struct table *in;
    uintptr_t at = (uintptr_t)address;
    if (!make_room())
        return;
    uint32_t number = node_take();
    if (!number)
        return;
    *node_at(number) = (struct node){.address = address, .origin = origin};
    struct handle *handle = find(value, &in);
    if (!handle) {
        handle = put(&table, &(struct handle){.value = value, .lowest = at, .highest = at});
    } else {
        handle->differ |= origin != node_at(handle->newest)->origin;
        /* The program has copied a request and uses its place again. Most fill an array upwards. */
        handle->same_address |=
            at >= handle->lowest && at <= handle->highest && find_node(handle, address) != 0;
        handle->lowest = at < handle->lowest ? at : handle->lowest;
        handle->highest = at > handle->highest ? at : handle->highest;
    }
    append(handle, number);
}

static uint32_t look(uint64_t value, const void *address, bool forget)
{
    struct table *in;
    struct handle *handle = find(value, &in);
    if (!handle)
        return REQUEST_ORIGIN_UNKNOWN;
    uint32_t number = handle->same_address ? 0 : find_node(handle, address);
    /* Which one it was does not matter where all agree; where they do not, one of them is gone. */
    bool known = number || !handle->differ;
    number = number ? number : handle->oldest;
    uint32_t origin = known ? node_at(number)->origin : REQUEST_ORIGIN_UNKNOWN;
    if (forget) {
        unlink_node(handle, number);
        if (handle->count == 0)
            take_out(in, handle);
    }
    return origin;
}

void request_started(uint64_t handle, const void *address, uint32_t origin)
{
    if (threads)
        lock_take(&table_lock);
    started(handle, address, origin);
    if (threads)
        lock_give(&table_lock);
}

static inline uint32_t locked_look(uint64_t handle, const void *address, bool forget)
{
    if (threads)
        lock_take(&table_lock);
    uint32_t origin = look(handle, address, forget);
    if (threads)
        lock_give(&table_lock);
    return origin;
}

uint32_t request_look(uint64_t handle, const void *address)
{
    return locked_look(handle, address, false);
}

uint32_t request_finished(uint64_t handle, const void *address)
{
    return locked_look(handle, address, true);
}

/* --- origins ---------------------------------------------------------------------------------- */

/* Equal origins are kept once: origins[id], reserved at once so that it never moves, found through
 * open addressing over ids. */
static struct request_origin *origins;
static uint32_t origin_count = 1; /* 0 is the unknown one */
static uint32_t *origin_slots, origin_mask;
static lock_t origin_lock;

static bool same_origin(const struct request_origin *x, const struct request_origin *y)
{
    return x->operation == y->operation && x->bytes == y->bytes && x->peer == y->peer &&
           x->tag == y->tag && x->communicator == y->communicator;
}

static uint32_t origin_hash(const struct request_origin *origin)
{
    uint64_t x = (uint64_t)origin->bytes ^ (uint64_t)(uint32_t)origin->peer << 20 ^
                 (uint64_t)(uint32_t)origin->tag << 36 ^ (uint64_t)origin->operation << 54 ^
                 (uint64_t)(uint32_t)origin->communicator << 10;
    return (uint32_t)(x * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static void origin_put(uint32_t id)
{
    uint32_t i = origin_hash(&origins[id]);
    while (origin_slots[i & origin_mask])
        i++;
    origin_slots[i & origin_mask] = id;
}

static bool origin_make_room(void)
{
    if (!origins && !(origins = pages_take(ORIGINS_MAX * sizeof *origins)))
        return false;
    if (origin_slots && origin_count <= origin_mask / 2)
        return true;
    uint32_t size = origin_slots ? (origin_mask + 1) * 2 : ORIGINS_FIRST;
    uint32_t *bigger = origin_count < ORIGINS_MAX ? pages_take(size * sizeof *bigger) : NULL;
    if (!bigger)
        return false;
    if (origin_slots)
        pages_give(origin_slots, (origin_mask + 1) * sizeof *origin_slots);
    origin_slots = bigger;
    origin_mask = size - 1;
    for (uint32_t id = 1; id < origin_count; id++)
        origin_put(id);
    return true;
}

static uint32_t origin_intern(const struct request_origin *origin)
{
    if (!origin_make_room())
        return REQUEST_ORIGIN_UNKNOWN;
    for (uint32_t i = origin_hash(origin);; i++) {
        uint32_t id = origin_slots[i & origin_mask];
        if (id == 0)
            break;
        if (same_origin(&origins[id], origin))
            return id;
    }
    if (origin_count == ORIGINS_MAX)
        return REQUEST_ORIGIN_UNKNOWN;
    origins[origin_count] = *origin;
    origin_put(origin_count);
    return origin_count++;
}

uint32_t request_origin_id(const struct request_origin *origin)
{
    lock_take(&origin_lock);
    uint32_t id = origin_intern(origin);
    lock_give(&origin_lock);
    return id;
}

const struct request_origin *request_origin(uint32_t id)
{
    static const struct request_origin unknown = {
        .bytes = -1, .peer = -1, .tag = -1, .communicator = -1, .operation = ORIGIN_UNKNOWN};
    return id == REQUEST_ORIGIN_UNKNOWN ? &unknown : &origins[id];
}
