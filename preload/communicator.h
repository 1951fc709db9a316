/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of this process: from MPI's handles to ids and job-wide keys.
 *
 * A key is computed without any message: all members of a new communicator know its parent's key,
 * how many communicators the parent had made before, and the first member's rank in the world.
 */
#ifndef SCOPE_COMMUNICATOR_H
#define SCOPE_COMMUNICATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/trace_format.h"

struct communicator {
    struct trace_communicator facts; /* facts.runs is owned by this */
    uint64_t handle;                 /* MPI's own, as a number */
    uint32_t peers;        /* ranks a call can address: the remote group of an intercommunicator */
    int32_t neighbors;     /* destinations in its topology; -1: not asked yet */
    uint32_t creations;    /* collective creations on it so far */
    bool foreign;          /* some of its members are of another world */
    uint32_t remote_first; /* of an intercommunicator, as in the answer */
    uint64_t remote_hash;
    size_t run_room; /* bytes behind facts.runs */
    struct communicator *next_free;
};

/* What only the MPI library can tell about a communicator; filled in by a family's wrappers. */
struct communicator_answer {
    uint32_t kind; /* enum trace_communicator_kind */
    uint32_t rank, size, peers;
    uint64_t fortran_handle;
    struct trace_rank_run
        *runs; /* pages_take memory of run_room bytes, handed over; NULL if none */
    size_t run_room;
    uint32_t run_count;    /* 0: the members cannot be told */
    bool foreign;          /* some of its members are of another world */
    uint32_t remote_first; /* first world rank of the remote group, where remote_hash is not 0 */
    uint64_t remote_hash;  /* communicator_hash_runs of the remote group; 0: not known */
};

enum { COMMUNICATOR_WORLD = 0, COMMUNICATOR_SELF = 1, COMMUNICATOR_OTHERS = 2 };

/* Adds MPI_COMM_WORLD or MPI_COMM_SELF, which the id tells; returns NULL when memory is out. */
struct communicator *communicator_add_predefined(uint64_t handle, uint32_t id,
                                                 const struct communicator_answer *answer);

/* Counts a collective creation on parent (all of its members do, whatever they get back) and
 * returns its number; parent may be NULL. */
uint32_t communicator_count_creation(struct communicator *parent);

/* Adds a communicator made by the creation with that number on parent, or, with parent NULL, one of
 * unknown origin, whose key is 0. Takes over answer->runs. NULL when memory is out. */
struct communicator *communicator_add(uint64_t handle, struct communicator *parent,
                                      uint32_t creation, const struct communicator_answer *answer);

/* Adds a communicator whose creation was collective over itself: its key is made of its members and
 * the tag (tag_hash; 0: no key). parent may be NULL. As communicator_add else. */
struct communicator *communicator_add_joined(uint64_t handle, const struct communicator *parent,
                                             uint64_t tag_hash,
                                             const struct communicator_answer *answer);

/* Lets the handle of a window or file, which was made on the communicator, lead to the same facts,
 * also when the communicator itself was freed. */
void communicator_add_owned(uint64_t handle, const struct communicator *on);

/* Adds the communicator to those who spawned this world. As communicator_add else. */
struct communicator *communicator_add_parent(uint64_t handle,
                                             const struct communicator_answer *answer);

/* The communicator behind a handle, or NULL. */
struct communicator *communicator_find(uint64_t handle);

/* Forgets a handle that MPI has freed, of whatever kind. */
void communicator_forget(uint64_t handle);

/* Hashes that are the same in every process; never 0. */
uint64_t communicator_hash(const void *bytes, size_t size);
uint64_t communicator_hash_runs(const struct trace_rank_run *runs, uint32_t count);

/* Packs ranks[count] into runs of equal stride. Returns the number of runs written, at most count.
 */
uint32_t communicator_runs(const int *ranks, uint32_t count, struct trace_rank_run *runs);

/* In the child of fork(): whoever held the table's lock is not there. */
void communicator_forked(void);

#endif
