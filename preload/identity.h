/* SPDX-License-Identifier: BSD-3-Clause */
/* Who this rank is and where its trace goes: from the environment that the plugin or sp-run left.
 */
#ifndef SCOPE_IDENTITY_H
#define SCOPE_IDENTITY_H

#include <stdbool.h>

#include "preload/recorder.h"
#include "schema/error.h"
#include "schema/trace_writer.h"

/* True if this process is a task of the step, or a child of the sp-run, that asked for a profile.
 * A nested srun's tasks inherit the variables of the step around them and are not. */
bool identity_wanted(void);

/* WHAT, as the user gave it; NULL if it was not handed to this process. */
const char *identity_what(void);

/* What LIKWID is to count in this process, or why it counts nothing (likwid_record.h, with tabs
 * between lines); NULL if nothing was asked for. */
const char *identity_counters(void);

/* Which rank of how many the launcher started this process as, from its variables; 0 of 1 if it has
 * none. For programs that have no MPI_COMM_WORLD to ask. */
void identity_launched(uint32_t *rank, uint32_t *size);

/* Makes the run directory, its job record (the first rank does) and this rank's trace in the
 * directory of its world. Returns 0, or -1 and err. */
int identity_create_trace(struct trace_writer *writer, const struct recorder_world *world,
                          const struct trace_sync *first_sync,
                          void (*read_clocks)(struct trace_sync *sync), struct error *err);

#endif
