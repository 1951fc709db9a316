/* SPDX-License-Identifier: BSD-3-Clause */
/* The formulas of LIKWID's metrics, out of the text files of its groups. */
#ifndef SCOPE_LIKWID_FORMULAS_H
#define SCOPE_LIKWID_FORMULAS_H

#include <stddef.h>

enum { LIKWID_FORMULAS_MAX = 64 };

/* A group as liblikwid has it. */
struct likwid_names {
    const char *group;
    size_t event_count, metric_count;
    const char *const *events, *const *counters, *const *metrics;
};

/* Finds the group's file below directory/ARCHITECTURE/: liblikwid does not tell which architecture
 * it is, but the right file has the same events on the same counters and the same metrics, in the
 * same order. formulas[i] is then that of metric i, for the caller to free. Returns 0, or -1: there
 * is no such file, or there are several with different formulas. */
int likwid_formulas_find(const char *directory, const struct likwid_names *names,
                         char *formulas[LIKWID_FORMULAS_MAX]);

#endif
