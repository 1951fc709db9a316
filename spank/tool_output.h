/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program of ours prints, within bounds. */
#ifndef SCOPE_TOOL_OUTPUT_H
#define SCOPE_TOOL_OUTPUT_H

#include <stddef.h>

#include "schema/error.h"

/* Runs arguments[0] with the environment, input and errors at /dev/null, no other descriptor, and
 * waits at most limit_ms: then it is killed. text[size] gets what it printed, which ends with a
 * zero. Returns 0, or -1 and err: it cannot be started, took too long, or printed too much. */
int tool_output_read(const char *const *arguments, char *const *environment, int limit_ms,
                     char *text, size_t size, struct error *err);

#endif
