/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a group: world ranks in its order, as runs and as text, "0-3,8-14:2". */
#ifndef SCOPE_MEMBERS_H
#define SCOPE_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/trace_format.h"

enum { MEMBERS_RUN_SIZE = 64 };

/* Writes a run as it stands in such a text: "5", "0-3" or "8-14:2", as Slurm and cpusets write
 * lists. Returns text. */
const char *members_print_run(const struct trace_rank_run *run, char text[static MEMBERS_RUN_SIZE]);

/* Takes the next run from *members and moves it on. False at the end, and at the "..." of a text
 * that does not tell all. */
bool members_next(const char **members, struct trace_rank_run *run);

/* The world rank of the member with this index, from 0; -1 where the runs do not tell. */
int64_t members_at(const struct trace_rank_run *runs, uint32_t run_count, uint64_t index);

#endif
