/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted by rank and region beside the events: polls, failed and unrecorded calls. */
#include "merge/tally.h"

#include <stdlib.h>

#include "schema/profile_row.h"

enum { ROOM_MIN = 64 };

static int compare_rows(const void *left, const void *right)
{
    const struct tally_row *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->region != b->region)
        return a->region < b->region ? -1 : 1;
    return a->error_class < b->error_class ? -1 : a->error_class > b->error_class;
}

void tally_settle(struct tally *tally)
{
    size_t kept = 0;
    if (tally->count > 1)
        qsort(tally->rows, tally->count, sizeof(*tally->rows), compare_rows);
    for (size_t i = 0; i < tally->count; i++) {
        const struct tally_row *row = &tally->rows[i];
        if (kept == 0 || compare_rows(&tally->rows[kept - 1], row) != 0) {
            tally->rows[kept++] = *row;
            continue;
        }
        tally->rows[kept - 1].count += row->count;
        tally->rows[kept - 1].ns = profile_add(tally->rows[kept - 1].ns, row->ns);
    }
    tally->count = kept;
}

static int make_room(struct tally *tally)
{
    if (tally->count < tally->room)
        return 0;
    tally_settle(tally);
    if (tally->count < tally->room / 2)
        return 0;
    size_t room = tally->room ? 2 * tally->room : ROOM_MIN;
    struct tally_row *rows = realloc(tally->rows, room * sizeof(*rows));
    if (!rows)
        return -1;
    tally->rows = rows;
    tally->room = room;
    return 0;
}

int tally_add(struct tally *tally, const struct tally_row *row)
{
    if (make_room(tally) < 0)
        return -1;
    tally->rows[tally->count++] = *row;
    return 0;
}

void tally_release(struct tally *tally)
{
    free(tally->rows);
    *tally = (struct tally){0};
}
