/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks by a text that is told of each: "ranks 0-1,3: normal; rank 2: signal 11 (SIGSEGV)". */
#include "schema/rank_groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a run "4294967294-4294967295," and of the "..." behind the last one that fits. */
enum { RUN_MAX = 24, DOTS = 4 };

/* Writes the group's present run behind those before it. */
static void end_run(const struct rank_group *group, char ranks[static RANK_GROUP_RANKS])
{
    size_t length = strlen(group->ranks);
    if (ranks != group->ranks)
        memcpy(ranks, group->ranks, length + 1);
    if (length > 0 && ranks[length - 1] == '.')
        return; /* nothing more fits */
    if (length + RUN_MAX + DOTS > RANK_GROUP_RANKS)
        snprintf(ranks + length, RANK_GROUP_RANKS - length, "...");
    else if (group->first == group->last)
        snprintf(ranks + length, RANK_GROUP_RANKS - length, "%" PRIu32, group->first);
    else
        snprintf(ranks + length, RANK_GROUP_RANKS - length, "%" PRIu32 "-%" PRIu32, group->first,
                 group->last);
}

static void add_to(struct rank_group *group, uint32_t rank)
{
    group->count++;
    if (rank == group->last + 1) {
        group->last = rank;
        return;
    }
    end_run(group, group->ranks);
    size_t length = strlen(group->ranks);
    if (group->ranks[length - 1] != '.')
        strcpy(group->ranks + length, ",");
    group->first = group->last = rank;
}

void rank_groups_add(struct rank_groups *groups, uint32_t rank, const char *text)
{
    for (size_t i = 0; i < groups->count; i++) {
        if (strncmp(groups->groups[i].text, text, RANK_GROUP_TEXT - 1) == 0) {
            add_to(&groups->groups[i], rank);
            return;
        }
    }
    if (groups->count == RANK_GROUPS_MAX) {
        groups->others++;
        return;
    }
    struct rank_group *group = &groups->groups[groups->count++];
    *group = (struct rank_group){.first = rank, .last = rank, .count = 1};
    snprintf(group->text, sizeof(group->text), "%s", text);
}

void rank_groups_print(const struct rank_groups *groups, char text[static RANK_GROUPS_SENTENCE])
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < groups->count; i++) {
        const struct rank_group *group = &groups->groups[i];
        char ranks[RANK_GROUP_RANKS];
        end_run(group, ranks);
        length += (size_t)snprintf(text + length, RANK_GROUPS_SENTENCE - length, "%s%s %s: %s",
                                   i ? "; " : "", group->count == 1 ? "rank" : "ranks", ranks,
                                   group->text);
    }
    if (groups->others > 0)
        snprintf(text + length, RANK_GROUPS_SENTENCE - length, "; %" PRIu64 " others",
                 groups->others);
}
