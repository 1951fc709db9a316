/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of ranks as people write it: "0-3,7". */
#ifndef SCOPE_RANK_SET_H
#define SCOPE_RANK_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"

struct rank_set {
    struct rank_range {
        uint32_t first, last;
    } * ranges; /* NULL: all ranks */
    size_t count;
};

/* Parses text. Returns 0 and *set, to be released, or -1 and err. */
int rank_set_parse(struct rank_set *set, const char *text, struct error *err);

/* Makes the set of count ranks, given in any order, some more than once; sorts them. Returns 0 and
 * *set, to be released, or -1 and err (memory). */
int rank_set_of(struct rank_set *set, uint32_t *ranks, size_t count, struct error *err);

/* Every rank or range of wanted must name a rank of present, a set made by rank_set_of. Returns 0,
 * or -1 and err, which says what present has. */
int rank_set_check(const struct rank_set *wanted, const struct rank_set *present,
                   struct error *err);

bool rank_set_has(const struct rank_set *set, uint64_t rank);

void rank_set_release(struct rank_set *set);

#endif
