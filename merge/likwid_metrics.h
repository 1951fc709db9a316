/* SPDX-License-Identifier: BSD-3-Clause */
/* LIKWID's metrics by the formulas of a rank's record, as liblikwid computes them. */
#ifndef SCOPE_LIKWID_METRICS_H
#define SCOPE_LIKWID_METRICS_H

#include <stdbool.h>

#include "merge/likwid_rank.h"

/* Whether liblikwid counts it on the first CPU of each socket alone. counter is a counter's name,
 * or a formula: then whether all of it is counted so. */
bool likwid_metrics_is_uncore(const char *counter);

/* Computes region->metrics of the rank, where the record has names and any formula; a metric whose
 * formula is not known, or names something unknown, is NaN. Returns 0, or -1 if memory is out. */
int likwid_metrics_compute(const struct likwid_rank *rank, struct likwid_region *region);

/* Computes those again that depend on nothing but what is counted once for a socket, for a thread
 * whose values changed. */
void likwid_metrics_correct(const struct likwid_rank *rank, struct likwid_region *region,
                            size_t thread);

#endif
