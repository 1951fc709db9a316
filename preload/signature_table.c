/* SPDX-License-Identifier: BSD-3-Clause */
/* Signatures a thread has used, and their ids in its stream. */
#include "preload/signature_table.h"

#include <string.h>

#include "preload/pages.h"

enum { ENTRIES_FIRST = 256, ENTRIES_MAX = 32768 }; /* 10 KiB to 1.25 MiB per thread */

static size_t bytes_of(uint32_t entries)
{
    return entries * sizeof(struct signature_entry);
}

bool signature_table_init(struct signature_table *table)
{
    table->entries = pages_take(bytes_of(ENTRIES_FIRST));
    table->mask = ENTRIES_FIRST - 1;
    table->count = 0;
    return table->entries != NULL;
}

void signature_table_release(struct signature_table *table)
{
    pages_give(table->entries, bytes_of(table->mask + 1));
    table->entries = NULL;
}

static bool is_free(const struct signature_entry *entry)
{
    static const struct signature_key none;
    return signature_key_equal(&entry->key, &none);
}

uint32_t signature_table_find(const struct signature_table *table, const struct signature_key *key)
{
    for (uint32_t i = signature_hash(key);; i++) {
        const struct signature_entry *entry = &table->entries[i & table->mask];
        if (signature_key_equal(&entry->key, key))
            return entry->id;
        if (is_free(entry))
            return UINT32_MAX;
    }
}

static void put(struct signature_table *table, const struct signature_key *key, uint32_t id)
{
    uint32_t i = signature_hash(key);
    while (!is_free(&table->entries[i & table->mask]))
        i++;
    table->entries[i & table->mask] = (struct signature_entry){.key = *key, .id = id};
    table->count++;
}

/* Doubles the table, or empties it when it may not grow. */
static void make_room(struct signature_table *table)
{
    struct signature_table bigger = {.mask = table->mask * 2 + 1};
    if (bigger.mask < ENTRIES_MAX)
        bigger.entries = pages_take(bytes_of(bigger.mask + 1));
    if (!bigger.entries) {
        memset(table->entries, 0, bytes_of(table->mask + 1));
        table->count = 0;
        return;
    }
    for (uint32_t i = 0; i <= table->mask; i++) {
        const struct signature_entry *entry = &table->entries[i];
        if (!is_free(entry))
            put(&bigger, &entry->key, entry->id);
    }
    signature_table_release(table);
    *table = bigger;
}

void signature_table_add(struct signature_table *table, const struct signature_key *key,
                         uint32_t id)
{
    if (table->count > table->mask / 2)
        make_room(table);
    put(table, key, id);
}

bool signature_table_key(const struct signature_table *table, uint32_t id,
                         struct signature_key *key)
{
    for (uint32_t i = 0; i <= table->mask; i++) {
        const struct signature_entry *entry = &table->entries[i];
        if (entry->id == id && !is_free(entry)) {
            *key = entry->key;
            return true;
        }
    }
    return false;
}
