/* SPDX-License-Identifier: BSD-3-Clause */
/* Signatures a thread has used, and their ids in its stream. */
#ifndef SCOPE_SIGNATURE_TABLE_H
#define SCOPE_SIGNATURE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/trace_format.h"

struct signature_entry {
    struct trace_signature signature;
    uint32_t id_plus_one; /* 0: free */
    uint32_t padding;
};

/* Open addressing, a power of two of entries, at most half full. */
struct signature_table {
    struct signature_entry *entries;
    uint32_t mask;
    uint32_t count;
};

/* Makes an empty table; false when memory is out. */
bool signature_table_init(struct signature_table *table);
void signature_table_release(struct signature_table *table);

/* Adds a signature that is not in the table. At a bound the table forgets all it holds instead of
 * growing on: the next use of a signature defines it again, under a new id. */
void signature_table_add(struct signature_table *table, const struct trace_signature *signature,
                         uint32_t id);

static inline uint32_t signature_hash(const struct trace_signature *s)
{
    uint64_t a = (s->operation | (uint64_t)s->origin << 32) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t b = (uint64_t)s->bytes * UINT64_C(0xd6e8feb86659fd93);
    uint64_t c =
        ((uint32_t)s->peer | (uint64_t)(uint32_t)s->root << 32) * UINT64_C(0xa0761d6478bd642f);
    uint64_t d = ((uint32_t)s->tag | (uint64_t)(uint32_t)s->communicator << 32) *
                 UINT64_C(0xe7037ed1a0b428db);
    uint64_t h = (a ^ b << 7 ^ b >> 57) + (c ^ d << 11 ^ d >> 53);
    return (uint32_t)(h >> 32 ^ h >> 13);
}

static inline bool signature_equal(const struct trace_signature *x, const struct trace_signature *y)
{
    return x->operation == y->operation && x->bytes == y->bytes && x->peer == y->peer &&
           x->tag == y->tag && x->communicator == y->communicator && x->origin == y->origin &&
           x->root == y->root;
}

/* The id of a signature, or UINT32_MAX if it is not in the table. */
static inline uint32_t signature_table_find(const struct signature_table *table,
                                            const struct trace_signature *signature)
{
    for (uint32_t i = signature_hash(signature);; i++) {
        const struct signature_entry *entry = &table->entries[i & table->mask];
        if (entry->id_plus_one == 0)
            return UINT32_MAX;
        if (signature_equal(&entry->signature, signature))
            return entry->id_plus_one - 1;
    }
}

#endif
