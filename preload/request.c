/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in flight, and the calls that started them. */
#include "preload/request.h"

#include <stdbool.h>

#include "schema/lock.h"
#include "preload/pages.h"
#include "schema/trace_format.h"

/* Handles lie in an open-addressed table; each has a list of its requests, oldest first. A list is
 * searched from both ends, since programs complete requests in the order they were started or in
 * the reverse, and only so far: the cost of a call stays bounded whatever the program does. */
enum { SEARCH_MAX = 64 };
enum { HANDLES_FIRST = 128, MIGRATE_STEP = 8 };
enum { CHUNK = 4096, CHUNKS_MAX = 65536 };

struct node {
    const void *address;
    struct request_origin origin;
    uint32_t older, newer; /* index + 1; 0: none. A free node's newer leads to the next free one. */
};

struct handle {
    uint64_t value;
    uint32_t oldest, newest; /* index + 1 */
    uint32_t count;          /* 0: the place is free */
    bool differ;             /* requests of other origins were added since count was 0 */
    bool same_address;       /* and some at one address: it does not tell them apart */
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

static bool same(const struct request_origin *x, const struct request_origin *y)
{
    return x->operation == y->operation && x->bytes == y->bytes && x->peer == y->peer &&
           x->tag == y->tag && x->communicator == y->communicator;
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

static void started(uint64_t value, const void *address, const struct request_origin *origin)
{
    struct table *in;
    if (!make_room())
        return;
    uint32_t number = node_take();
    if (!number)
        return;
    *node_at(number) = (struct node){.address = address, .origin = *origin};
    struct handle *handle = find(value, &in);
    if (!handle) {
        handle = put(&table, &(struct handle){.value = value});
    } else {
        const struct node *newest = node_at(handle->newest);
        handle->differ |= !same(origin, &newest->origin);
        handle->same_address |= address == newest->address;
    }
    append(handle, number);
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

static void look(uint64_t value, const void *address, struct request_origin *origin, bool forget)
{
    struct table *in;
    *origin = (struct request_origin){
        .bytes = -1, .peer = -1, .tag = -1, .communicator = -1, .operation = ORIGIN_UNKNOWN};
    struct handle *handle = find(value, &in);
    if (!handle)
        return;
    uint32_t number = handle->same_address ? 0 : find_node(handle, address);
    if (number || !handle->differ)
        *origin = node_at(number ? number : handle->oldest)->origin;
    if (!forget)
        return;
    /* Which one it was does not matter where all agree; where they do not, one of them is gone. */
    unlink_node(handle, number ? number : handle->oldest);
    if (handle->count == 0)
        take_out(in, handle);
}

void request_started(uint64_t handle, const void *address, const struct request_origin *origin)
{
    if (threads)
        lock_take(&table_lock);
    started(handle, address, origin);
    if (threads)
        lock_give(&table_lock);
}

void request_look(uint64_t handle, const void *address, struct request_origin *origin)
{
    if (threads)
        lock_take(&table_lock);
    look(handle, address, origin, false);
    if (threads)
        lock_give(&table_lock);
}

void request_finished(uint64_t handle, const void *address, struct request_origin *origin)
{
    if (threads)
        lock_take(&table_lock);
    look(handle, address, origin, true);
    if (threads)
        lock_give(&table_lock);
}
