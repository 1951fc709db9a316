/* SPDX-License-Identifier: BSD-3-Clause */
/* What a fold ends with: the index of its rows, and the tables of what has no events. */
#include <stdlib.h>
#include <string.h>

#include "merge/fold.h"
#include "merge/unrecorded.h"

enum { TAGS_ALWAYS = 64 * 1024 }; /* bytes of tags that are never too many */

static int no_memory(struct error *err)
{
    return error_set(err, "out of memory");
}

/* --- the index ---------------------------------------------------------------------------------
 */

/* Tags repeat what the label says: they are written while they do not outweigh the events. */
static void choose_tags(struct fold *fold)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < fold->row_count; i++)
        bytes += strlen(fold->regions.tags[fold->rows[i].region]);
    if (bytes > TAGS_ALWAYS && bytes / (2 * sizeof(int64_t)) > fold->events)
        return;
    for (size_t i = 0; i < fold->row_count; i++)
        fold->rows[i].tags = fold->regions.tags[fold->rows[i].region];
}

/* Leaves out rows without events, and regions without rows: the package refuses both. */
static int drop_empty(struct fold *fold, const char ***names, size_t *name_count)
{
    uint32_t *numbers = calloc(fold->regions.count + 1, sizeof(*numbers)); /* new number + 1 */
    *names = calloc(fold->regions.count + 1, sizeof(**names));
    if (!numbers || !*names) {
        free(numbers);
        return -1;
    }
    size_t kept = 0;
    *name_count = 0;
    for (size_t i = 0; i < fold->row_count; i++) {
        struct profile_row row = fold->rows[i];
        if (row.count == 0)
            continue;
        if (numbers[row.region] == 0) {
            (*names)[*name_count] = fold->regions.texts[row.region];
            numbers[row.region] = (uint32_t)++ * name_count;
        }
        row.region = numbers[row.region] - 1;
        fold->rows[kept++] = row;
    }
    fold->row_count = kept;
    free(numbers);
    return 0;
}

static int write_index(struct fold *fold, struct profile_writer *writer, struct error *err)
{
    const char **names;
    size_t name_count;
    choose_tags(fold);
    if (drop_empty(fold, &names, &name_count) < 0) {
        free(names);
        return no_memory(err);
    }
    int status = profile_writer_index(writer, names, name_count, fold->rows, fold->row_count, err);
    free(names);
    return status;
}

/* --- what is counted beside the events ---------------------------------------------------------
 */

/* Adds up the polls of all threads by what they were. */
static int sum_polls(const struct rank *rank, struct tally *polls)
{
    for (size_t i = 0; i < rank->thread_count; i++) {
        const struct thread *thread = &rank->threads[i];
        for (size_t j = 0; j < thread->call_count; j++) {
            const struct call *call = &thread->calls[j];
            struct tally_row row = {.rank = rank->header.rank,
                                    .region = call->region,
                                    .count = call->polls,
                                    .ns = call->polls_ns};
            if (call->polls > 0 && tally_add(polls, &row) < 0)
                return -1;
        }
    }
    return 0;
}

static int sum_unrecorded(const struct rank *rank, struct tally *tally)
{
    const struct unrecorded *unrecorded = rank->unrecorded;
    for (size_t i = 0; unrecorded && i < unrecorded->count; i++) {
        const struct unrecorded_call *from = &unrecorded->calls[i];
        struct tally_row row = {.rank = rank->header.rank,
                                .region = from->call.region,
                                .count = from->call.count,
                                .ns = from->ns};
        if (tally_add(tally, &row) < 0)
            return -1;
    }
    return 0;
}

/* Writes what sum counts in all ranks, if it is anything. */
static int write_counted(const struct fold *fold, struct profile_writer *writer,
                         int (*sum)(const struct rank *rank, struct tally *tally),
                         int (*write)(struct profile_writer *writer,
                                      const struct profile_counted *rows, size_t count,
                                      struct error *err),
                         struct error *err)
{
    struct tally tally = {0};
    struct profile_counted *rows = NULL;
    int status = 0;
    for (size_t i = 0; status == 0 && i < fold->rank_count; i++)
        status = sum(&fold->ranks[i], &tally);
    tally_settle(&tally);
    if (status < 0 || !(rows = calloc(tally.count + 1, sizeof(*rows))))
        status = no_memory(err);
    for (size_t i = 0; status == 0 && i < tally.count; i++)
        rows[i] = (struct profile_counted){.rank = tally.rows[i].rank,
                                           .region = fold->regions.texts[tally.rows[i].region],
                                           .count = tally.rows[i].count,
                                           .ns = tally.rows[i].ns};
    if (status == 0 && tally.count > 0)
        status = write(writer, rows, tally.count, err);
    free(rows);
    tally_release(&tally);
    return status;
}

static int write_failed(const struct fold *fold, struct profile_writer *writer, struct error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < fold->rank_count; i++) {
        tally_settle(&fold->ranks[i].failures);
        count += fold->ranks[i].failures.count;
    }
    if (count == 0)
        return 0;
    struct profile_failed *rows = calloc(count, sizeof(*rows));
    if (!rows)
        return no_memory(err);
    count = 0;
    for (size_t i = 0; i < fold->rank_count; i++) {
        const struct tally *from = &fold->ranks[i].failures;
        for (size_t j = 0; j < from->count; j++)
            rows[count++] =
                (struct profile_failed){.rank = from->rows[j].rank,
                                        .region = fold->regions.texts[from->rows[j].region],
                                        .error_class = from->rows[j].error_class,
                                        .count = from->rows[j].count};
    }
    int status = profile_writer_failed(writer, rows, count, err);
    free(rows);
    return status;
}

int fold_finish(struct fold *fold, struct profile_writer *writer, struct error *err)
{
    if (write_index(fold, writer, err) < 0 ||
        write_counted(fold, writer, sum_polls, profile_writer_polls, err) < 0 ||
        write_counted(fold, writer, sum_unrecorded, profile_writer_unrecorded, err) < 0)
        return -1;
    return write_failed(fold, writer, err);
}
