/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts, each kept once and known by a dense number. */
#include "merge/names.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 64 };

static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash ^ hash >> 32;
}

/* The slot where text is, or the free one where it belongs. */
static uint32_t *find_slot(const struct names *names, const char *text)
{
    size_t mask = names->slot_count - 1, i = hash_text(text) & mask;
    while (names->slots[i] && strcmp(names->texts[names->slots[i] - 1], text) != 0)
        i = (i + 1) & mask;
    return &names->slots[i];
}

/* Keeps at least half of the slots free. */
static int grow(struct names *names)
{
    if (names->count == names->room) {
        size_t room = names->room ? 2 * names->room : SLOTS_MIN / 2;
        char **texts = realloc(names->texts, room * sizeof(*texts));
        if (!texts)
            return -1;
        names->texts = texts;
        names->room = room;
    }
    if (names->slot_count >= 2 * (names->count + 1))
        return 0;
    size_t count = names->slot_count ? 2 * names->slot_count : SLOTS_MIN;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return -1;
    free(names->slots);
    names->slots = slots;
    names->slot_count = count;
    for (size_t i = 0; i < names->count; i++)
        *find_slot(names, names->texts[i]) = (uint32_t)i + 1;
    return 0;
}

int64_t names_intern(struct names *names, const char *text)
{
    if (names->count >= UINT32_MAX - 1 || grow(names) < 0)
        return NAMES_NONE;
    uint32_t *slot = find_slot(names, text);
    if (*slot)
        return *slot - 1;
    char *copy = strdup(text);
    if (!copy)
        return NAMES_NONE;
    names->texts[names->count] = copy;
    *slot = (uint32_t)++names->count;
    return *slot - 1;
}

void names_release(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->texts[i]);
    free(names->texts);
    free(names->slots);
    *names = (struct names){0};
}
