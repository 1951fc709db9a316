/* SPDX-License-Identifier: BSD-3-Clause */
/* The regions of LIKWID that a program without markers of its own gets: "app" from the end of
 * MPI_Init to the start of MPI_Finalize and, on request, "mpi" in its MPI calls.
 *
 * Another process counts (likwid_helper.h). errno is kept. */
#ifndef SCOPE_LIKWID_REGIONS_H
#define SCOPE_LIKWID_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/likwid_count.h"

/* True while MPI calls are to be told of. Each then goes the long way. */
extern bool likwid_regions_mpi;

/* Before MPI_Init, for counting takes a second to start: record is what the plugin has found out
 * (likwid_record.h), or NULL. Nothing is started where it says why nothing is counted, or the
 * program has LIKWID in it. */
void likwid_regions_prepare(const char *record);

/* After MPI_Init: waits until all is ready. False, and the reason, if it will not be. True as well
 * where nothing was started. */
bool likwid_regions_await(char reason[static LIKWID_COUNT_REASON]);

/* Begins app, and says where its results go: the name of the file of a rank's markers. It is ticks,
 * of which a second has so many. lost is called, once, if counting has come to an early end. Returns
 * whether app has begun. */
bool likwid_regions_begin(const char *markers, bool with_mpi, uint64_t ticks, uint64_t second,
                          void (*lost)(const char *reason));

/* The same thread: enters an MPI call, and leaves it. *cpu is where, for both. */
void likwid_regions_enter(int32_t *cpu);
void likwid_regions_leave(int32_t *cpu);

/* From time to time: ticks are now. */
void likwid_regions_look(uint64_t ticks);

/* Before MPI_Finalize, or what else ends the rank: the results are written. */
void likwid_regions_end(void);

/* There will be no rank; or this is a child of fork(). */
void likwid_regions_drop(void);

#endif
