/* SPDX-License-Identifier: BSD-3-Clause */
/* The second pass: calls become rows of the profile, and events in them.
 *
 * First all rows are planned from the counts of the first pass, so that every row has its place
 * among the events; then each rank's trace is streamed into those places through buffers whose sum
 * is bounded. Nothing here is shared between ranks but what is only read after planning.
 */
#ifndef SCOPE_FOLD_H
#define SCOPE_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/labels.h"
#include "merge/progress.h"
#include "merge/rank.h"
#include "merge/regions.h"
#include "schema/error.h"
#include "schema/profile_writer.h"

/* Zero-initialise, set the first block, plan, fold each rank, finish. */
struct fold {
    struct rank *ranks; /* usable ones and others */
    size_t rank_count;
    const struct vocabulary *vocabulary; /* its communicators settled */
    unsigned threads;    /* that fold ranks: they share the buffers */
    uint64_t memory;     /* bytes that rows and names may take; buffers get a share of it besides */
    bool is_too_large;   /* set where planning ends for that */
    bool is_absolute;    /* events are written with start and end, as in schema 2 */
    bool has_handles;    /* labels tell communicators by their Fortran handles */
    enum labels labels; /* LABELS_AUTO becomes what was chosen */

    struct regions regions;
    struct profile_row *rows;
    size_t row_count, row_room;
    size_t *first_rows; /* of each rank; rank_count + 1 of them */
    uint64_t events;
    bool lanes; /* some rank has more than one thread */
};

/* Names the regions and lays out rows and events. Returns 0, or -1 and err (memory). */
int fold_plan(struct fold *fold, struct error *err);

/* Streams the trace dirfd/ranks[number].file into the writer's events and its rows' statistics, and
 * counts in the rank what has no event of its own: polls, failures, pauses. Without a writer (NULL)
 * there are statistics alone. progress (NULL: none) advances by the events read.
 * Different ranks may be folded at once. Returns 0, or -1 and err: what cannot be written, or
 * memory. */
int fold_rank(struct fold *fold, size_t number, int dirfd, struct profile_writer *writer,
              struct progress *progress, struct error *err);

/* Drops rows that came out empty, writes the index, and the tables of polls, unrecorded and failed
 * calls if there were any. Returns 0, or -1 and err. */
int fold_finish(struct fold *fold, struct profile_writer *writer, struct error *err);

void fold_release(struct fold *fold);

#endif
