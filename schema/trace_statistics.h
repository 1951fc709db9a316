/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts calls that a trace has no more room for, in the area that was reserved for them.
 *
 * Safe from several threads, and valid at every instant like the rest of the trace. No function
 * here calls the system.
 */
#ifndef SCOPE_TRACE_STATISTICS_H
#define SCOPE_TRACE_STATISTICS_H

#include <stdint.h>

#include "schema/lock.h"
#include "schema/mpi_kind.h"
#include "schema/trace_format.h"

enum { TRACE_STATISTICS_INDEX = 8192 };

/* Where the writer finds what is counted already; zeroed at first. One for each area. */
struct trace_statistics_index {
    lock_t lock; /* over both */
    uint16_t places[TRACE_STATISTICS_INDEX]; /* by hash: place + 1 */
};

/* An operation as the caller knows it: equal names are the same. */
struct counted_operation {
    enum mpi_kind kind;
    const char *name;
};

/* The place (from 0) where calls of this signature are counted; made if there is none. origin: the
 * operation that made the request waited for, where signature->origin is neither ORIGIN_NONE nor
 * ORIGIN_UNKNOWN nor ORIGIN_MIXED; else not looked at. When the area is nearly full, the operation
 * alone is told; -1 when it is full. */
int trace_statistics_place(struct trace_statistics *area, struct trace_statistics_index *index,
                           const struct trace_signature *signature,
                           const struct counted_operation *operation,
                           const struct counted_operation *origin);

/* Counts one call of ticks there. */
static inline void trace_statistics_add(struct trace_statistics *area, int place, uint64_t ticks)
{
    __atomic_fetch_add(&area->counted[place].count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&area->counted[place].ticks, ticks, __ATOMIC_RELAXED);
}

#endif
