/* SPDX-License-Identifier: BSD-3-Clause */
/* What LIKWID's regions have so far, kept in the trace (AREA_COUNTERS), for a rank whose markers
 * are never closed. Where the trace is not mapped, nothing is kept. errno is kept. */
#ifndef SCOPE_LIKWID_SNAPSHOT_H
#define SCOPE_LIKWID_SNAPSHOT_H

#include "schema/likwid_count.h"
#include "schema/trace_format.h"

/* Begins. take finds room in the trace, or returns NULL. If the program has LIKWID in it, each
 * region that a thread of its own ends is kept from now on. */
void likwid_snapshot_use(void *(*take)(const struct trace_area *area));

/* Keeps a result in place of an earlier one of the same region, CPU and event set. */
void likwid_snapshot_keep(const struct likwid_count_result *result);

/* This is a child of fork(): the trace is not its own. */
void likwid_snapshot_drop(void);

#endif
