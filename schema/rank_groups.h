/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks by a text that is told of each: "ranks 0-1,3: normal; rank 2: signal 11 (SIGSEGV)". */
#ifndef SCOPE_RANK_GROUPS_H
#define SCOPE_RANK_GROUPS_H

#include <stddef.h>
#include <stdint.h>

enum { RANK_GROUPS_MAX = 16, RANK_GROUP_TEXT = 160, RANK_GROUP_RANKS = 96 };
enum { RANK_GROUPS_SENTENCE = RANK_GROUPS_MAX * (RANK_GROUP_TEXT + RANK_GROUP_RANKS + 16) + 64 };

/* Zero-initialise; add ranks in ascending order; print. */
struct rank_groups {
    struct rank_group {
        char text[RANK_GROUP_TEXT];
        char ranks[RANK_GROUP_RANKS]; /* those before the run first..last */
        uint32_t first, last;
        uint64_t count;
    } groups[RANK_GROUPS_MAX]; /* in the order of their first ranks */
    size_t count;
    uint64_t others; /* ranks with more texts than there are groups */
};

/* A long text is cut. */
void rank_groups_add(struct rank_groups *groups, uint32_t rank, const char *text);

/* Writes the groups, joined by "; ", to text[RANK_GROUPS_SENTENCE]. Of many runs of ranks the first
 * are there, and "..."; "" if nothing was added. */
void rank_groups_print(const struct rank_groups *groups, char text[static RANK_GROUPS_SENTENCE]);

#endif
