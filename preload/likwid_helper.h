/* SPDX-License-Identifier: BSD-3-Clause */
/* The process that counts for this rank (schema/likwid_count.h): none of it is in the rank, and it
 * costs no more than the time that each of these may take. errno is kept; signals are blocked. */
#ifndef SCOPE_LIKWID_HELPER_H
#define SCOPE_LIKWID_HELPER_H

#include <stdbool.h>

#include "schema/likwid_count.h"

/* Starts the program at path, as nobody's child: this process is told of its end as little as of
 * its start. False if that cannot be. */
bool likwid_helper_start(const char *path);

/* True while there is one that answers. */
bool likwid_helper_runs(void);

/* Waits for its first reply. False, and the reason: it does not count, and is there no more. */
bool likwid_helper_await(int limit_ms, char reason[static LIKWID_COUNT_REASON]);

/* Sends a request and waits for the reply; see is called with what LIKWID_COUNT_LOOK brings, and
 * may be NULL for others. False, and the reason, as above. */
bool likwid_helper_ask(const struct likwid_count_request *request,
                       void (*see)(const struct likwid_count_result *result), int limit_ms,
                       char reason[static LIKWID_COUNT_REASON]);

/* Leaves it alone: it comes to its end. Also in a child of fork(), which has none. */
void likwid_helper_leave(void);

#endif
