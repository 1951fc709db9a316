/* SPDX-License-Identifier: BSD-3-Clause */
/* The times in which a rank recorded nothing, from what its threads told of pauses. */
#include "merge/pauses.h"

#include <stdlib.h>

enum { ROOM_MIN = 16, MANY = 1 << 16 };

int pauses_add(struct pauses *pauses, bool paused, uint64_t ticks)
{
    if (pauses->count == pauses->room) {
        size_t room = pauses->room ? 2 * pauses->room : ROOM_MIN;
        struct toggle *toggles = realloc(pauses->toggles, room * sizeof(*toggles));
        if (!toggles)
            return -1;
        pauses->toggles = toggles;
        pauses->room = room;
    }
    pauses->toggles[pauses->count] =
        (struct toggle){.ticks = ticks, .paused = paused, .order = pauses->count};
    pauses->count++;
    return 0;
}

bool pauses_are_many(const struct pauses *pauses)
{
    return pauses->count >= MANY;
}

static int compare_toggles(const void *left, const void *right)
{
    const struct toggle *a = left, *b = right;
    if (a->ticks != b->ticks)
        return a->ticks < b->ticks ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

bool pauses_take(struct pauses *pauses, uint64_t *start, uint64_t *end)
{
    if (pauses->next == 0 && pauses->count > 1)
        qsort(pauses->toggles, pauses->count, sizeof(*pauses->toggles), compare_toggles);
    while (pauses->next < pauses->count) {
        const struct toggle *toggle = &pauses->toggles[pauses->next++];
        bool was_paused = pauses->is_paused;
        pauses->is_paused = toggle->paused;
        if (!was_paused)
            pauses->since = toggle->ticks;
        if (!was_paused || toggle->paused || toggle->ticks < pauses->since)
            continue;
        *start = pauses->since;
        *end = toggle->ticks;
        return true;
    }
    pauses->count = pauses->next = 0;
    return false;
}

void pauses_release(struct pauses *pauses)
{
    free(pauses->toggles);
    *pauses = (struct pauses){0};
}
