/* SPDX-License-Identifier: BSD-3-Clause */
/* Job-wide numbers for communicators, from what each rank calls them. */
#define _GNU_SOURCE
#include "merge/communicators.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/members.h"

enum { SLOTS_MIN = 64, MEMBERS_TEXT_MAX = 60000 };

/* --- what ranks add ----------------------------------------------------------------------------
 */

static size_t *find_slot(const struct communicators *communicators, uint64_t key)
{
    size_t mask = communicators->slot_count - 1;
    size_t i = (size_t)((key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 17) & mask;
    while (communicators->slots[i] && communicators->list[communicators->slots[i] - 1].key != key)
        i = (i + 1) & mask;
    return &communicators->slots[i];
}

static int make_room(struct communicators *communicators)
{
    if (communicators->count == communicators->room) {
        size_t room = communicators->room ? 2 * communicators->room : SLOTS_MIN / 2;
        struct communicator *list = realloc(communicators->list, room * sizeof(*list));
        if (!list)
            return -1;
        communicators->list = list;
        communicators->room = room;
    }
    if (communicators->slot_count >= 2 * (communicators->count + 1))
        return 0;
    size_t count = communicators->slot_count ? 2 * communicators->slot_count : SLOTS_MIN;
    size_t *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return -1;
    free(communicators->slots);
    communicators->slots = slots;
    communicators->slot_count = count;
    for (size_t i = 0; i < communicators->count; i++)
        *find_slot(communicators, communicators->list[i].key) = i + 1;
    return 0;
}

static uint64_t hash_members(const struct trace_communicator *definition)
{
    uint64_t hash = definition->run_count;
    for (uint32_t i = 0; i < definition->run_count; i++) {
        const struct trace_rank_run *run = &definition->runs[i];
        const uint64_t words[] = {run->first, run->count, (uint32_t)run->stride};
        for (size_t j = 0; j < sizeof(words) / sizeof(*words); j++) {
            hash = (hash ^ words[j]) * UINT64_C(0x9e3779b97f4a7c15);
            hash ^= hash >> 31;
        }
    }
    return hash;
}

/* The list as text, "..." behind it if that is not all: the trace has only so many runs, and a text
 * can be too long for any use. */
static char *print_members(const struct trace_communicator *definition)
{
    char *text = NULL;
    size_t size;
    uint64_t told = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return NULL;
    for (uint32_t i = 0; i < definition->run_count && ftell(stream) <= MEMBERS_TEXT_MAX; i++) {
        char run[MEMBERS_RUN_SIZE];
        fprintf(stream, "%s%s", i ? "," : "", members_print_run(&definition->runs[i], run));
        told += definition->runs[i].count;
    }
    if (definition->run_count > 0 && told < definition->size)
        fputs(",...", stream);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

/* The two that every program has need no key; all other keys are the recorder's. */
static uint64_t key_of(const struct trace_communicator *definition)
{
    return definition->id <= COMMUNICATOR_SELF ? definition->id : definition->key;
}

static void release_group(struct group *group)
{
    free(group->members);
    free(group->runs);
    *group = (struct group){.size = 0};
}

static int make_group(struct communicators *communicators, struct group *group,
                      const struct trace_communicator *definition)
{
    size_t size = definition->run_count * sizeof(*group->runs);
    *group = (struct group){.size = definition->size,
                            .hash = hash_members(definition),
                            .members = print_members(definition),
                            .runs = malloc(size + 1),
                            .run_count = definition->run_count};
    if (!group->members || !group->runs) {
        release_group(group);
        return -1;
    }
    if (size > 0)
        memcpy(group->runs, definition->runs, size);
    communicators->text_bytes += strlen(group->members) + size;
    return 0;
}

static bool is_group_of(const struct group *group, const struct trace_communicator *definition)
{
    return group->members && group->size == definition->size &&
           group->hash == hash_members(definition);
}

static int add_new(struct communicators *communicators, uint32_t rank, uint64_t key,
                   const struct trace_communicator *definition, size_t *index)
{
    struct group local;
    if (make_group(communicators, &local, definition) < 0)
        return -1;
    if (make_room(communicators) < 0) {
        release_group(&local);
        return -1;
    }
    *find_slot(communicators, key) = communicators->count + 1;
    communicators->list[communicators->count] = (struct communicator){
        .key = key,
        .recorded_key = definition->key,
        .kind = definition->kind,
        .local = local,
        .last_rank = rank,
        .last_local_id = definition->id,
        .id = COMMUNICATOR_UNKNOWN,
        .parent = COMMUNICATOR_UNKNOWN,
    };
    *index = communicators->count++;
    return 0;
}

/* Compares with what is known, or learns from it. The two groups of an intercommunicator have
 * members of their own, and every rank its own MPI_COMM_SELF. Returns 0, or -1 if memory is out. */
static int add_member(struct communicators *communicators, struct communicator *communicator,
                      uint32_t rank, const struct trace_communicator *definition)
{
    if (communicator->last_rank == rank)
        communicator->ambiguous = true; /* one rank has two of them */
    communicator->last_rank = rank;
    communicator->last_local_id = definition->id;
    if (definition->id <= COMMUNICATOR_SELF || is_group_of(&communicator->local, definition))
        communicator->ambiguous |= communicator->kind != definition->kind;
    else if (communicator->kind != COMMUNICATOR_INTER || definition->kind != COMMUNICATOR_INTER)
        communicator->ambiguous = true;
    else if (!communicator->remote.members)
        return make_group(communicators, &communicator->remote, definition);
    else
        communicator->ambiguous |= !is_group_of(&communicator->remote, definition);
    return 0;
}

static int add_definition(struct communicators *communicators, uint32_t rank,
                          const struct trace_communicator *definition, size_t index)
{
    if (communicators->definition_count == communicators->definition_room) {
        size_t room = communicators->definition_room ? 2 * communicators->definition_room : 64;
        struct definition *more = realloc(communicators->definitions, room * sizeof(*more));
        if (!more)
            return -1;
        communicators->definitions = more;
        communicators->definition_room = room;
    }
    communicators->definitions[communicators->definition_count++] = (struct definition){
        .rank = rank,
        .local_id = definition->id,
        .local_rank = definition->rank,
        .local_parent = definition->parent,
        .handle = definition->handle,
        .communicator = index,
    };
    return 0;
}

int communicators_add(struct communicators *communicators, uint32_t rank,
                      const struct trace_communicator *definition)
{
    uint64_t key = key_of(definition);
    if (definition->id > COMMUNICATOR_SELF && key <= COMMUNICATOR_SELF)
        return add_definition(communicators, rank, definition, NO_COMMUNICATOR);
    if (communicators->slot_count == 0 && make_room(communicators) < 0)
        return -1;
    size_t index = *find_slot(communicators, key);
    if (index == 0) {
        if (add_new(communicators, rank, key, definition, &index) < 0)
            return -1;
    } else {
        struct communicator *communicator = &communicators->list[--index];
        if (communicator->last_rank == rank && communicator->last_local_id == definition->id)
            return 0; /* told by another thread, or again */
        if (add_member(communicators, communicator, rank, definition) < 0)
            return -1;
    }
    return add_definition(communicators, rank, definition, index);
}

/* --- numbering ---------------------------------------------------------------------------------
 */

static int compare_definitions(const void *left, const void *right)
{
    const struct definition *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->local_id < b->local_id ? -1 : a->local_id > b->local_id;
}

/* Of what was told more than once, one is kept; they are sorted. */
static void drop_repetitions(struct communicators *communicators)
{
    size_t kept = 0;
    for (size_t i = 0; i < communicators->definition_count; i++) {
        if (kept == 0 || compare_definitions(&communicators->definitions[kept - 1],
                                             &communicators->definitions[i]) != 0)
            communicators->definitions[kept++] = communicators->definitions[i];
    }
    communicators->definition_count = kept;
}

static const struct definition *find_definition(const struct communicators *communicators,
                                                uint32_t rank, uint32_t local_id)
{
    struct definition wanted = {.rank = rank, .local_id = local_id};
    if (communicators->definition_count == 0)
        return NULL;
    return bsearch(&wanted, communicators->definitions, communicators->definition_count,
                   sizeof(wanted), compare_definitions);
}

/* Where each rank stands in its own list while the common order is made. */
struct queue {
    size_t next, end; /* definitions of one rank */
};

static struct communicator *definition_communicator(const struct communicators *communicators,
                                                    size_t definition)
{
    size_t index = communicators->definitions[definition].communicator;
    return index == NO_COMMUNICATOR ? NULL : &communicators->list[index];
}

/* Passes over what needs no number and counts the rank as one that has come to its next. */
static void come_to_next(const struct communicators *communicators, struct queue *queue)
{
    while (queue->next < queue->end) {
        struct communicator *communicator = definition_communicator(communicators, queue->next);
        if (communicator && !communicator->ambiguous && communicator->id < 0) {
            communicator->heads++;
            return;
        }
        queue->next++;
    }
}

static size_t make_queues(const struct communicators *communicators, struct queue *queues)
{
    size_t count = 0;
    for (size_t i = 0; i < communicators->definition_count; i++) {
        if (i == 0 || communicators->definitions[i].rank != communicators->definitions[i - 1].rank)
            queues[count++].next = i;
        queues[count - 1].end = i + 1;
    }
    return count;
}

/* The lowest rank whose next communicator all its holders have come to; if members contradict each
 * other there is none, and the lowest rank with something left goes on. count: nothing is left. */
static size_t choose(const struct communicators *communicators, const struct queue *queues,
                     size_t first, size_t count)
{
    size_t fallback = count;
    for (size_t i = first; i < count; i++) {
        if (queues[i].next == queues[i].end)
            continue;
        const struct communicator *communicator =
            definition_communicator(communicators, queues[i].next);
        if (communicator->heads >= communicator->holders)
            return i;
        if (fallback == count)
            fallback = i;
    }
    return fallback;
}

/* Moves every rank that has come to communicator on to its next. */
static void move_on(const struct communicators *communicators, struct queue *queues, size_t first,
                    size_t count, const struct communicator *communicator)
{
    size_t left = communicator->heads;
    for (size_t i = first; left > 0 && i < count; i++) {
        if (queues[i].next == queues[i].end ||
            definition_communicator(communicators, queues[i].next) != communicator)
            continue;
        left--;
        come_to_next(communicators, &queues[i]);
    }
}

static void number_in_order(struct communicators *communicators, struct queue *queues, size_t count)
{
    int64_t next_id = COMMUNICATOR_SELF + 1;
    for (size_t i = 0; i < count; i++)
        come_to_next(communicators, &queues[i]);
    for (size_t first = 0;;) {
        while (first < count && queues[first].next == queues[first].end)
            first++;
        size_t chosen = choose(communicators, queues, first, count);
        if (chosen == count)
            return;
        struct communicator *communicator =
            definition_communicator(communicators, queues[chosen].next);
        communicator->id = next_id++;
        move_on(communicators, queues, chosen, count, communicator);
    }
}

static void settle_parents(struct communicators *communicators)
{
    for (size_t i = 0; i < communicators->definition_count; i++) {
        const struct definition *definition = &communicators->definitions[i];
        struct communicator *communicator = definition_communicator(communicators, i);
        if (communicator && communicator->parent == COMMUNICATOR_UNKNOWN)
            communicator->parent =
                communicators_id(communicators, definition->rank, definition->local_parent);
    }
}

/* --- names -------------------------------------------------------------------------------------
 */

static int compare_names(const void *left, const void *right)
{
    const struct given_name *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->local_id != b->local_id)
        return a->local_id < b->local_id ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Sorts the names and keeps the last one of each rank and communicator. */
static void compact_names(struct communicators *communicators)
{
    struct given_name *names = communicators->names;
    size_t kept = 0;
    if (communicators->name_count > 1)
        qsort(names, communicators->name_count, sizeof(*names), compare_names);
    for (size_t i = 0; i < communicators->name_count; i++) {
        if (i + 1 < communicators->name_count && names[i].rank == names[i + 1].rank &&
            names[i].local_id == names[i + 1].local_id)
            free(names[i].text);
        else
            names[kept++] = names[i];
    }
    communicators->name_count = kept;
}

/* A program may name the same one again and again. */
static int make_name_room(struct communicators *communicators)
{
    if (communicators->name_count < communicators->name_room)
        return 0;
    compact_names(communicators);
    if (communicators->name_count < communicators->name_room / 2)
        return 0;
    size_t room = communicators->name_room ? 2 * communicators->name_room : 64;
    struct given_name *more = realloc(communicators->names, room * sizeof(*more));
    if (!more)
        return -1;
    communicators->names = more;
    communicators->name_room = room;
    return 0;
}

int communicators_name(struct communicators *communicators, uint32_t rank, uint32_t local_id,
                       const char *name)
{
    char *text;
    if (make_name_room(communicators) < 0 || !(text = strdup(name)))
        return -1;
    communicators->names[communicators->name_count++] = (struct given_name){
        .rank = rank, .local_id = local_id, .order = communicators->name_order++, .text = text};
    communicators->text_bytes += strlen(text);
    return 0;
}

/* The communicator that rank calls local_id, or NULL. */
static struct communicator *called(const struct communicators *communicators, uint32_t rank,
                                   uint32_t local_id)
{
    const struct definition *definition = find_definition(communicators, rank, local_id);
    if (!definition || definition->communicator == NO_COMMUNICATOR)
        return NULL;
    return &communicators->list[definition->communicator];
}

static void settle_names(struct communicators *communicators)
{
    compact_names(communicators);
    for (size_t i = 0; i < communicators->name_count; i++) {
        struct given_name *name = &communicators->names[i];
        struct communicator *communicator = called(communicators, name->rank, name->local_id);
        if (!communicator || communicator->name)
            continue;
        communicator->name = name->text;
        name->text = NULL;
    }
}

const char *communicator_name(const struct communicator *communicator)
{
    if (communicator->name)
        return communicator->name;
    return communicator->key == COMMUNICATOR_WORLD  ? "MPI_COMM_WORLD"
           : communicator->key == COMMUNICATOR_SELF ? "MPI_COMM_SELF"
                                                    : "";
}

/* --- when all is told --------------------------------------------------------------------------
 */

int communicators_settle(struct communicators *communicators)
{
    if (communicators->definition_count > 1)
        qsort(communicators->definitions, communicators->definition_count,
              sizeof(*communicators->definitions), compare_definitions);
    drop_repetitions(communicators);
    struct queue *queues = calloc(communicators->definition_count + 1, sizeof(*queues));
    if (!queues)
        return -1;
    for (size_t i = 0; i < communicators->definition_count; i++) {
        struct communicator *communicator = definition_communicator(communicators, i);
        if (communicator && communicator->key <= COMMUNICATOR_SELF)
            communicator->id = (int64_t)communicator->key;
        if (communicator)
            communicator->holders++;
    }
    number_in_order(communicators, queues, make_queues(communicators, queues));
    free(queues);
    settle_parents(communicators);
    settle_names(communicators);
    return 0;
}

int64_t communicators_id(const struct communicators *communicators, uint32_t rank, int64_t local_id)
{
    if (local_id < 0 || local_id > UINT32_MAX)
        return COMMUNICATOR_UNKNOWN;
    if (local_id <= COMMUNICATOR_SELF)
        return local_id;
    const struct communicator *communicator = communicators_find(communicators, rank, local_id);
    return communicator ? communicator->id : COMMUNICATOR_UNKNOWN;
}

int64_t communicators_handle(const struct communicators *communicators, uint32_t rank,
                             int64_t local_id)
{
    const struct definition *definition = NULL;
    if (local_id >= 0 && local_id <= UINT32_MAX)
        definition = find_definition(communicators, rank, (uint32_t)local_id);
    return definition ? (int64_t)(int32_t)definition->handle : COMMUNICATOR_UNKNOWN;
}

const struct communicator *communicators_find(const struct communicators *communicators,
                                              uint32_t rank, int64_t local_id)
{
    const struct communicator *communicator = NULL;
    if (local_id >= 0 && local_id <= UINT32_MAX)
        communicator = called(communicators, rank, (uint32_t)local_id);
    return communicator && !communicator->ambiguous ? communicator : NULL;
}

static int64_t member_at(const struct group *group, uint64_t index)
{
    return members_at(group->runs, group->run_count, index);
}

/* The group of an intercommunicator in which rank is not; NULL where that is not told. */
static const struct group *other_group(const struct communicators *communicators,
                                       const struct communicator *communicator, uint32_t rank,
                                       uint32_t local_id)
{
    const struct definition *definition = find_definition(communicators, rank, local_id);
    if (member_at(&communicator->local, definition->local_rank) == rank)
        return &communicator->remote;
    if (member_at(&communicator->remote, definition->local_rank) == rank)
        return &communicator->local;
    return NULL;
}

int64_t communicators_world_rank(const struct communicators *communicators, uint32_t rank,
                                 int64_t local_id, int64_t peer)
{
    if (local_id == COMMUNICATOR_WORLD || peer < 0)
        return peer < 0 ? COMMUNICATOR_UNKNOWN : peer;
    if (local_id == COMMUNICATOR_SELF)
        return rank;
    const struct communicator *communicator = communicators_find(communicators, rank, local_id);
    if (!communicator)
        return COMMUNICATOR_UNKNOWN;
    const struct group *group = &communicator->local;
    if (communicator->kind == COMMUNICATOR_INTER &&
        !(group = other_group(communicators, communicator, rank, (uint32_t)local_id)))
        return COMMUNICATOR_UNKNOWN;
    return member_at(group, (uint64_t)peer);
}

uint64_t communicators_memory(const struct communicators *communicators)
{
    return communicators->room * sizeof(*communicators->list) +
           communicators->definition_room * sizeof(*communicators->definitions) +
           communicators->slot_count * sizeof(*communicators->slots) +
           communicators->name_room * sizeof(*communicators->names) + communicators->text_bytes;
}

void communicators_release(struct communicators *communicators)
{
    for (size_t i = 0; i < communicators->count; i++) {
        release_group(&communicators->list[i].local);
        release_group(&communicators->list[i].remote);
        free(communicators->list[i].name);
    }
    for (size_t i = 0; i < communicators->name_count; i++)
        free(communicators->names[i].text);
    free(communicators->list);
    free(communicators->definitions);
    free(communicators->slots);
    free(communicators->names);
    *communicators = (struct communicators){0};
}
