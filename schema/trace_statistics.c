/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts calls that a trace has no more room for, in the area that was reserved for them. */
#include "schema/trace_statistics.h"

#include <string.h>

enum {
    PLACES = sizeof((struct trace_statistics *)0)->counted / sizeof(struct trace_counted),
    PLACES_EXACT = PLACES - TRACE_COUNTED_OPERATIONS, /* the rest is for operations alone */
};

/* The number of an operation; -1 when there is no place for it. */
static int place_operation(struct trace_statistics *area, const struct counted_operation *operation)
{
    uint32_t count = area->operation_count;
    for (uint32_t i = 0; i < count; i++) {
        if (area->operations[i].kind == operation->kind &&
            strncmp(area->operations[i].name, operation->name,
                    sizeof area->operations[i].name - 1) == 0)
            return (int)i;
    }
    if (count >= TRACE_COUNTED_OPERATIONS)
        return -1;
    struct trace_counted_operation *place = &area->operations[count];
    place->kind = operation->kind;
    strncpy(place->name, operation->name, sizeof place->name - 1);
    __atomic_store_n(&area->operation_count, count + 1, __ATOMIC_RELEASE);
    return (int)count;
}

_Static_assert((int)PLACES < (int)TRACE_STATISTICS_INDEX && (int)PLACES < UINT16_MAX, "the index has room");

static uint32_t hash(const struct trace_counted *counted)
{
    const uint64_t words[] = {
        (uint64_t)counted->bytes, counted->operation | (uint64_t)counted->origin << 32,
        (uint32_t)counted->peer | (uint64_t)(uint32_t)counted->root << 32,
        (uint32_t)counted->tag | (uint64_t)(uint32_t)counted->communicator << 32};
    uint64_t x = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        x = (x ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15), x ^= x >> 32;
    return (uint32_t)x;
}

static int place_counted(struct trace_statistics *area, struct trace_statistics_index *index,
                         const struct trace_counted *wanted, uint32_t room)
{
    uint32_t count = area->counted_count, i = hash(wanted) % TRACE_STATISTICS_INDEX;
    for (; index->places[i]; i = (i + 1) % TRACE_STATISTICS_INDEX) {
        const struct trace_counted *place = &area->counted[index->places[i] - 1];
        if (place->operation == wanted->operation && place->origin == wanted->origin &&
            place->bytes == wanted->bytes && place->peer == wanted->peer &&
            place->root == wanted->root && place->tag == wanted->tag &&
            place->communicator == wanted->communicator)
            return index->places[i] - 1;
    }
    if (count >= room)
        return -1;
    area->counted[count] = *wanted;
    __atomic_store_n(&area->counted_count, count + 1, __ATOMIC_RELEASE);
    index->places[i] = (uint16_t)(count + 1);
    return (int)count;
}

static int place(struct trace_statistics *area, struct trace_statistics_index *index,
                 const struct trace_signature *signature, const struct counted_operation *operation,
                 const struct counted_operation *origin)
{
    int number = place_operation(area, operation);
    if (number < 0)
        return -1;
    struct trace_counted wanted = {
        .bytes = signature->bytes,
        .operation = (uint32_t)number,
        .origin = signature->origin,
        .peer = signature->peer,
        .root = signature->root,
        .tag = signature->tag,
        .communicator = signature->communicator,
    };
    if (signature->origin != ORIGIN_NONE && signature->origin < ORIGIN_MIXED) {
        int maker = place_operation(area, origin);
        wanted.origin = maker < 0 ? ORIGIN_UNKNOWN : (uint32_t)maker + 1;
    }
    int found = place_counted(area, index, &wanted, PLACES_EXACT);
    if (found >= 0)
        return found;
    struct trace_counted bare = {
        .bytes = -1,
        .operation = wanted.operation,
        .origin = wanted.origin == ORIGIN_NONE ? ORIGIN_NONE : ORIGIN_MIXED,
        .peer = PEER_NONE,
        .root = PEER_NONE,
        .tag = -1,
        .communicator = -1,
    };
    return place_counted(area, index, &bare, PLACES);
}

int trace_statistics_place(struct trace_statistics *area, struct trace_statistics_index *index,
                           const struct trace_signature *signature,
                           const struct counted_operation *operation,
                           const struct counted_operation *origin)
{
    uint64_t signals = lock_take_hold(&index->lock);
    int found = place(area, index, signature, operation, origin);
    lock_give_let(&index->lock, signals);
    return found;
}
