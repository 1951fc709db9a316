/* SPDX-License-Identifier: BSD-3-Clause */
/* LIKWID's marker file: what a rank's markers measured, as liblikwid wrote it.
 *
 *     THREADS REGIONS GROUPS
 *     ID:TAG-GROUP                                     for each region, ID from 0 on
 *     ID GROUP CPU CALLS SECONDS EVENTS VALUE ...      for each region and thread
 *
 * A program may write it in a locale with a decimal comma. LIKWID tells of threads that never were
 * in a region, too, with 0 calls: those rows are left out.
 */
#ifndef SCOPE_LIKWID_MARKER_H
#define SCOPE_LIKWID_MARKER_H

#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"

enum {
    LIKWID_MARKER_SIZE_MAX = 64 << 20, /* of a file; 256 threads in 100 regions are 4 MB */
    LIKWID_MARKER_EVENTS_MAX = 1024,
};

/* One thread in a region. */
struct likwid_thread {
    int32_t cpu; /* hardware thread */
    int64_t calls;
    double seconds;
};

struct likwid_region {
    char *tag;
    int32_t group; /* number of the event set, from 0 on */
    struct likwid_thread *threads;
    size_t thread_count, event_count;
    double *values; /* those of the first thread, then those of the next; may be NaN */

    double *metrics; /* likewise; the file has none: likwid_metrics.h. NULL: not known */
    size_t metric_count;
    struct likwid_owner *owners; /* of threads, see likwid_sockets.h. NULL: each owns its values */
};

/* Who tells what was counted on a thread's socket. */
struct likwid_owner {
    uint32_t rank;
    int32_t cpu; /* -1: the thread itself */
    int32_t socket;
};

struct likwid_marker {
    struct likwid_region *regions; /* each with a thread at least */
    size_t region_count;
    struct error problem; /* the first one; "" if there is none */
    size_t problem_count; /* lines */
};

/* Reads a file's text (any bytes). What is malformed or cut off is left out: see problem. Returns 0
 * and *marker, to be released, or -1 if memory is out. Needs the C locale, which programs have at
 * their start. */
int likwid_marker_parse(struct likwid_marker *marker, const char *text, size_t size);

/* Reads dirfd/name, likewise. Returns 1 if there is no such file, which is no problem. */
int likwid_marker_read(struct likwid_marker *marker, int dirfd, const char *name);

void likwid_marker_release(struct likwid_marker *marker);

#endif
