/* SPDX-License-Identifier: BSD-3-Clause */
/* What LIKWID's regions had when a rank's trace was last written to. */
#include "merge/likwid_snapshot.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schema/trace_format.h"
#include "schema/trace_reader.h"

/* That are looked at, however many areas there are: one of the largest holds no more, and a region
 * is looked for among all. */
enum { ENTRIES_MAX = TRACE_AREA_LARGEST / sizeof(struct trace_counters) };

struct entry {
    struct trace_counters counters;
    double values[LIKWID_MARKER_EVENTS_MAX];
};

/* The region of the same tag and event set, perhaps a new one; NULL: memory is out. */
static struct likwid_region *region_of(struct likwid_marker *marker,
                                       const struct trace_counters *counters)
{
    for (size_t i = 0; i < marker->region_count; i++) {
        if (marker->regions[i].group == counters->group &&
            strcmp(marker->regions[i].tag, counters->tag) == 0)
            return &marker->regions[i];
    }
    char *tag = strdup(counters->tag);
    struct likwid_region *regions =
        tag ? realloc(marker->regions, (marker->region_count + 1) * sizeof(*regions)) : NULL;
    if (!regions) {
        free(tag);
        return NULL;
    }
    marker->regions = regions;
    regions[marker->region_count] = (struct likwid_region){
        .tag = tag, .group = counters->group, .event_count = counters->event_count};
    return &regions[marker->region_count++];
}

static int add_thread(struct likwid_region *region, const struct entry *entry)
{
    size_t count = region->thread_count, events = region->event_count;
    struct likwid_thread *threads = realloc(region->threads, (count + 1) * sizeof(*threads));
    if (!threads)
        return -1;
    region->threads = threads;
    double *values = realloc(region->values, ((count + 1) * events + 1) * sizeof(*values));
    if (!values)
        return -1;
    region->values = values;
    threads[count] = (struct likwid_thread){
        entry->counters.cpu, entry->counters.calls, entry->counters.seconds};
    memcpy(values + count * events, entry->values, events * sizeof(*values));
    region->thread_count++;
    return 0;
}

/* What was being written when the rank ended, and what is damaged, is left out. */
static bool is_good(const struct trace_counters *counters, size_t size)
{
    return counters->sequence > 0 && counters->sequence % 2 == 0 && counters->calls > 0 &&
           counters->cpu >= 0 && counters->group >= 0 &&
           counters->event_count <= (size - sizeof(*counters)) / sizeof(double) &&
           memchr(counters->tag, '\0', sizeof(counters->tag));
}

static int add_entry(struct likwid_marker *marker, const struct entry *entry)
{
    struct likwid_region *region = region_of(marker, &entry->counters);
    if (!region)
        return -1;
    return region->event_count == entry->counters.event_count ? add_thread(region, entry) : 0;
}

/* Of the area's entries no more than *left, which gets less by them. */
static int read_area(struct likwid_marker *marker, struct trace_reader *reader, uint64_t offset,
                     const struct trace_area *area, struct entry *entry, uint32_t *left)
{
    size_t size = area->entry_size < sizeof(*entry) ? area->entry_size : sizeof(*entry);
    uint32_t count = area->entry_count < *left ? area->entry_count : *left;
    *left -= count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = offset + sizeof(*area) + (uint64_t)i * area->entry_size;
        if (trace_reader_read(reader, entry, size, at) == size && is_good(&entry->counters, size) &&
            add_entry(marker, entry) < 0)
            return -1;
    }
    return 0;
}

int likwid_snapshot_read(struct likwid_marker *marker, int dirfd, const char *name)
{
    struct trace_reader *reader;
    struct trace_area area;
    struct error ignored;
    uint64_t offset = 0;
    uint32_t left = ENTRIES_MAX;
    *marker = (struct likwid_marker){0};
    struct entry *entry = malloc(sizeof(*entry));
    if (!entry)
        return -1;
    int status = trace_reader_open(&reader, dirfd, name, &ignored) < 0 ? 1 : 0;
    bool is_open = status == 0;
    while (status == 0 && trace_reader_area(reader, &offset, &area)) {
        if (area.kind == AREA_COUNTERS && area.entry_size >= sizeof(struct trace_counters))
            status = read_area(marker, reader, offset, &area, entry, &left);
    }
    if (is_open)
        trace_reader_close(reader);
    free(entry);
    if (status < 0)
        likwid_marker_release(marker);
    return status == 0 && marker->region_count == 0 ? 1 : status;
}
