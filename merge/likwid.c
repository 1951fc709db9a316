/* SPDX-License-Identifier: BSD-3-Clause */
/* What LIKWID counted in the ranks of a world becomes a part of its profile. */
#define _GNU_SOURCE
#include "merge/likwid.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/likwid_metrics.h"
#include "merge/likwid_rank.h"
#include "merge/likwid_sockets.h"
#include "schema/profile_likwid.h"

enum {
    OWN_ATTRIBUTES = 8,
    TOGETHER_BYTES = 16 << 20, /* of ranks' files that are in memory at a time, about */
    TOGETHER_MAX = 1 << 16,
};

/* --- one region ----------------------------------------------------------------------------------
 */

/* What one region needs beside what the marker file has. */
struct columns {
    int64_t *cpus, *calls;
    double *seconds, *events, *metrics;
    const char **event_names; /* placeholders, or the record's */
    char *placeholders;
    char **owners; /* one for each thread that owns not what its socket counted */
    size_t owner_count;
    char *tag; /* where the region's own is another's, too; else NULL */
};

static void release_columns(struct columns *columns)
{
    for (size_t i = 0; i < columns->owner_count; i++)
        free(columns->owners[i]);
    free(columns->owners);
    free(columns->cpus);
    free(columns->calls);
    free(columns->seconds);
    free(columns->events);
    free(columns->metrics);
    free(columns->event_names);
    free(columns->placeholders);
    free(columns->tag);
}

/* Threads become columns: the file has a row for each event. NULL: memory is out. */
static double *transpose(const double *values, size_t threads, size_t count)
{
    double *matrix = calloc(threads * count + 1, sizeof(*matrix));
    for (size_t i = 0; matrix && i < threads; i++) {
        for (size_t j = 0; j < count; j++)
            matrix[j * threads + i] = values[i * count + j];
    }
    return matrix;
}

static int fill_columns(struct columns *columns, const struct likwid_region *region)
{
    size_t threads = region->thread_count;
    columns->cpus = calloc(threads, sizeof(*columns->cpus));
    columns->calls = calloc(threads, sizeof(*columns->calls));
    columns->seconds = calloc(threads, sizeof(*columns->seconds));
    columns->events = transpose(region->values, threads, region->event_count);
    columns->metrics = transpose(region->metrics, threads, region->metric_count);
    if (!columns->cpus || !columns->calls || !columns->seconds || !columns->events ||
        !columns->metrics)
        return -1;
    for (size_t i = 0; i < threads; i++) {
        columns->cpus[i] = region->threads[i].cpu;
        columns->calls[i] = region->threads[i].calls;
        columns->seconds[i] = region->threads[i].seconds;
    }
    return 0;
}

static int tell_owners(struct columns *columns, const struct likwid_region *region)
{
    columns->owners = calloc(region->thread_count + 1, sizeof(*columns->owners));
    if (!columns->owners)
        return -1;
    for (size_t i = 0; region->owners && i < region->thread_count; i++) {
        const struct likwid_owner *owner = &region->owners[i];
        if (owner->cpu < 0)
            continue;
        if (asprintf(&columns->owners[columns->owner_count],
                     "CPU %" PRId32 ": socket %" PRId32 " is counted in rank %" PRIu32
                     ", on CPU %" PRId32,
                     region->threads[i].cpu, owner->socket, owner->rank, owner->cpu) < 0)
            return -1;
        columns->owner_count++;
    }
    return 0;
}

/* event_0, event_1, ...: as the Python package calls what it has no names for. */
static int invent_names(struct columns *columns, size_t count)
{
    enum { SIZE = 32 };
    columns->event_names = calloc(count + 1, sizeof(*columns->event_names));
    columns->placeholders = malloc(count * SIZE + 1);
    if (!columns->event_names || !columns->placeholders)
        return -1;
    for (size_t i = 0; i < count; i++) {
        snprintf(columns->placeholders + i * SIZE, SIZE, "event_%zu", i);
        columns->event_names[i] = columns->placeholders + i * SIZE;
    }
    return 0;
}

/* Readers know a region by its tag: one of several event sets is told with them. */
static int name_region(struct columns *columns, const struct likwid_marker *marker, size_t number,
                       const char *group_name)
{
    const struct likwid_region *region = &marker->regions[number];
    for (size_t i = 0; i < marker->region_count; i++) {
        if (i != number && strcmp(marker->regions[i].tag, region->tag) == 0)
            return asprintf(&columns->tag, "%s (%s)", region->tag, group_name) < 0 ? -1 : 0;
    }
    return 0;
}

static int describe(const struct likwid_rank *rank, size_t number, struct columns *columns,
                    struct profile_likwid_region *row)
{
    const struct likwid_record *record = &rank->record;
    const struct likwid_region *region = &rank->marker.regions[number];
    const struct likwid_group *group = likwid_rank_group(rank, region);
    const char *group_name = (size_t)region->group < record->group_count
                                 ? record->groups[region->group].name
                                 : "";
    if (fill_columns(columns, region) < 0 || tell_owners(columns, region) < 0 ||
        name_region(columns, &rank->marker, number, group_name) < 0 ||
        (!group && invent_names(columns, region->event_count) < 0))
        return -1;
    *row = (struct profile_likwid_region){
        .tag = columns->tag ? columns->tag : region->tag,
        .group = region->group,
        .group_name = group_name,
        .source = rank->source,
        .thread_count = region->thread_count,
        .event_count = region->event_count,
        .cpus = columns->cpus,
        .calls = columns->calls,
        .seconds = columns->seconds,
        .events = columns->events,
        .event_names = group ? record->events + group->first_event : columns->event_names,
        .counter_names = group ? record->counters + group->first_event : NULL,
        .counter_name_count = group ? region->event_count : 0,
        .metrics = columns->metrics,
        .metric_count = region->metric_count,
        .metric_names = region->metric_count ? record->metrics + group->first_metric : NULL,
        .owners = (const char *const *)columns->owners,
        .owner_count = columns->owner_count,
    };
    return 0;
}

/* --- one rank ------------------------------------------------------------------------------------
 */

/* "0:0,1:0": the socket of each CPU. NULL: memory is out. */
static char *print_sockets(const struct likwid_record *record)
{
    enum { SIZE = 24 };
    char *text = malloc(record->cpu_count * SIZE + 1);
    size_t length = 0;
    if (!text)
        return NULL;
    text[0] = '\0';
    for (size_t i = 0; i < record->cpu_count; i++)
        length += (size_t)snprintf(text + length, SIZE, "%s%" PRId32 ":%" PRId32, i ? "," : "",
                                   record->cpus[i].cpu, record->cpus[i].socket);
    return text;
}

static const char *told(const char *text)
{
    return text[0] ? text : NULL;
}

/* The variables LIKWID_* that the rank had, and what we know beside them. */
static int write_group(struct profile_writer *writer, const struct likwid_rank *rank,
                       const struct profile_likwid_region *regions, size_t count,
                       struct error *err)
{
    const struct likwid_record *record = &rank->record;
    char *sockets = print_sockets(record);
    const struct {
        const char *name, *value;
    } own[OWN_ATTRIBUTES] = {
        {"scope_profile_reason", told(rank->why.text)},
        {"scope_profile_not_read_back", count > 0 ? told(rank->not_read.text) : NULL},
        {"scope_profile_library", record->library},
        {"scope_profile_processor", record->processor},
        {"scope_profile_processor_type", record->type},
        {"scope_profile_clock_hz", record->clock},
        {"scope_profile_sockets", sockets ? told(sockets) : NULL},
    };
    size_t room = record->variable_count + OWN_ATTRIBUTES, used = record->variable_count;
    const char **names = calloc(room, sizeof(*names)), **values = calloc(room, sizeof(*values));
    int status = names && values && sockets ? 0 : error_set(err, "out of memory");
    for (size_t i = 0; status == 0 && i < record->variable_count; i++) {
        names[i] = record->variables[i];
        values[i] = record->values[i];
    }
    for (size_t i = 0; status == 0 && i < OWN_ATTRIBUTES; i++) {
        if (!own[i].value)
            continue;
        names[used] = own[i].name;
        values[used++] = own[i].value;
    }
    if (status == 0)
        status = profile_writer_likwid(writer,
                                       &(struct profile_likwid){.rank = rank->number,
                                                                .names = names,
                                                                .values = values,
                                                                .attribute_count = used,
                                                                .regions = regions,
                                                                .region_count = count},
                                       err);
    free(names);
    free(values);
    free(sockets);
    return status;
}

static int write_rank(struct profile_writer *writer, const struct likwid_rank *rank,
                      struct error *err)
{
    size_t count = rank->marker.region_count, done = 0;
    struct profile_likwid_region *rows = calloc(count + 1, sizeof(*rows));
    struct columns *columns = calloc(count + 1, sizeof(*columns));
    int status = rows && columns ? 0 : -1;
    for (; status == 0 && done < count; done++)
        status = describe(rank, done, &columns[done], &rows[done]);
    if (status < 0)
        error_set(err, "out of memory");
    else
        status = write_group(writer, rank, rows, count, err);
    for (size_t i = 0; i < done; i++)
        release_columns(&columns[i]);
    free(columns);
    free(rows);
    return status;
}

/* --- all of them ---------------------------------------------------------------------------------
 */

/* Ranks that are in memory together, so that LIKWID is asked for all of them at once. */
struct window {
    struct likwid_rank *ranks;
    size_t count, room;
    struct likwid_sockets sockets; /* of all windows */
};

static size_t bytes_of(const struct likwid_rank *rank)
{
    size_t bytes = 0;
    for (size_t i = 0; i < rank->marker.region_count; i++) {
        const struct likwid_region *region = &rank->marker.regions[i];
        bytes += region->thread_count * (region->event_count + 4) * sizeof(double);
    }
    return bytes;
}

static void empty(struct window *window)
{
    for (size_t i = 0; i < window->count; i++)
        likwid_rank_release(&window->ranks[i]);
    window->count = 0;
}

/* Loads from the rank of that index on; returns the index that follows, or -1: memory is out. */
static ssize_t fill(struct window *window, const struct likwid_input *input, size_t index)
{
    size_t bytes = 0;
    for (; index < input->rank_count && bytes < TOGETHER_BYTES && window->count < TOGETHER_MAX;
         index++) {
        if (window->count == window->room) {
            size_t room = window->room ? 2 * window->room : 64;
            struct likwid_rank *more = realloc(window->ranks, room * sizeof(*more));
            if (!more)
                return -1;
            window->ranks = more;
            window->room = room;
        }
        struct likwid_rank *rank = &window->ranks[window->count];
        input->describe(input->context, index, &rank->number, &rank->host);
        int status = likwid_rank_load(rank, input->dirfd);
        if (status < 0)
            return -1;
        if (status > 0)
            continue;
        bytes += bytes_of(rank);
        window->count++;
    }
    return (ssize_t)index;
}

/* Metrics as LIKWID itself has computed them, or else by the formulas of the record. */
static int complete(struct window *window, struct likwid_rank *rank)
{
    for (size_t i = 0; i < rank->marker.region_count; i++) {
        struct likwid_region *region = &rank->marker.regions[i];
        if (!region->metrics && likwid_metrics_compute(rank, region) < 0)
            return -1;
    }
    return likwid_sockets_settle(&window->sockets, rank);
}

static int write_window(struct window *window, struct likwid_reader *reader,
                        struct profile_writer *writer, struct rank_groups *missing,
                        struct error *err)
{
    if (likwid_reader_ask(reader, window->ranks, window->count) < 0)
        return error_set(err, "out of memory");
    for (size_t i = 0; i < window->count; i++) {
        struct likwid_rank *rank = &window->ranks[i];
        if (complete(window, rank) < 0)
            return error_set(err, "out of memory");
        if (write_rank(writer, rank, err) < 0)
            return -1;
        if (rank->why.text[0])
            rank_groups_add(missing, rank->number, rank->why.text);
    }
    return 0;
}

int likwid_write(const struct likwid_input *input, struct profile_writer *writer,
                 struct rank_groups *missing, struct error *err)
{
    struct window window = {0};
    int status = 0;
    for (ssize_t next = 0; status == 0 && (size_t)next < input->rank_count;) {
        next = fill(&window, input, (size_t)next);
        status = next < 0 ? error_set(err, "out of memory")
                          : write_window(&window, input->reader, writer, missing, err);
        empty(&window);
    }
    free(window.ranks);
    likwid_sockets_release(&window.sockets);
    return status;
}
