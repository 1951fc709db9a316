/* SPDX-License-Identifier: BSD-3-Clause */
/* What LIKWID counted in the ranks of a world becomes a part of its profile. */
#ifndef SCOPE_MERGE_LIKWID_H
#define SCOPE_MERGE_LIKWID_H

#include <stddef.h>
#include <stdint.h>

#include "merge/likwid_read.h"
#include "schema/error.h"
#include "schema/profile_writer.h"
#include "schema/rank_groups.h"

struct likwid_input {
    int dirfd; /* of the ranks' traces */
    size_t rank_count;
    void (*describe)(const void *context, size_t index, uint32_t *number, int *host);
    const void *context;
    struct likwid_reader *reader;
};

/* Writes /rank<N>/likwid from the files beside the traces. A rank that was not to be counted has
 * none of them, and gets no group. describe tells the ranks' numbers, ascending, and who shares a
 * host: a number, the same for all that do. Adds to missing the ranks of which not all is there,
 * and why. Returns 0, or -1 and err: memory, or what cannot be written. */
int likwid_write(const struct likwid_input *input, struct profile_writer *writer,
                 struct rank_groups *missing, struct error *err);

#endif
