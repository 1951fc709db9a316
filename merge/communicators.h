/* SPDX-License-Identifier: BSD-3-Clause */
/* Job-wide numbers for communicators, from what each rank calls them. */
#ifndef SCOPE_COMMUNICATORS_H
#define SCOPE_COMMUNICATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/trace_format.h"

enum { COMMUNICATOR_WORLD = 0, COMMUNICATOR_SELF = 1, COMMUNICATOR_UNKNOWN = -1 };

/* A communicator, known by the key that all its members computed alike. */
struct communicator {
    uint64_t key;          /* of MPI_COMM_WORLD and _SELF: their number */
    uint64_t recorded_key; /* as the trace has it */
    uint32_t kind, size;   /* as the first member told */
    uint64_t member_hash;
    char *members;      /* world ranks, "0-3,8-14:2" */
    int64_t id;         /* job-wide, once settled */
    int64_t parent;     /* job-wide, once settled */
    bool ambiguous;     /* members disagree: it is nobody's */
    uint32_t last_rank; /* that added it: the same one twice is a contradiction */
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

/* Zero-initialise. Ranks add theirs one rank after the other, in the order of local ids. */
struct communicators {
    struct communicator *list;
    size_t count, room;
    struct definition *definitions; /* rank by rank */
    size_t definition_count, definition_room;
    size_t *slots; /* index + 1 by key */
    size_t slot_count;
};

/* Adds what a rank defines. Returns 0, or -1 if memory is out. */
int communicators_add(struct communicators *communicators, uint32_t rank,
                      const struct trace_communicator *definition);

/* Numbers them: 0 and 1 are MPI_COMM_WORLD and MPI_COMM_SELF, the others follow in an order in
 * which every rank's own order of creation is kept; where that leaves a choice, the communicator of
 * the lowest rank comes first. So the numbers do not depend on timing. Returns 0, or -1 if memory
 * is out. */
int communicators_settle(struct communicators *communicators);

/* The job-wide number of what rank calls local_id, or COMMUNICATOR_UNKNOWN. */
int64_t communicators_id(const struct communicators *communicators, uint32_t rank,
                         int64_t local_id);

void communicators_release(struct communicators *communicators);

#endif
