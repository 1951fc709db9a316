/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers of a report, taken from a profile's index. */
#include "report/summary.h"

#include <stdlib.h>
#include <string.h>

#include "schema/region_label.h"

double summary_share(double part, double whole)
{
    return whole > 0 ? part / whole : -1;
}

static bool is_mpi(const char *name)
{
    return strncmp(name, "mpi:", 4) == 0;
}

static bool is_poll(const char *name)
{
    return is_mpi(name) && strstr(name, " kind=poll ") != NULL;
}

static bool is_session(const char *name)
{
    return strcmp(name, REGION_SESSION) == 0;
}

/* Time in the row's calls outside those they enclose. */
static double own_time(const struct profile_row *row)
{
    return (double)(row->exclusive >= 0 ? row->exclusive : row->total);
}

static int compare_rows(const void *left, const void *right)
{
    const struct profile_row *a = *(const struct profile_row *const *)left;
    const struct profile_row *b = *(const struct profile_row *const *)right;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* MPI_Init, MPI_Finalize and what lies before the one or behind the other are no part of the
 * session. In the aggregate layout it is not known when calls were. */
static bool is_outside(const struct profile_row *row, const struct profile_row *session)
{
    return session && session->latest_end > session->earliest_start &&
           (row->latest_end <= session->earliest_start ||
            row->earliest_start >= session->latest_end);
}

static void add_to_region(struct summary_region *region, const struct profile_row *row,
                          const struct profile_row *session)
{
    region->minimum =
        region->ranks == 0 || row->minimum < region->minimum ? row->minimum : region->minimum;
    region->maximum =
        region->ranks == 0 || row->maximum > region->maximum ? row->maximum : region->maximum;
    region->ranks++;
    region->calls += row->count;
    region->total += (double)row->total;
    region->exclusive += own_time(row);
    region->is_outside |= is_outside(row, session);
    region->is_inside |= session && !is_outside(row, session);
}

/* Calls and the time in them. */
struct share {
    uint64_t calls;
    double time;
};

/* A table of counted calls, sorted by rank, and how far it was read. */
struct counts_cursor {
    const struct profile_counts *counts;
    size_t next;
};

/* MPI_Init and MPI_Finalize are no part of the session, whenever they were. */
static bool is_at_an_end(const char *name)
{
    static const char *const ends[] = {"mpi:init ", "mpi:init_thread ", "mpi:finalize "};
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        if (strncmp(name, ends[i], strlen(ends[i])) == 0)
            return true;
    }
    return false;
}

/* What a table says of one rank; ranks are asked for in their order. */
static struct share take_counts(struct counts_cursor *cursor, uint32_t rank)
{
    struct share share = {0};
    for (; cursor->next < cursor->counts->count; cursor->next++) {
        const struct profile_counted *row = &cursor->counts->rows[cursor->next];
        if (row->rank > rank)
            break;
        if (row->rank != rank)
            continue;
        share.calls += row->count;
        share.time += is_at_an_end(row->region) ? 0 : (double)row->ns;
    }
    return share;
}

/* A run of polls is one event, with what the program did in between: the table of polls tells how
 * many they were, and how long they really took. */
static struct share correct_polls(struct share events, struct share counted)
{
    if (counted.calls == 0)
        return events;
    if (counted.time > events.time)
        counted.time = events.time; /* polls outside of the session */
    return counted;
}

/* The rows of one rank become one summary_rank, and a part of their regions. */
static void add_rank(struct summary *summary, const struct profile *profile,
                     const struct profile_row **rows, size_t count,
                     struct counts_cursor *polled, struct counts_cursor *unrecorded)
{
    struct summary_rank *rank = &summary->ranks[summary->rank_count++];
    const struct profile_row *session = NULL;
    struct share polls = {0}, others = {0};
    rank->rank = rows[0]->rank;
    for (size_t i = 0; i < count; i++) {
        if (is_session(profile->names[rows[i]->region]))
            session = rows[i];
    }
    rank->session = session ? (double)session->total : 0;
    for (size_t i = 0; i < count; i++) {
        const struct profile_row *row = rows[i];
        const char *name = profile->names[row->region];
        add_to_region(&summary->regions[row->region], row, session);
        if (!is_mpi(name))
            continue;
        struct share *share = is_poll(name) ? &polls : &others;
        share->calls += row->count;
        if (!is_outside(row, session))
            share->time += own_time(row);
    }
    polls = correct_polls(polls, take_counts(polled, rank->rank));
    struct share missing = take_counts(unrecorded, rank->rank);
    rank->unrecorded = missing.calls;
    rank->mpi_calls = polls.calls + others.calls + missing.calls;
    rank->mpi = polls.time + others.time + missing.time;
    summary->mpi_calls += rank->mpi_calls;
    summary->session += rank->session;
    summary->mpi += rank->mpi;
}

/* The attribute knows also of pauses that were too many for the table. */
static void add_pauses(struct summary *summary, const struct profile *profile,
                       const struct rank_set *set)
{
    for (size_t i = 0; i < profile->pause_count; i++) {
        const struct profile_pause *pause = &profile->pauses[i];
        if (!rank_set_has(set, pause->rank))
            continue;
        summary->pauses++;
        summary->paused_ranks += i == 0 || pause->rank != profile->pauses[i - 1].rank;
        summary->paused += (double)pause->duration_ns;
    }
    const struct profile_attribute *all = profile_attribute(profile, "scope_profile_paused_ns");
    if (!set->ranges && all && all->is_number)
        summary->paused = (double)all->number;
}

static int add_ends(struct summary *summary, const struct profile *profile,
                    const struct rank_set *set)
{
    summary->ends = calloc(profile->end_count + 1, sizeof(*summary->ends));
    if (!summary->ends)
        return -1;
    for (size_t i = 0; i < profile->end_count; i++) {
        if (rank_set_has(set, profile->ends[i].rank))
            summary->ends[summary->end_count++] = &profile->ends[i];
    }
    return 0;
}

static int compare_regions(const void *left, const void *right)
{
    const struct summary_region *a = left, *b = right;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void drop_unused(struct summary *summary)
{
    size_t kept = 0;
    for (size_t i = 0; i < summary->region_count; i++) {
        if (summary->regions[i].ranks > 0)
            summary->regions[kept++] = summary->regions[i];
    }
    summary->region_count = kept;
}

int summary_make(struct summary *summary, const struct profile *profile, const struct rank_set *set,
                 struct error *err)
{
    *summary = (struct summary){.region_count = profile->name_count};
    if (functions_of_counts(&summary->polls, &profile->polls, set, err) < 0 ||
        functions_of_counts(&summary->unrecorded, &profile->unrecorded, set, err) < 0 ||
        functions_of_failed(&summary->failed, profile, set, err) < 0) {
        summary_release(summary);
        return -1;
    }
    const struct profile_row **rows = calloc(profile->row_count + 1, sizeof(*rows));
    summary->ranks = calloc(profile->row_count + 1, sizeof(*summary->ranks));
    summary->regions = calloc(profile->name_count + 1, sizeof(*summary->regions));
    if (!rows || !summary->ranks || !summary->regions || add_ends(summary, profile, set) < 0) {
        free(rows);
        summary_release(summary);
        return error_set(err, "out of memory");
    }
    for (size_t i = 0; i < profile->name_count; i++)
        summary->regions[i].name = profile->names[i];
    struct counts_cursor polls = {&profile->polls, 0}, unrecorded = {&profile->unrecorded, 0};
    size_t count = 0;
    for (size_t i = 0; i < profile->row_count; i++) {
        if (rank_set_has(set, profile->rows[i].rank))
            rows[count++] = &profile->rows[i];
    }
    qsort(rows, count, sizeof(*rows), compare_rows);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && rows[next]->rank == rows[first]->rank;)
            next++;
        add_rank(summary, profile, &rows[first], next - first, &polls, &unrecorded);
    }
    free(rows);
    add_pauses(summary, profile, set);
    drop_unused(summary);
    qsort(summary->regions, summary->region_count, sizeof(*summary->regions), compare_regions);
    return 0;
}

void summary_release(struct summary *summary)
{
    free(summary->ranks);
    free(summary->regions);
    free(summary->ends);
    functions_release(&summary->polls);
    functions_release(&summary->unrecorded);
    functions_release(&summary->failed);
    *summary = (struct summary){0};
}
