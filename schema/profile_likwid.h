/* SPDX-License-Identifier: BSD-3-Clause */
/* What LIKWID counted in a rank, as a part of the profile file: /rank<N>/likwid. */
#ifndef SCOPE_PROFILE_LIKWID_H
#define SCOPE_PROFILE_LIKWID_H

#include <stddef.h>
#include <stdint.h>

/* A region that the program's markers name. Matrices have a row for each event or metric, in it a
 * value for each thread. */
struct profile_likwid_region {
    const char *tag; /* each once in a rank: readers know regions by it */
    int32_t group;
    const char *group_name, *source;
    size_t thread_count, event_count, metric_count;
    const int64_t *cpus, *calls;
    const double *seconds, *events, *metrics;
    const char *const *event_names, *const *counter_names, *const *metric_names;
    size_t counter_name_count; /* as many as events, or none */
    const char *const *owners; /* texts: of which CPU the socket's counts are those of others */
    size_t owner_count;
};

struct profile_likwid {
    uint32_t rank;
    const char *const *names, *const *values; /* attributes */
    size_t attribute_count;
    const struct profile_likwid_region *regions;
    size_t region_count;
};

#endif
