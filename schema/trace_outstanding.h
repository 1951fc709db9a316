/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that a rank has outstanding, as its trace tells: started, and not given back yet.
 *
 * MPI gives a request back when a call that completes it returns. One that a call in flight waits
 * for may have completed before, among others that have not: that is seen only where MPI gave it
 * the handle of all that complete at once.
 */
#ifndef SCOPE_TRACE_OUTSTANDING_H
#define SCOPE_TRACE_OUTSTANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/trace_reader.h"

/* Requests of which the same is told. */
struct trace_outstanding {
    struct trace_operation operation; /* that started them; name "unknown" */
    int64_t bytes;
    int32_t peer, tag, communicator; /* as in struct trace_signature */
    bool is_waited;                  /* in the array of a call in flight */
    bool has_completed;              /* MPI is known to have nothing to do for them any more */
    bool is_persistent;              /* they need not have been started */
    uint64_t count;
};

enum { TRACE_OUTSTANDING_MAX = 256 };

struct trace_outstanding_list {
    struct trace_outstanding rows[TRACE_OUTSTANDING_MAX]; /* in the order of interest */
    size_t count;
    uint64_t others;    /* requests that no row has */
    bool is_incomplete; /* there may be more: the trace has no room for them, or is written late */
    bool has_moved_on;  /* calls ended while this was read: what is waited for may be wrong */
};

/* Reads the list for the calls in flight as of open. A request that was being started or given back
 * when the rank died, or is while this reads, may be missing, twice there, or wrong. Returns 0, or
 * -1 if memory is out. */
int trace_outstanding_read(struct trace_reader *reader, struct trace_outstanding_list *list);

#endif
