/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of one rank's hardware counters: its record, and what its markers measured. */
#include "merge/likwid_rank.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "merge/likwid_snapshot.h"
#include "schema/likwid_record.h"
#include "schema/trace_format.h"

enum { NAME_SIZE = 32 };

static void file_name(char name[static NAME_SIZE], uint32_t number, const char *suffix)
{
    snprintf(name, NAME_SIZE, "rank-%06" PRIu32 "%s", number, suffix);
}

/* Of a region that was entered once. */
static void forget_looks(const struct likwid_marker *marker, const char *tag)
{
    for (size_t i = 0; i < marker->region_count; i++) {
        const struct likwid_region *region = &marker->regions[i];
        for (size_t j = 0; strcmp(region->tag, tag) == 0 && j < region->thread_count; j++)
            region->threads[j].calls = region->threads[j].calls > 0;
    }
}

int likwid_rank_load(struct likwid_rank *rank, int dirfd)
{
    char name[NAME_SIZE];
    rank->why.text[0] = rank->not_read.text[0] = '\0';
    rank->marker = (struct likwid_marker){0};
    rank->source = "marker_file";
    file_name(name, rank->number, LIKWID_RECORD_SUFFIX);
    int status = likwid_record_read(&rank->record, dirfd, name, &rank->why);
    if (status > 0)
        return 1;
    if (status == 0 && rank->record.reason)
        error_set(&rank->why, "%s", rank->record.reason);
    file_name(name, rank->number, LIKWID_MARKER_SUFFIX);
    int found = likwid_marker_read(&rank->marker, dirfd, name);
    if (found > 0) {
        rank->source = "marker_api";
        file_name(name, rank->number, TRACE_SUFFIX);
        found = likwid_snapshot_read(&rank->marker, dirfd, name);
    }
    if (found > 0 && rank->why.text[0] == '\0')
        error_set(&rank->why, "the rank wrote none: its program has no LIKWID markers, or did not "
                              "come to close them");
    if (rank->marker.problem_count > 0 && rank->why.text[0] == '\0')
        error_set(&rank->why, "%s: %s", name, rank->marker.problem.text);
    if (found >= 0) {
        if (rank->record.own)
            forget_looks(&rank->marker, rank->record.own);
        return 0;
    }
    likwid_rank_release(rank);
    return -1;
}

const struct likwid_group *likwid_rank_group(const struct likwid_rank *rank,
                                             const struct likwid_region *region)
{
    const struct likwid_group *group = (size_t)region->group < rank->record.group_count
                                           ? &rank->record.groups[region->group]
                                           : NULL;
    return group && group->event_count == region->event_count ? group : NULL;
}

void likwid_rank_release(struct likwid_rank *rank)
{
    likwid_marker_release(&rank->marker);
    likwid_record_release(&rank->record);
}

int likwid_rank_remove(int dirfd, uint32_t number)
{
    static const char *const suffixes[] = {LIKWID_RECORD_SUFFIX, LIKWID_MARKER_SUFFIX};
    char name[NAME_SIZE];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        file_name(name, number, suffixes[i]);
        if (unlinkat(dirfd, name, 0) < 0 && errno != ENOENT)
            return -1;
    }
    return 0;
}
