/* SPDX-License-Identifier: BSD-3-Clause */
/* What LIKWID counted in a rank: its record and its marker file become a part of the profile. */
#define _GNU_SOURCE
#include "merge/likwid.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge/formula.h"
#include "merge/likwid_marker.h"
#include "merge/likwid_record.h"
#include "schema/likwid_record.h"
#include "schema/profile_likwid.h"

enum { NAME_SIZE = 32, OWN_ATTRIBUTES = 4 };

static void file_name(char name[static NAME_SIZE], uint32_t rank, const char *suffix)
{
    snprintf(name, NAME_SIZE, "rank-%06" PRIu32 "%s", rank, suffix);
}

/* What one region needs beside what the marker file has. */
struct columns {
    int64_t *cpus, *calls;
    double *seconds, *events, *metrics;
    const char **event_names; /* placeholders, or the record's */
    char *placeholders;
    char *tag; /* where the region's own is another's, too; else NULL */
};

static void release_columns(struct columns *columns)
{
    free(columns->cpus);
    free(columns->calls);
    free(columns->seconds);
    free(columns->events);
    free(columns->metrics);
    free(columns->event_names);
    free(columns->placeholders);
    free(columns->tag);
}

/* Threads become columns: the file has a row for each event. */
static int fill_columns(struct columns *columns, const struct likwid_region *region)
{
    size_t threads = region->thread_count, events = region->event_count;
    columns->cpus = calloc(threads, sizeof(*columns->cpus));
    columns->calls = calloc(threads, sizeof(*columns->calls));
    columns->seconds = calloc(threads, sizeof(*columns->seconds));
    columns->events = calloc(threads * events + 1, sizeof(*columns->events));
    if (!columns->cpus || !columns->calls || !columns->seconds || !columns->events)
        return -1;
    for (size_t i = 0; i < threads; i++) {
        columns->cpus[i] = region->threads[i].cpu;
        columns->calls[i] = region->threads[i].calls;
        columns->seconds[i] = region->threads[i].seconds;
        for (size_t j = 0; j < events; j++)
            columns->events[j * threads + i] = region->values[i * events + j];
    }
    return 0;
}

/* Where the names of a formula of a group's have their values: those of one thread in a region. */
struct operands {
    const struct likwid_record *record;
    const struct likwid_group *group;
    const struct likwid_thread *thread;
    const double *values;
    double inverse_clock; /* s; 0: not known */
};

static bool is_name(const char *name, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(name, text, length) == 0;
}

static bool find_operand(const void *context, const char *name, size_t length, double *value)
{
    const struct operands *operands = context;
    if (is_name(name, length, "time")) {
        *value = operands->thread->seconds;
        return true;
    }
    if (is_name(name, length, "inverseClock")) {
        *value = operands->inverse_clock;
        return operands->inverse_clock > 0;
    }
    for (size_t i = 0; i < operands->record->constant_count; i++) {
        if (is_name(name, length, operands->record->constants[i])) {
            *value = strtod(operands->record->constant_values[i], NULL);
            return true;
        }
    }
    for (size_t i = 0; i < operands->group->event_count; i++) {
        if (is_name(name, length, operands->record->counters[operands->group->first_event + i])) {
            *value = operands->values[i];
            return true;
        }
    }
    return false;
}

/* Metrics by the formulas that were found beside the rank's liblikwid. One that names what we do
 * not know is no number. */
static int evaluate_metrics(struct columns *columns, const struct likwid_region *region,
                            const struct likwid_record *record, const struct likwid_group *group)
{
    double clock = record->clock ? strtod(record->clock, NULL) : 0;
    size_t threads = region->thread_count;
    columns->metrics = calloc(threads * group->metric_count + 1, sizeof(*columns->metrics));
    if (!columns->metrics)
        return -1;
    for (size_t i = 0; i < group->metric_count; i++) {
        const char *formula = record->formulas[group->first_metric + i];
        for (size_t j = 0; j < threads; j++) {
            const struct operands operands = {
                .record = record,
                .group = group,
                .thread = &region->threads[j],
                .values = region->values + j * region->event_count,
                .inverse_clock = clock > 0 ? 1 / clock : 0,
            };
            double *value = &columns->metrics[i * threads + j];
            if (!formula || !formula_evaluate(formula, find_operand, &operands, value))
                *value = NAN;
        }
    }
    return 0;
}

static bool has_formulas(const struct likwid_record *record, const struct likwid_group *group)
{
    for (size_t i = 0; i < group->metric_count; i++) {
        if (record->formulas[group->first_metric + i])
            return true;
    }
    return false;
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

static int describe(const struct likwid_marker *marker, size_t number,
                    const struct likwid_record *record, struct columns *columns,
                    struct profile_likwid_region *row)
{
    const struct likwid_region *region = &marker->regions[number];
    const struct likwid_group *group =
        (size_t)region->group < record->group_count ? &record->groups[region->group] : NULL;
    bool has_names = group && group->event_count == region->event_count;
    if (fill_columns(columns, region) < 0 ||
        name_region(columns, marker, number, group ? group->name : "") < 0 ||
        (!has_names && invent_names(columns, region->event_count) < 0))
        return -1;
    bool has_metrics = has_names && has_formulas(record, group);
    if (has_metrics && evaluate_metrics(columns, region, record, group) < 0)
        return -1;
    *row = (struct profile_likwid_region){
        .tag = columns->tag ? columns->tag : region->tag,
        .group = region->group,
        .group_name = group ? group->name : "",
        .source = "marker_file",
        .thread_count = region->thread_count,
        .event_count = region->event_count,
        .cpus = columns->cpus,
        .calls = columns->calls,
        .seconds = columns->seconds,
        .events = columns->events,
        .event_names = has_names ? record->events + group->first_event : columns->event_names,
        .counter_names = has_names ? record->counters + group->first_event : NULL,
        .counter_name_count = has_names ? region->event_count : 0,
        .metrics = columns->metrics,
        .metric_count = has_metrics ? group->metric_count : 0,
        .metric_names = has_metrics ? record->metrics + group->first_metric : NULL,
    };
    return 0;
}

/* The variables LIKWID_* that the rank had, and what we know beside them. */
static int write_group(struct profile_writer *writer, uint32_t rank,
                       const struct likwid_record *record,
                       const struct profile_likwid_region *regions, size_t count,
                       const struct error *why, struct error *err)
{
    const struct {
        const char *name, *value;
    } own[OWN_ATTRIBUTES] = {
        {"scope_profile_reason", why->text[0] ? why->text : NULL},
        {"scope_profile_library", record->library},
        {"scope_profile_processor", record->processor},
        {"scope_profile_clock_hz", record->clock},
    };
    size_t room = record->variable_count + OWN_ATTRIBUTES, used = record->variable_count;
    const char **names = calloc(room, sizeof(*names)), **values = calloc(room, sizeof(*values));
    int status = names && values ? 0 : error_set(err, "out of memory");
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
                                       &(struct profile_likwid){.rank = rank,
                                                                .names = names,
                                                                .values = values,
                                                                .attribute_count = used,
                                                                .regions = regions,
                                                                .region_count = count},
                                       err);
    free(names);
    free(values);
    return status;
}

static int write_regions(struct profile_writer *writer, uint32_t rank,
                         const struct likwid_record *record, const struct likwid_marker *marker,
                         const struct error *why, struct error *err)
{
    size_t count = marker->region_count, done = 0;
    struct profile_likwid_region *rows = calloc(count + 1, sizeof(*rows));
    struct columns *columns = calloc(count + 1, sizeof(*columns));
    int status = rows && columns ? 0 : -1;
    for (; status == 0 && done < count; done++)
        status = describe(marker, done, record, &columns[done], &rows[done]);
    if (status < 0)
        error_set(err, "out of memory");
    else
        status = write_group(writer, rank, record, rows, count, why, err);
    for (size_t i = 0; i < done; i++)
        release_columns(&columns[i]);
    free(columns);
    free(rows);
    return status;
}

int likwid_write(int dirfd, uint32_t rank, struct profile_writer *writer, struct error *why,
                 struct error *err)
{
    struct likwid_record record;
    struct likwid_marker marker = {0};
    char name[NAME_SIZE];
    why->text[0] = '\0';
    file_name(name, rank, LIKWID_RECORD_SUFFIX);
    int status = likwid_record_read(&record, dirfd, name, why);
    if (status > 0)
        return 0;
    if (status == 0 && record.reason)
        error_set(why, "%s", record.reason);
    file_name(name, rank, LIKWID_MARKER_SUFFIX);
    int found = likwid_marker_read(&marker, dirfd, name);
    if (found > 0 && why->text[0] == '\0')
        error_set(why, "the rank wrote none: its program has no LIKWID markers, or did not come to "
                       "close them");
    if (marker.problem_count > 0 && why->text[0] == '\0')
        error_set(why, "%s: %s", name, marker.problem.text);
    status = found < 0 ? error_set(err, "out of memory")
                       : write_regions(writer, rank, &record, &marker, why, err);
    likwid_marker_release(&marker);
    likwid_record_release(&record);
    return status;
}

int likwid_remove(int dirfd, uint32_t rank)
{
    static const char *const suffixes[] = {LIKWID_RECORD_SUFFIX, LIKWID_MARKER_SUFFIX};
    char name[NAME_SIZE];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        file_name(name, rank, suffixes[i]);
        if (unlinkat(dirfd, name, 0) < 0 && errno != ENOENT)
            return -1;
    }
    return 0;
}
