/* SPDX-License-Identifier: BSD-3-Clause */
/* Job-wide numbers for communicators, from what each rank calls them. */
#ifndef SCOPE_COMMUNICATORS_H
#define SCOPE_COMMUNICATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/trace_format.h"

enum { COMMUNICATOR_WORLD = 0, COMMUNICATOR_SELF = 1, COMMUNICATOR_UNKNOWN = -1 };

/* A group of processes. */
struct group {
    uint32_t size;
    uint64_t hash;
    char *members; /* world ranks, "0-3,8-14:2"; "" where they cannot be told; NULL: no group */
    struct trace_rank_run *runs; /* the same */
    uint32_t run_count;
};

/* A communicator, known by the key that all its members computed alike. */
struct communicator {
    uint64_t key;          /* of MPI_COMM_WORLD and _SELF: their number */
    uint64_t recorded_key; /* as the trace has it */
    uint32_t kind;         /* as the first member told */
    struct group local;    /* of the lowest rank that told */
    struct group remote;   /* of an intercommunicator: what members of the other group told */
    int64_t id;            /* job-wide, once settled */
    int64_t parent;        /* job-wide, once settled */
    char *name;            /* that the program gave it, once settled; NULL: none */
    bool ambiguous;        /* members disagree: it is nobody's */
    uint32_t last_rank, last_local_id; /* who added it, and what it is called there */
    size_t holders, heads;
};

/* What one rank calls a communicator. */
struct definition {
    uint32_t rank;
    uint32_t local_id, local_rank;
    int32_t local_parent;
    uint64_t handle;
    size_t communicator; /* index; NO_COMMUNICATOR: the key is not known */
};
#define NO_COMMUNICATOR SIZE_MAX

/* What one rank named a communicator. */
struct given_name {
    uint32_t rank, local_id;
    size_t order; /* the last one holds */
    char *text;
};

/* Zero-initialise. Ranks add theirs one rank after the other, in the order of local ids. */
struct communicators {
    struct communicator *list;
    size_t count, room;
    struct definition *definitions; /* rank by rank */
    size_t definition_count, definition_room;
    size_t *slots; /* index + 1 by key */
    size_t slot_count;
    struct given_name *names;
    size_t name_count, name_room, name_order;
    uint64_t text_bytes; /* of names and groups */
};

/* Adds what a rank defines; each of its threads may define the same again. Returns 0, or -1 if
 * memory is out. */
int communicators_add(struct communicators *communicators, uint32_t rank,
                      const struct trace_communicator *definition);

/* Notes the name that a rank gave what it calls local_id. Returns 0, or -1 if memory is out. */
int communicators_name(struct communicators *communicators, uint32_t rank, uint32_t local_id,
                       const char *name);

/* Numbers them: 0 and 1 are MPI_COMM_WORLD and MPI_COMM_SELF, the others follow in an order in
 * which every rank's own order of creation is kept; where that leaves a choice, the communicator of
 * the lowest rank comes first. So the numbers do not depend on timing. Of several names the lowest
 * rank's last one holds. Returns 0, or -1 if memory is out. */
int communicators_settle(struct communicators *communicators);

/* The Fortran handle of what rank calls local_id, or COMMUNICATOR_UNKNOWN. */
int64_t communicators_handle(const struct communicators *communicators, uint32_t rank,
                             int64_t local_id);

/* The job-wide number of what rank calls local_id, or COMMUNICATOR_UNKNOWN. */
int64_t communicators_id(const struct communicators *communicators, uint32_t rank,
                         int64_t local_id);

/* What rank calls local_id, once settled; NULL where that is not known, or ambiguous. */
const struct communicator *communicators_find(const struct communicators *communicators,
                                              uint32_t rank, int64_t local_id);

/* The rank in MPI_COMM_WORLD of what rank knows as peer in its local_id (in an intercommunicator: of
 * the other group), once settled; -1 where that is not known. */
int64_t communicators_world_rank(const struct communicators *communicators, uint32_t rank,
                                 int64_t local_id, int64_t peer);

/* What a communicator is called, as MPI_Comm_get_name would have it on the lowest rank that named
 * it; "" if it has no name. Valid after communicators_settle. */
const char *communicator_name(const struct communicator *communicator);

/* The bytes that they take. */
uint64_t communicators_memory(const struct communicators *communicators);

void communicators_release(struct communicators *communicators);

#endif
