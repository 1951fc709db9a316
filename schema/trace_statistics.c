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

static int place_counted(struct trace_statistics *area, const struct trace_counted *wanted,
                         uint32_t room)
{
    uint32_t count = area->counted_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct trace_counted *place = &area->counted[i];
        if (place->operation == wanted->operation && place->origin == wanted->origin &&
            place->bytes == wanted->bytes && place->peer == wanted->peer &&
            place->root == wanted->root && place->tag == wanted->tag &&
            place->communicator == wanted->communicator)
            return (int)i;
    }
    if (count >= room)
        return -1;
    area->counted[count] = *wanted;
    __atomic_store_n(&area->counted_count, count + 1, __ATOMIC_RELEASE);
    return (int)count;
}

static int place(struct trace_statistics *area, const struct trace_signature *signature,
                 const struct counted_operation *operation, const struct counted_operation *origin)
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
    int found = place_counted(area, &wanted, PLACES_EXACT);
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
    return place_counted(area, &bare, PLACES);
}

int trace_statistics_place(struct trace_statistics *area, lock_t *lock,
                           const struct trace_signature *signature,
                           const struct counted_operation *operation,
                           const struct counted_operation *origin)
{
    lock_take(lock);
    int found = place(area, signature, operation, origin);
    lock_give(lock);
    return found;
}
