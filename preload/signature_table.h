/* SPDX-License-Identifier: BSD-3-Clause */
/* Signatures a thread has used, and their ids in its stream. */
#ifndef SCOPE_SIGNATURE_TABLE_H
#define SCOPE_SIGNATURE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/trace_format.h"

/* A signature as four words, which fit registers: comparing and hashing them one by one would wait
 * for the stores of its fields. */
struct signature_key {
    uint64_t word[4];
};

/* Free while its key is all zero, which no signature's is: operation 0, MPI_Init, has -1 bytes. */
struct signature_entry {
    struct signature_key key;
    uint32_t id;
    uint32_t place; /* in the statistics, + 1; 0: not asked for yet */
};

/* Open addressing, a power of two of entries, at most half full. */
struct signature_table {
    struct signature_entry *entries;
    uint32_t mask;
    uint32_t count;
    uint32_t first_id;   /* of the count that follow one another */
    uint16_t *positions; /* of entries, by id - first_id */
};

/* Makes an empty table; false when memory is out. */
bool signature_table_init(struct signature_table *table);
void signature_table_release(struct signature_table *table);

/* Adds a signature that is not in the table, under the id that follows the last one. At a bound the
 * table first forgets all it holds instead of growing on: the next use of a signature defines it
 * again, under a new id. Returns false if it did. */
bool signature_table_add(struct signature_table *table, const struct signature_key *key,
                         uint32_t id);

static inline struct signature_key signature_key(const struct trace_signature *s)
{
    return (struct signature_key){{
        s->operation | (uint64_t)s->origin << 32,
        (uint64_t)s->bytes,
        (uint32_t)s->peer | (uint64_t)(uint32_t)s->root << 32,
        (uint32_t)s->tag | (uint64_t)(uint32_t)s->communicator << 32,
    }};
}

static inline struct trace_signature signature_of_key(const struct signature_key *key)
{
    return (struct trace_signature){
        .operation = (uint32_t)key->word[0],
        .origin = (uint32_t)(key->word[0] >> 32),
        .bytes = (int64_t)key->word[1],
        .peer = (int32_t)key->word[2],
        .root = (int32_t)(key->word[2] >> 32),
        .tag = (int32_t)key->word[3],
        .communicator = (int32_t)(key->word[3] >> 32),
    };
}

static inline uint32_t signature_hash(const struct signature_key *key)
{
    /* Rotated so that the low bits of the fields, which differ most, do not meet. */
    uint64_t x = key->word[0] ^ key->word[1] << 17 ^ (key->word[2] << 31 | key->word[2] >> 33) ^
                 (key->word[3] << 47 | key->word[3] >> 17);
    return (uint32_t)(x * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static inline bool signature_key_equal(const struct signature_key *x, const struct signature_key *y)
{
    return ((x->word[0] ^ y->word[0]) | (x->word[1] ^ y->word[1]) | (x->word[2] ^ y->word[2]) |
            (x->word[3] ^ y->word[3])) == 0;
}

/* The id of a signature, or UINT32_MAX if it is not in the table. */
uint32_t signature_table_find(const struct signature_table *table, const struct signature_key *key);

/* The entry that has this id, valid until the next is added; NULL if the table does not hold it any
 * more. */
struct signature_entry *signature_table_entry(const struct signature_table *table, uint32_t id);

#endif
