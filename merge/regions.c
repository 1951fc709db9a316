/* SPDX-License-Identifier: BSD-3-Clause */
/* The regions of a profile: each label kept once and known by a dense number. */
#include "merge/regions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "merge/workers.h"

enum { SLOTS_MIN = 64, NAMED_AT_ONCE = 1024 };

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t hash_label(const struct region_label *label)
{
    uint64_t hash = mix((uintptr_t)label->operation, (uintptr_t)label->request);
    hash = mix(hash, (uint64_t)label->kind);
    hash = mix(hash, (uint64_t)label->bytes);
    hash = mix(hash, (uint64_t)label->peer);
    hash = mix(hash, (uint64_t)label->root);
    hash = mix(hash, (uint64_t)label->tag);
    return mix(hash, (uint64_t)label->communicator);
}

static bool is_equal(const struct region_label *x, const struct region_label *y)
{
    return x->operation == y->operation && x->request == y->request && x->kind == y->kind &&
           x->bytes == y->bytes && x->peer == y->peer && x->root == y->root && x->tag == y->tag &&
           x->communicator == y->communicator;
}

/* The slot where the label is, or the free one where it belongs. */
static uint32_t *find_slot(const struct regions *regions, const struct region_label *label)
{
    size_t mask = regions->slot_count - 1, i = hash_label(label) & mask;
    while (regions->slots[i] && !is_equal(&regions->labels[regions->slots[i] - 1], label))
        i = (i + 1) & mask;
    return &regions->slots[i];
}

/* Makes room for one more, and keeps at least half of the slots free. */
static int grow(struct regions *regions)
{
    if (regions->count == regions->room) {
        size_t room = regions->room ? 2 * regions->room : SLOTS_MIN / 2;
        struct region_label *labels = realloc(regions->labels, room * sizeof(*labels));
        if (!labels)
            return -1;
        regions->labels = labels;
        regions->room = room;
    }
    if (regions->slot_count >= 2 * (regions->count + 1))
        return 0;
    size_t count = regions->slot_count ? 2 * regions->slot_count : SLOTS_MIN;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return -1;
    free(regions->slots);
    regions->slots = slots;
    regions->slot_count = count;
    for (size_t i = 0; i < regions->count; i++)
        *find_slot(regions, &regions->labels[i]) = (uint32_t)i + 1;
    return 0;
}

int64_t regions_intern(struct regions *regions, const struct region_label *label)
{
    static const struct region_label session = {.operation = NULL};
    if (regions->count >= UINT32_MAX - 1 || grow(regions) < 0)
        return -1;
    label = label ? label : &session;
    uint32_t *slot = find_slot(regions, label);
    if (*slot)
        return *slot - 1;
    regions->labels[regions->count] = *label;
    *slot = (uint32_t)++regions->count;
    return *slot - 1;
}

/* --- texts -------------------------------------------------------------------------------------
 */

/* Text and tags are in one piece of memory. */
static int name_one(struct regions *regions, size_t number)
{
    const struct region_label *label = &regions->labels[number];
    char text[REGION_LABEL_SIZE] = REGION_SESSION, tags[REGION_TAGS_SIZE] = "[]";
    if (label->operation) {
        region_label_print(label, text);
        region_label_print_tags(label, tags);
    }
    size_t text_size = strlen(text) + 1, tags_size = strlen(tags) + 1;
    char *memory = malloc(text_size + tags_size);
    if (!memory)
        return -1;
    memcpy(memory, text, text_size);
    memcpy(memory + text_size, tags, tags_size);
    regions->texts[number] = memory;
    regions->tags[number] = memory + text_size;
    return 0;
}

static int name_some(void *context, size_t item, struct error *err)
{
    struct regions *regions = context;
    size_t first = item * NAMED_AT_ONCE, left = regions->count - first;
    size_t end = first + (left < NAMED_AT_ONCE ? left : NAMED_AT_ONCE);
    for (size_t i = first; i < end; i++) {
        if (name_one(regions, i) < 0)
            return error_set(err, "out of memory");
    }
    return 0;
}

int regions_name(struct regions *regions, unsigned threads)
{
    const struct workers workers = {.threads = threads, .context = regions, .work = name_some};
    struct error err;
    regions->texts = calloc(regions->count + 1, sizeof(*regions->texts));
    regions->tags = calloc(regions->count + 1, sizeof(*regions->tags));
    if (!regions->texts || !regions->tags)
        return -1;
    return workers_run(&workers, (regions->count + NAMED_AT_ONCE - 1) / NAMED_AT_ONCE, &err);
}

void regions_release(struct regions *regions)
{
    for (size_t i = 0; regions->texts && i < regions->count; i++)
        free(regions->texts[i]);
    free(regions->texts);
    free(regions->tags);
    free(regions->labels);
    free(regions->slots);
    *regions = (struct regions){0};
}
