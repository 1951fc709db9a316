/* SPDX-License-Identifier: BSD-3-Clause */
/* What LIKWID's regions have so far, kept in the trace. */
#define _GNU_SOURCE
#include "preload/likwid_snapshot.h"

#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "preload/glibc_compat.h"
#include "preload/image.h"
#include "schema/lock.h"

/* Values that an entry has room for at least, and how many entries are looked at for one. */
enum { VALUES_MIN = 32, PROBES = 32 };

static struct {
    void *(*take)(const struct trace_area *area);
    unsigned char *entries; /* NULL: there are none (yet) */
    uint32_t entry_size, entry_count;
    lock_t lock; /* over taking them */
    bool is_over;
} kept;

/* liblikwid's, behind ours. */
static struct {
    int (*stop)(const char *tag);
    void (*get)(const char *tag, int *events, double *values, double *time, int *count);
    int (*group)(void);
} likwid;

static void take_entries(int32_t event_count)
{
    struct trace_area area = {.size = TRACE_AREA_LARGEST, .kind = AREA_COUNTERS};
    uint32_t values = event_count > VALUES_MIN ? (uint32_t)event_count : VALUES_MIN;
    area.entry_size = (uint32_t)(sizeof(struct trace_counters) + values * sizeof(double));
    area.entry_count = (uint32_t)((area.size - sizeof area) / area.entry_size);
    unsigned char *memory = kept.take(&area);
    kept.is_over = !memory;
    kept.entry_size = area.entry_size;
    kept.entry_count = area.entry_count;
    if (memory)
        __atomic_store_n(&kept.entries, memory + sizeof area, __ATOMIC_RELEASE);
}

static bool is_of(const struct trace_counters *entry, const struct likwid_count_result *result,
                  const char *tag)
{
    return entry->cpu == result->cpu && entry->group == result->group &&
           strcmp(entry->tag, tag) == 0;
}

/* The result's entry, whose sequence is odd now; NULL: there is no room, or another thread is in
 * it. */
static struct trace_counters *open_entry(const struct likwid_count_result *result, const char *tag)
{
    uint32_t hash = (uint32_t)result->cpu * 31 + (uint32_t)result->group;
    for (const char *c = tag; *c; c++)
        hash = 33 * hash + (unsigned char)*c;
    for (uint32_t i = 0; i < PROBES; i++) {
        struct trace_counters *entry =
            (void *)(kept.entries + (size_t)((hash + i) % kept.entry_count) * kept.entry_size);
        uint32_t sequence = __atomic_load_n(&entry->sequence, __ATOMIC_ACQUIRE);
        if (sequence != 0 && (sequence % 2 != 0 || !is_of(entry, result, tag)))
            continue;
        if (!__atomic_compare_exchange_n(&entry->sequence, &sequence, sequence + 1, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        return entry;
    }
    return NULL;
}

static void keep(const struct likwid_count_result *result, const char *tag)
{
    if (result->event_count < 0 || result->event_count > LIKWID_COUNT_EVENTS)
        return;
    if (!kept.entries && kept.take && !kept.is_over) {
        uint64_t signals = lock_take_hold(&kept.lock);
        if (!kept.entries && !kept.is_over)
            take_entries(result->event_count);
        lock_give_let(&kept.lock, signals);
    }
    if (!__atomic_load_n(&kept.entries, __ATOMIC_ACQUIRE) ||
        sizeof(struct trace_counters) + (size_t)result->event_count * sizeof(double) >
            kept.entry_size ||
        strlen(tag) >= sizeof((struct trace_counters *)0)->tag)
        return;
    struct trace_counters *entry = open_entry(result, tag);
    if (!entry)
        return;
    entry->event_count = (uint32_t)result->event_count;
    entry->cpu = result->cpu;
    entry->group = result->group;
    entry->calls = result->calls;
    entry->seconds = result->seconds;
    strcpy(entry->tag, tag);
    memcpy(entry + 1, result->values, entry->event_count * sizeof(double));
    __atomic_add_fetch(&entry->sequence, 1, __ATOMIC_RELEASE);
}

void likwid_snapshot_keep(const struct likwid_count_result *result)
{
    keep(result, result->tag);
}

/* In the place of liblikwid's. To ask for the results of the calling thread reads no counter. */
static int stop_region(const char *tag)
{
    struct likwid_count_result result = {.cpu = sched_getcpu()};
    int status = likwid.stop(tag), error = errno, events = LIKWID_COUNT_EVENTS;
    if (status >= 0 && tag && !kept.is_over) {
        likwid.get(tag, &events, result.values, &result.seconds, &result.calls);
        result.group = likwid.group();
        result.event_count = events;
        keep(&result, tag);
    }
    errno = error;
    return status;
}

static void lead(struct image *image, const ElfW(Rela) *relocation)
{
    struct image_reference reference;
    if (!image_reference_to(image, relocation, "likwid_markerStopRegion", &reference) ||
        reference.addend != 0)
        return;
    bool is_relro = image_is_relro(image, reference.slot);
    if (is_relro && !image_open_relro(image, true))
        return;
    __atomic_store_n(reference.slot, (uintptr_t)stop_region, __ATOMIC_RELAXED);
    if (is_relro)
        image_open_relro(image, false);
}

static int lead_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct image image;
    (void)size, (void)data;
    if (!image_read(&image, info) || image_holds(&image, &kept))
        return 0;
    for (int which = 0; which < 2; which++) {
        for (size_t i = 0; i < image.relocations[which].count; i++)
            lead(&image, &image.relocations[which].list[i]);
    }
    return 0;
}

/* An open handle of the liblikwid that is loaded; NULL: none is. */
static void *find_likwid(void)
{
    static const char *const names[] = {"liblikwid.so.5.2", "liblikwid.so.5", "liblikwid.so"};
    void *library = NULL;
    for (size_t i = 0; dlopen && !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
    return library;
}

void likwid_snapshot_use(void *(*take)(const struct trace_area *area))
{
    void *library = find_likwid();
    kept.take = take;
    if (!library)
        return;
    *(void **)&likwid.stop = dlsym(library, "likwid_markerStopRegion");
    *(void **)&likwid.get = dlsym(library, "likwid_markerGetRegion");
    *(void **)&likwid.group = dlsym(library, "perfmon_getIdOfActiveGroup");
    if (likwid.stop && likwid.get && likwid.group)
        dl_iterate_phdr(lead_object, NULL);
}

void likwid_snapshot_drop(void)
{
    kept.is_over = true;
    kept.take = NULL;
    kept.entries = NULL;
    kept.lock = 0;
}
