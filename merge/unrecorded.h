/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of a rank that its trace counted, having no room for their events. */
#ifndef SCOPE_UNRECORDED_H
#define SCOPE_UNRECORDED_H

#include <stddef.h>
#include <stdint.h>

#include "merge/rank.h"
#include "schema/trace_reader.h"

/* Calls with given arguments, of all threads. */
struct unrecorded_call {
    struct call call; /* its count is of calls here */
    int64_t ns;       /* in all of them */
};

struct unrecorded {
    uint64_t total; /* calls */
    int64_t ns;
    size_t count;
    struct unrecorded_call calls[];
};

enum { UNRECORDED_TEXT = 320 };

/* First pass: reads what the trace counted into rank->unrecorded (to be freed; NULL if there is
 * nothing), with the names of operations in names, and counts it in rank->dropped. rank->clock is
 * settled. Returns 0, or -1 if memory is out. */
int unrecorded_read(struct rank *rank, struct trace_reader *reader, struct names *names);

/* Says why the trace stopped taking events, and what was not recorded for that. */
void unrecorded_tell(const struct rank *rank, char text[static UNRECORDED_TEXT]);

#endif
