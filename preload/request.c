/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in flight, and the calls that started them. */
#include "preload/request.h"

#include <stdbool.h>

#include "preload/pages.h"
#include "schema/lock.h"
#include "schema/trace_format.h"

/* A request is a node of 28 bytes, found through a hash table with one bucket of 4 bytes per node.
 * The table grows by linear hashing, one bucket with every request, and neither nodes nor buckets
 * ever move in memory: no call does more than another.
 *
 * The oldest request of a handle is found by the handle and leads the list of all that have it,
 * oldest first. The others are found by handle and address, so that it costs the same whether two
 * or a million share a handle.
 */
enum { NODES_IN_CHUNK = 1 << 11, BUCKETS_IN_CHUNK = 1 << 16, BUCKETS_FIRST = 1 << 9 };
enum { SHARDS = 16, NODES_MAX = 1 << 24 }; /* nodes per shard, for programs that complete nothing */
enum { ORIGINS_MAX = 1 << 20 };

/* Out of the way of what most calls do. */
#define APART __attribute__((noinline))

/* Pointers have 48 bits that tell them apart, further ones are tags. Were there more, a handle
 * would only be taken for one that is shared, and a place for one that is used again. */
#define POINTER_MASK ((UINT64_C(1) << 48) - 1)

/* Nodes are named by their number; 0: none. */
struct node {
    struct trace_request is; /* origin: id, with the flags below and those of the trace */
    uint32_t older;  /* of the oldest: the newest, which is itself where it is alone */
    uint32_t newer;
    uint32_t next; /* in the bucket's chain; of a free node: the next free one */
};

enum {
    ORIGIN_ID = TRACE_REQUEST_ORIGIN,
    IN_FLIGHT = TRACE_REQUEST_IN_FLIGHT,
    SHARED = TRACE_REQUEST_SHARED,
    CHAINED = 1 << 20, /* in the chain of its bucket */
    OLDEST = 1 << 21,  /* of its handle; it has the next two for all of them */
    DIFFER = 1 << 22,  /* not all had one origin since no request had the handle */
    CONFUSED = 1 << 23 /* two were at one address since then: it does not tell them apart */
};

_Static_assert(ORIGINS_MAX - 1 == TRACE_REQUEST_ORIGIN, "every origin has its number");
_Static_assert(sizeof(struct node) == 28, "a request takes 28 bytes and those of its bucket");

/* The requests of some of the handles. */
struct shard {
    lock_t lock;
    bool lost;              /* memory or numbers were exhausted: there are requests unknown to us */
    uint32_t buckets, mask; /* a power of two - 1, so that buckets <= mask + 1 < 2 * buckets */
    uint32_t kept, chained;
    uint32_t node_count, free_node;
    uint32_t *heads[NODES_MAX / BUCKETS_IN_CHUNK];
    void *nodes[NODES_MAX / NODES_IN_CHUNK];
} __attribute__((aligned(64)));

static struct shard shards[SHARDS];
static uint32_t shards_mask; /* 0 but where there were threads from the first: one shard has all */
static bool shards_locked;

void request_use_threads(void)
{
    shards_mask = SHARDS - 1;
    shards_locked = true;
}

void request_use_locks(void)
{
    shards_locked = true;
}

/* The product's best bits are its highest: they come to where buckets are told apart. */
static inline uint32_t mix(uint64_t x)
{
    return (uint32_t)__builtin_bswap64(x * UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint32_t hash_place(uint64_t handle, uint64_t address)
{
    return mix(handle * UINT64_C(0xff51afd7ed558ccd) + address);
}

static inline uint64_t node_handle(const struct node *node)
{
    return node->is.handle_low | (uint64_t)node->is.handle_high << 32;
}

static inline uint64_t node_address(const struct node *node)
{
    return node->is.address_low | (uint64_t)node->is.address_high << 32;
}

static inline uint32_t hash_node(const struct node *node)
{
    uint64_t handle = node_handle(node);
    return node->is.origin & OLDEST ? mix(handle) : hash_place(handle, node_address(node));
}

/* --- memory that others look at --------------------------------------------------------------- */

/* Entries that are kept in areas of the trace, and in plain memory where there are none. */
struct kept {
    enum trace_area_kind kind;
    uint32_t entry_size, chunk; /* bytes of an entry, and how many of them a chunk has */
    size_t chunks;              /* there may be at most */
};

static const struct kept kept_nodes = {AREA_REQUESTS, sizeof(struct node), NODES_IN_CHUNK,
                                       NODES_MAX / NODES_IN_CHUNK};

static struct request_areas areas;

void request_use_areas(const struct request_areas *of_trace)
{
    areas = *of_trace;
}

/* Puts an area where chunk number next and those behind it are named. Areas grow with what there is
 * already, for a process may have only so many mappings. */
static APART bool take_area(const struct kept *kept, void **chunks, size_t next)
{
    size_t bytes = (size_t)kept->chunk * kept->entry_size;
    struct trace_area area = {.size = TRACE_ALIGN, .kind = kept->kind};
    if (!areas.take)
        return false;
    while (area.size < TRACE_AREA_LARGEST && area.size <= next * bytes / 4)
        area.size *= 2;
    size_t count = (area.size - sizeof area) / bytes;
    if (count > kept->chunks - next)
        count = kept->chunks - next;
    area.entry_size = kept->entry_size;
    area.entry_count = (uint32_t)count * kept->chunk;
    area.first = (uint32_t)next * kept->chunk;
    char *memory = areas.take(&area);
    if (!memory)
        return false;
    for (size_t i = count; i > 0; i--) /* who finds the first one finds all */
        __atomic_store_n(&chunks[next + i - 1], memory + sizeof area + (i - 1) * bytes,
                         __ATOMIC_RELEASE);
    return true;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static inline struct node *node_at(const struct shard *shard, uint32_t number)
{
    return (struct node *)shard->nodes[number / NODES_IN_CHUNK] + number % NODES_IN_CHUNK;
}

static bool have_buckets(struct shard *shard)
{
    if (shard->buckets)
        return true;
    if (!(shard->heads[0] = pages_take(BUCKETS_IN_CHUNK * sizeof **shard->heads)))
        return false;
    shard->buckets = BUCKETS_FIRST;
    shard->mask = BUCKETS_FIRST - 1;
    return true;
}

/* The number of a node that was never used, or 0 when memory or numbers are exhausted. */
static APART uint32_t node_fresh(struct shard *shard)
{
    uint32_t number = shard->node_count + 1;
    if (number == NODES_MAX || !have_buckets(shard))
        return 0;
    void **chunk = &shard->nodes[number / NODES_IN_CHUNK];
    if (!*chunk && !take_area(&kept_nodes, shard->nodes, number / NODES_IN_CHUNK) &&
        !(*chunk = pages_take(NODES_IN_CHUNK * sizeof(struct node))))
        return 0;
    return shard->node_count = number;
}

static inline uint32_t node_take(struct shard *shard)
{
    uint32_t number = shard->free_node;
    if (!number)
        return node_fresh(shard);
    shard->free_node = node_at(shard, number)->next;
    return number;
}

static inline void node_give(struct shard *shard, uint32_t number)
{
    struct node *node = node_at(shard, number);
    node->is.origin = 0;
    node->next = shard->free_node;
    shard->free_node = number;
}

/* --- chains ----------------------------------------------------------------------------------- */

static inline uint32_t *head_of(const struct shard *shard, uint32_t hash)
{
    uint32_t bucket = hash & shard->mask;
    if (bucket >= shard->buckets)
        bucket &= shard->mask >> 1; /* that one has not been split yet */
    return &shard->heads[bucket / BUCKETS_IN_CHUNK][bucket % BUCKETS_IN_CHUNK];
}

static inline void chain(struct shard *shard, uint32_t number, uint32_t hash)
{
    uint32_t *head = head_of(shard, hash);
    node_at(shard, number)->next = *head;
    *head = number;
}

static inline void unchain(struct shard *shard, uint32_t number, uint32_t hash)
{
    const struct node *node = node_at(shard, number);
    uint32_t *head = head_of(shard, hash);
    shard->chained--;
    if (*head == number) {
        *head = node->next;
        return;
    }
    struct node *before = node_at(shard, *head);
    while (before->next != number)
        before = node_at(shard, before->next);
    before->next = node->next;
}

/* Adds a bucket and moves what belongs there out of the one that had it. Without memory, chains get
 * longer. */
static APART void add_bucket(struct shard *shard)
{
    uint32_t added = shard->buckets;
    if (added == NODES_MAX)
        return;
    uint32_t **chunk = &shard->heads[added / BUCKETS_IN_CHUNK];
    if (!*chunk && !(*chunk = pages_take(BUCKETS_IN_CHUNK * sizeof **chunk)))
        return;
    if (added > shard->mask)
        shard->mask = 2 * shard->mask + 1;
    uint32_t *head = head_of(shard, added), number = *head;
    *head = 0;
    shard->buckets++;
    while (number) {
        uint32_t next = node_at(shard, number)->next;
        chain(shard, number, hash_node(node_at(shard, number)));
        number = next;
    }
}

/* --- the requests of a handle ----------------------------------------------------------------- */

/* The oldest request that has the handle, or 0. */
static inline uint32_t find_oldest(const struct shard *shard, uint64_t handle, uint32_t hash)
{
    if (!shard->kept)
        return 0;
    uint32_t number = *head_of(shard, hash);
    while (number) {
        const struct node *node = node_at(shard, number);
        if (node_handle(node) == handle && node->is.origin & OLDEST)
            break;
        number = node->next;
    }
    return number;
}

/* The request at address among those that have the handle of the oldest, or 0. */
static inline uint32_t find_at(const struct shard *shard, uint32_t oldest, uint64_t address)
{
    const struct node *first = node_at(shard, oldest);
    if (first->is.origin & CONFUSED)
        return 0;
    if (node_address(first) == address)
        return oldest;
    if (!first->newer)
        return 0;
    uint64_t handle = node_handle(first);
    uint32_t number = *head_of(shard, hash_place(handle, address));
    while (number) {
        const struct node *node = node_at(shard, number);
        if (node_address(node) == address && node_handle(node) == handle &&
            !(node->is.origin & OLDEST))
            break;
        number = node->next;
    }
    return number;
}

/* Adds a request to those of its handle. True if it is to be found by its address. */
static APART bool append(struct shard *shard, uint32_t oldest, uint32_t number)
{
    struct node *first = node_at(shard, oldest), *node = node_at(shard, number);
    struct node *newest = node_at(shard, first->older);
    if ((node->is.origin ^ newest->is.origin) & ORIGIN_ID)
        first->is.origin |= DIFFER;
    /* The program has copied a request away and uses its place again. */
    if (find_at(shard, oldest, node_address(node)))
        first->is.origin |= CONFUSED;
    node->is.origin |= SHARED;
    first->is.origin |= SHARED;
    node->older = first->older;
    newest->newer = number;
    first->older = number;
    if (first->is.origin & CONFUSED)
        return false;
    node->is.origin |= CHAINED;
    return true;
}

/* There is a request that we do not know. */
static APART void lose(struct shard *shard, uint32_t oldest)
{
    shard->lost = true;
    if (oldest)
        node_at(shard, oldest)->is.origin |= DIFFER | CONFUSED;
}

static APART void started(struct shard *shard, uint64_t handle, uint64_t address, uint32_t hash,
                          uint32_t origin)
{
    uint32_t oldest = find_oldest(shard, handle, hash);
    uint32_t number = node_take(shard);
    if (!number) {
        lose(shard, oldest);
        return;
    }
    *node_at(shard, number) =
        (struct node){.is = {.handle_low = (uint32_t)handle,
                             .handle_high = (uint16_t)(handle >> 32),
                             .address_low = (uint32_t)address,
                             .address_high = (uint16_t)(address >> 32),
                             .origin = origin | IN_FLIGHT | (oldest ? 0 : OLDEST | CHAINED)},
                      .older = number};
    shard->kept++;
    if (oldest) {
        if (!append(shard, oldest, number))
            return;
        hash = hash_place(handle, address);
    }
    chain(shard, number, hash);
    if (++shard->chained > shard->buckets)
        add_bucket(shard);
}

/* Takes one of several requests of a handle out. The second moves into the oldest one's node, since
 * that is the one in the handle's chain. */
static APART void forget_one(struct shard *shard, uint32_t oldest, uint32_t number)
{
    struct node *first = node_at(shard, oldest);
    bool moves = number == oldest;
    if (moves)
        number = first->newer;
    struct node *node = node_at(shard, number);
    if (node->is.origin & CHAINED)
        unchain(shard, number, hash_node(node));
    if (moves) {
        first->is.address_low = node->is.address_low;
        first->is.address_high = node->is.address_high;
        first->is.origin =
            (first->is.origin & ~(uint32_t)ORIGIN_ID) | (node->is.origin & ORIGIN_ID);
    }
    node_at(shard, node->older)->newer = node->newer;
    (node->newer ? node_at(shard, node->newer) : first)->older = node->older;
    node_give(shard, number);
}

static inline void forget(struct shard *shard, uint32_t oldest, uint32_t number, uint32_t hash)
{
    shard->kept--;
    if (node_at(shard, oldest)->newer) {
        forget_one(shard, oldest, number);
        return;
    }
    unchain(shard, number, hash);
    node_give(shard, number);
}

/* Looks for a request by its address too. */
static APART uint32_t look_closer(struct shard *shard, uint32_t oldest, uint64_t address,
                                  uint32_t hash, bool finished)
{
    uint32_t number = find_at(shard, oldest, address);
    /* Which one it was does not matter where all agree; where they do not, one of them is gone. */
    bool known = number || !(node_at(shard, oldest)->is.origin & DIFFER || shard->lost);
    if (!number)
        number = oldest;
    uint32_t origin =
        known ? node_at(shard, number)->is.origin & ORIGIN_ID : (uint32_t)REQUEST_ORIGIN_UNKNOWN;
    if (finished)
        forget(shard, oldest, number, hash);
    return origin;
}

static APART uint32_t look(struct shard *shard, uint64_t handle, uint64_t address, uint32_t hash,
                           bool finished)
{
    uint32_t oldest = find_oldest(shard, handle, hash);
    if (!oldest)
        return REQUEST_ORIGIN_UNKNOWN;
    const struct node *first = node_at(shard, oldest);
    if (first->newer || first->is.origin & DIFFER || shard->lost)
        return look_closer(shard, oldest, address, hash, finished);
    uint32_t origin = first->is.origin & ORIGIN_ID;
    if (finished)
        forget(shard, oldest, oldest, hash);
    return origin;
}

/* --- the table -------------------------------------------------------------------------------- */

static inline struct shard *shard_of(uint32_t hash)
{
    return &shards[hash >> 28 & shards_mask];
}

void request_started(uint64_t handle, const void *address, uint32_t origin)
{
    uint64_t place = (uintptr_t)address & POINTER_MASK;
    handle &= POINTER_MASK;
    uint32_t hash = mix(handle);
    if (!shards_locked) {
        started(shards, handle, place, hash, origin);
        return;
    }
    struct shard *shard = shard_of(hash);
    lock_take(&shard->lock);
    started(shard, handle, place, hash, origin);
    lock_give(&shard->lock);
}

static inline uint32_t shard_look(uint64_t handle, const void *address, bool finished)
{
    uint64_t place = (uintptr_t)address & POINTER_MASK;
    handle &= POINTER_MASK;
    uint32_t hash = mix(handle);
    if (!shards_locked)
        return look(shards, handle, place, hash, finished);
    struct shard *shard = shard_of(hash);
    lock_take(&shard->lock);
    uint32_t origin = look(shard, handle, place, hash, finished);
    lock_give(&shard->lock);
    return origin;
}

uint32_t request_look(uint64_t handle, const void *address)
{
    return shard_look(handle, address, false);
}

uint32_t request_finished(uint64_t handle, const void *address)
{
    return shard_look(handle, address, true);
}

size_t request_count(void)
{
    size_t count = 0;
    for (uint32_t i = 0; i < SHARDS; i++)
        count += shards[i].kept;
    return count;
}

size_t request_longest_chain(void)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < SHARDS; i++) {
        for (uint32_t bucket = 0; bucket < shards[i].buckets; bucket++) {
            size_t length = 0;
            for (uint32_t number = *head_of(&shards[i], bucket); number; length++)
                number = node_at(&shards[i], number)->next;
            longest = length > longest ? length : longest;
        }
    }
    return longest;
}

/* --- origins ---------------------------------------------------------------------------------- */

/* Equal origins are kept once and for good, in memory that is reserved at once, so that they never
 * move. They hang in trees by the bits of their hash and are added at the leaves alone: finding and
 * adding take no lock, and nothing is ever rebuilt. */
enum { TREE_BITS = 12, BRANCH_BITS = 2 };

struct origin {
    struct request_origin is;
    uint32_t branch[1 << BRANCH_BITS]; /* ids; 0: none */
};

static struct origin *origins;
static uint32_t origin_count = 1; /* 0 is the unknown one */
static uint32_t trees[1 << TREE_BITS]; /* the root's id; 0: none */

static bool same_origin(const struct request_origin *x, const struct request_origin *y)
{
    return x->operation == y->operation && x->bytes == y->bytes && x->peer == y->peer &&
           x->tag == y->tag && x->communicator == y->communicator;
}

static uint64_t origin_hash(const struct request_origin *origin)
{
    const uint64_t word[] = {(uint64_t)origin->bytes,
                             (uint32_t)origin->peer | (uint64_t)(uint32_t)origin->tag << 32,
                             (uint32_t)origin->communicator | (uint64_t)origin->operation << 32};
    uint64_t x = 0;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        x = (x ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
        x ^= x >> 32;
    }
    return x * UINT64_C(0xd6e8feb86659fd93);
}

/* Where others find them, by number: chunks of areas, or &nowhere. */
enum { SHOWN_IN_CHUNK = (TRACE_ALIGN - sizeof(struct trace_area)) /
                        sizeof(struct trace_request_origin),
       SHOWN_CHUNKS = ORIGINS_MAX / SHOWN_IN_CHUNK + 1 };

static const struct kept kept_origins = {AREA_ORIGINS, sizeof(struct trace_request_origin),
                                         SHOWN_IN_CHUNK, SHOWN_CHUNKS};
static void *shown[SHOWN_CHUNKS];
static lock_t shown_lock;
static char nowhere;

static char *shown_chunk(size_t number)
{
    char *chunk = __atomic_load_n(&shown[number], __ATOMIC_ACQUIRE);
    if (chunk)
        return chunk;
    uint64_t signals = lock_take_hold(&shown_lock);
    if (!shown[number] && !take_area(&kept_origins, shown, number))
        __atomic_store_n(&shown[number], &nowhere, __ATOMIC_RELEASE);
    chunk = shown[number];
    lock_give_let(&shown_lock, signals);
    return chunk;
}

/* Writes an origin down for those who look at the requests. */
static void origin_show(uint32_t id, const struct request_origin *origin)
{
    if (!areas.take)
        return;
    char *chunk = shown_chunk(id / SHOWN_IN_CHUNK);
    if (chunk == &nowhere)
        return;
    struct trace_request_origin *entry =
        (struct trace_request_origin *)(void *)chunk + id % SHOWN_IN_CHUNK;
    *entry = (struct trace_request_origin){.bytes = origin->bytes,
                                           .peer = origin->peer,
                                           .tag = origin->tag,
                                           .communicator = origin->communicator};
    areas.name(origin->operation, entry);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Room for all origins, or NULL. */
static struct origin *origin_room(void)
{
    struct origin *room = __atomic_load_n(&origins, __ATOMIC_ACQUIRE);
    if (room)
        return room;
    struct origin *taken = pages_take(ORIGINS_MAX * sizeof *taken);
    if (__atomic_compare_exchange_n(&origins, &room, taken, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return taken;
    pages_give(taken, ORIGINS_MAX * sizeof *taken);
    return room;
}

/* The id of a new origin that nothing leads to yet; 0: there is none left. */
static uint32_t origin_add(struct origin *room, const struct request_origin *origin)
{
    if (__atomic_load_n(&origin_count, __ATOMIC_RELAXED) >= ORIGINS_MAX)
        return 0;
    uint32_t id = __atomic_fetch_add(&origin_count, 1, __ATOMIC_RELAXED);
    if (id >= ORIGINS_MAX)
        return 0;
    room[id].is = *origin;
    origin_show(id, origin);
    return id;
}

uint32_t request_origin_id(const struct request_origin *origin)
{
    struct origin *room = origin_room();
    if (!room)
        return REQUEST_ORIGIN_UNKNOWN;
    uint64_t hash = origin_hash(origin);
    uint32_t *place = &trees[hash >> (64 - TREE_BITS)], added = 0;
    for (hash <<= TREE_BITS;; hash <<= BRANCH_BITS) {
        uint32_t id = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (!id) {
            if (!added && !(added = origin_add(room, origin)))
                return REQUEST_ORIGIN_UNKNOWN;
            if (__atomic_compare_exchange_n(place, &id, added, false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE))
                return added;
        }
        if (same_origin(&room[id].is, origin)) /* a thread that was faster may have added it */
            return id;
        place = &room[id].branch[hash >> (64 - BRANCH_BITS)];
    }
}

const struct request_origin *request_origin(uint32_t id)
{
    static const struct request_origin unknown = {
        .bytes = -1, .peer = -1, .tag = -1, .communicator = -1, .operation = ORIGIN_UNKNOWN};
    if (id == REQUEST_ORIGIN_UNKNOWN)
        return &unknown;
    return &__atomic_load_n(&origins, __ATOMIC_ACQUIRE)[id].is;
}

/* --- the child of fork() ---------------------------------------------------------------------- */

static void forget_all(struct shard *shard)
{
    for (size_t i = 0; i < NODES_MAX / NODES_IN_CHUNK && shard->nodes[i]; i++)
        shard->nodes[i] = NULL;
    for (size_t i = 0; i < NODES_MAX / BUCKETS_IN_CHUNK && shard->heads[i]; i++)
        shard->heads[i] = NULL;
    shard->buckets = shard->mask = 0;
    shard->kept = shard->chained = 0;
    shard->node_count = shard->free_node = 0;
    shard->lock = (lock_t){0};
}

void request_forked(void)
{
    areas = (struct request_areas){0};
    shown_lock = 0;
    for (size_t i = 0; i < SHOWN_CHUNKS; i++)
        shown[i] = NULL;
    for (uint32_t i = 0; i < SHARDS; i++)
        forget_all(&shards[i]);
}
