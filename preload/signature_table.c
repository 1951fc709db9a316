/* SPDX-License-Identifier: BSD-3-Clause */
/* Signatures a thread has used, and their ids in its stream. */
#include "preload/signature_table.h"

#include <string.h>

#include "preload/pages.h"

enum { ENTRIES_FIRST = 256, ENTRIES_MAX = 32768 }; /* 10 KiB to 1.3 MiB per thread */

/* Of the entries, and of their positions behind them: a table is half full, and one more. */
static size_t bytes_of(uint32_t entries)
{
    return entries * sizeof(struct signature_entry) + (entries / 2 + 1) * sizeof(uint16_t);
}

static bool take_memory(struct signature_table *table, uint32_t entries)
{
    table->entries = pages_take(bytes_of(entries));
    table->mask = entries - 1;
    table->positions = (uint16_t *)(void *)(table->entries + entries);
    return table->entries != NULL;
}

bool signature_table_init(struct signature_table *table)
{
    *table = (struct signature_table){0};
    return take_memory(table, ENTRIES_FIRST);
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

static void put(struct signature_table *table, const struct signature_entry *entry)
{
    uint32_t i = signature_hash(&entry->key);
    while (!is_free(&table->entries[i & table->mask]))
        i++;
    table->entries[i & table->mask] = *entry;
    table->positions[entry->id - table->first_id] = (uint16_t)(i & table->mask);
    table->count++;
}

/* Doubles the table. Returns false if it may not grow, and is emptied. */
static bool make_room(struct signature_table *table)
{
    struct signature_table bigger = {.first_id = table->first_id};
    uint32_t entries = 2 * (table->mask + 1);
    if (entries > ENTRIES_MAX || !take_memory(&bigger, entries)) {
        memset(table->entries, 0, bytes_of(table->mask + 1));
        table->count = 0;
        return false;
    }
    for (uint32_t i = 0; i <= table->mask; i++) {
        if (!is_free(&table->entries[i]))
            put(&bigger, &table->entries[i]);
    }
    signature_table_release(table);
    *table = bigger;
    return true;
}

bool signature_table_add(struct signature_table *table, const struct signature_key *key,
                         uint32_t id)
{
    bool has_room = table->count <= table->mask / 2 || make_room(table);
    if (table->count == 0)
        table->first_id = id;
    put(table, &(struct signature_entry){.key = *key, .id = id});
    return has_room;
}

struct signature_entry *signature_table_entry(const struct signature_table *table, uint32_t id)
{
    uint32_t number = id - table->first_id;
    return number < table->count ? &table->entries[table->positions[number]] : NULL;
}
