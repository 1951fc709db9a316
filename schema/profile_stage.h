/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that wait to be compressed, batch by batch: in memory, or in a file without a name where
 * they are too many.
 *
 * A batch goes on where the one before it ended. Chunks are taken out of it whole: what a batch
 * leaves of its last one is the beginning of the next batch. All functions that return int return
 * 0, or -1 and err.
 */
#ifndef SCOPE_PROFILE_STAGE_H
#define SCOPE_PROFILE_STAGE_H

#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"

struct profile_stage {
    const char *path; /* of the profile: a file without a name is beside it */
    size_t columns;
    uint64_t chunk;      /* events */
    uint64_t room;       /* events in memory */
    int64_t *memory;     /* column after column, each of room */
    int64_t *rest;       /* likewise what the last batch left, each of chunk */
    uint64_t first, end; /* events of the batch, from the beginning of a chunk on */
    int fd;              /* where they wait; -1: in memory */
};

/* bytes: how much memory a batch may take. */
int profile_stage_begin(struct profile_stage *stage, const char *path, size_t columns,
                        uint64_t chunk, uint64_t bytes, struct error *err);

/* Begins the next batch, which ends before event number end. Events not put are zero. */
int profile_stage_batch(struct profile_stage *stage, uint64_t end, struct error *err);

/* Events of the batch, from number first on. Threads may access different ones at once. */
int profile_stage_put(const struct profile_stage *stage, size_t column, uint64_t first,
                      size_t count, const int64_t *values, struct error *err);
int profile_stage_get(const struct profile_stage *stage, size_t column, uint64_t first,
                      size_t count, int64_t *values, struct error *err);

void profile_stage_end(struct profile_stage *stage);

#endif
