/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the counters of this rank go that LIKWID's markers read. */
#ifndef SCOPE_PRELOAD_LIKWID_H
#define SCOPE_PRELOAD_LIKWID_H

#include <stdint.h>

#include "schema/trace_format.h"

/* Writes what is counted, or why nothing is, beside the trace of the rank, and tells liblikwid to
 * put its markers there when it closes them. record: as likwid_record.h has it, with tabs between
 * lines. world: the directory of the trace, of which path is the absolute name. What fails costs the
 * counters alone. */
void likwid_attach(int world, const char *path, uint32_t rank, const char *record);

/* Begins to count in a program that has no markers of its own, where that was prepared. MPI is up,
 * it is ticks, of which a second has so many. What regions have so far is kept in the trace, where
 * take finds room for it. */
void likwid_begin(uint64_t ticks, uint64_t second,
                  void *(*take)(const struct trace_area *area));

#endif
