/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks of a world are folded into a file, several at a time. */
#include "merge/folding.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge/workers.h"

enum {
    ROW_BYTES = 256,  /* of the index, for each row */
    EVENT_BYTES = 16, /* start and duration */
};

/* Ranks whose events are compressed together; uncompressed ones are all in one batch. */
struct batch {
    struct folding *folding;
    size_t first_rank;
    struct profile_packed *packed; /* chunks */
    bool is_too_large;
};

/* --- the file ----------------------------------------------------------------------------------
 */

/* Begins the file, with room for events if it is to have any. */
static int begin_file(struct folding *folding, struct error *err)
{
    const struct fold *fold = folding->fold;
    if (profile_writer_create(&folding->writer, folding->path, &folding->form, err) < 0)
        return -1;
    if (folding->form.is_aggregate ||
        profile_writer_reserve(folding->writer, fold->events, fold->lanes, err) == 0)
        return 0;
    profile_writer_discard(folding->writer);
    folding->writer = NULL;
    return -1;
}

/* The file so far goes, and one for statistics alone is begun. */
static int begin_again(struct folding *folding, struct error *err)
{
    profile_writer_discard(folding->writer);
    folding->writer = NULL;
    folding->form.is_aggregate = true;
    if (unlink(folding->path) < 0)
        return error_set(err, "cannot remove %s: %s", folding->path, strerror(errno));
    return begin_file(folding, err);
}

/* Whether the file becomes larger than it may be, with the events kept so far. */
static bool is_too_large(const struct folding *folding)
{
    return folding->most_bytes > 0 &&
           profile_writer_event_bytes(folding->writer) + folding->fold->row_count * ROW_BYTES >
               folding->most_bytes;
}

static bool is_compressed(const struct folding *folding)
{
    return !folding->form.is_aggregate &&
           profile_writer_batch_limit(folding->writer) != UINT64_MAX;
}

/* --- ranks -------------------------------------------------------------------------------------
 */

static int fold_one(void *context, size_t item, struct error *err)
{
    const struct batch *batch = context;
    const struct folding *folding = batch->folding;
    /* What takes time is to compress, if that is done. */
    return fold_rank(folding->fold, batch->first_rank + item, folding->dirfd,
                     folding->form.is_aggregate ? NULL : folding->writer,
                     is_compressed(folding) ? NULL : folding->progress, err);
}

static int tell_lost(void *context, size_t item, struct error *err)
{
    const struct batch *batch = context;
    const struct folding *folding = batch->folding;
    const struct rank *rank = &folding->fold->ranks[batch->first_rank + item];
    (void)err;
    progress_rank(folding->progress, rank->events);
    if (rank->reopening)
        losses_add(folding->losses, "rank %" PRIu32 ": its trace could not be opened again: %s",
                   rank->header.rank, rank->reopening);
    else if (rank->lost > 0)
        losses_add(folding->losses, "rank %" PRIu32 ": its trace changed while it was read",
                   rank->header.rank);
    return 0;
}

/* The event that follows those of a rank. */
static uint64_t events_end(const struct fold *fold, size_t rank)
{
    size_t row = fold->first_rows[rank + 1];
    return row < fold->row_count ? fold->rows[row].first : fold->events;
}

/* How many ranks from first on make a batch: as many as fit the memory, one at least. */
static size_t choose_ranks(const struct folding *folding, size_t first)
{
    const struct fold *fold = folding->fold;
    uint64_t limit = folding->form.is_aggregate ? UINT64_MAX
                                                : profile_writer_batch_limit(folding->writer);
    size_t end = first + 1;
    while (end < fold->rank_count && events_end(fold, end) <= limit)
        end++;
    return end - first;
}

/* --- chunks ------------------------------------------------------------------------------------
 */

static int pack_one(void *context, size_t chunk, struct error *err)
{
    const struct batch *batch = context;
    return profile_writer_pack(batch->folding->writer, chunk, &batch->packed[chunk], err);
}

static int keep_one(void *context, size_t chunk, struct error *err)
{
    struct batch *batch = context;
    struct folding *folding = batch->folding;
    batch->is_too_large = batch->is_too_large || is_too_large(folding);
    progress_advance(folding->progress, profile_writer_chunk_events(folding->writer));
    if (!batch->is_too_large)
        return profile_writer_keep(folding->writer, chunk, &batch->packed[chunk], err);
    profile_writer_drop(&batch->packed[chunk]);
    return 0;
}

static int write_chunks(struct batch *batch, struct error *err)
{
    struct folding *folding = batch->folding;
    const struct workers workers = {.threads = folding->fold->threads,
                                    .context = batch,
                                    .work = pack_one,
                                    .join = keep_one};
    uint64_t count = folding->form.is_aggregate ? 0 : profile_writer_chunks(folding->writer);
    if (count == 0)
        return 0;
    batch->packed = calloc(count, sizeof(*batch->packed));
    if (!batch->packed)
        return error_set(err, "out of memory");
    int status = workers_run(&workers, count, err);
    for (uint64_t i = 0; i < count; i++)
        profile_writer_drop(&batch->packed[i]);
    free(batch->packed);
    return status;
}

/* --- batches -----------------------------------------------------------------------------------
 */

static int fold_batch(struct folding *folding, size_t first, size_t count, struct error *err)
{
    struct batch batch = {.folding = folding, .first_rank = first};
    const struct workers workers = {.threads = folding->fold->threads,
                                    .context = &batch,
                                    .work = fold_one,
                                    .join = tell_lost};
    if (!folding->form.is_aggregate &&
        profile_writer_batch(folding->writer, events_end(folding->fold, first + count - 1), err) <
            0)
        return -1;
    if (workers_run(&workers, count, err) < 0 || write_chunks(&batch, err) < 0)
        return -1;
    return batch.is_too_large ? begin_again(folding, err) : 0;
}

static int fold_all(struct folding *folding, struct error *err)
{
    size_t first = 0, count = folding->fold->rank_count;
    progress_phase(folding->progress, "writing", folding->fold->events, EVENT_BYTES);
    if (!folding->form.is_aggregate && is_too_large(folding) && begin_again(folding, err) < 0)
        return -1;
    while (first < count) {
        size_t ranks = choose_ranks(folding, first);
        if (fold_batch(folding, first, ranks, err) < 0)
            return -1;
        first += ranks;
    }
    return fold_finish(folding->fold, folding->writer, err);
}

int folding_run(struct folding *folding, struct error *err)
{
    if (begin_file(folding, err) < 0)
        return -1;
    if (fold_all(folding, err) == 0)
        return 0;
    if (folding->writer)
        profile_writer_discard(folding->writer);
    folding->writer = NULL;
    return -1;
}
