/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that a rank has outstanding, in words. */
#ifndef SCOPE_OUTSTANDING_H
#define SCOPE_OUTSTANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/communicators.h"
#include "schema/trace_outstanding.h"

struct outstanding_row {
    struct trace_outstanding is;
    int64_t communicator; /* job-wide once settled, the rank's own number before */
    int64_t world_peer;   /* the peer's rank in MPI_COMM_WORLD; -1: not known */
};

/* As of struct trace_outstanding_list. */
struct outstanding {
    size_t count;
    uint64_t others;
    bool is_incomplete, has_moved_on;
    struct outstanding_row rows[];
};

/* Reads what the rank has outstanding, to be freed by the caller; NULL where there is nothing.
 * Returns 0, or -1 if memory is out. */
int outstanding_read(struct outstanding **outstanding, struct trace_reader *reader);

/* Gives the rows job-wide numbers of communicators, once those are settled. NULL is fine. */
void outstanding_settle(struct outstanding *outstanding, const struct communicators *communicators,
                        uint32_t rank);

/* Returns "irecv from 1 (tag 7), 2 x isend to 3 (tag 9), 5 others, beside 3 that have completed", to
 * be freed; NULL if memory is out. Where it is known what calls in flight wait for, that alone is
 * told. "" if there is nothing to tell; outstanding may be NULL. */
char *outstanding_text(const struct outstanding *outstanding);

/* Whether a call whose label has this request (NULL: none) has told what it waits for. */
bool outstanding_is_told(const char *request);

#endif
