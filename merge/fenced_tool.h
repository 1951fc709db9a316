/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that may crash, hang or say anything: what it answers, within bounds. */
#ifndef SCOPE_FENCED_TOOL_H
#define SCOPE_FENCED_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FENCED_TOOL_SAID = 256, FENCED_TOOL_INPUT = 3 };

struct fenced_tool {
    const char *const *arguments; /* the first is its path; NULL ends them */
    const char *const *variables; /* names of those that it has of this process's environment */
    int input;                    /* what it has as descriptor FENCED_TOOL_INPUT */
    int64_t limit_ms;
    size_t most; /* bytes of its answer */

    /* The answer. */
    char *text; /* what it wrote to stdout, terminated; to be freed */
    size_t length;
    char said[FENCED_TOOL_SAID]; /* the first line of what it wrote to stderr */
    int64_t took_ms;
    int status; /* as of waitpid, if it ended by itself */
    bool is_too_slow, is_too_long;
};

/* Runs it until it closes stdout, or breaks a bound; then it is ended, and all that it started and
 * that stayed in its process group. Returns 0, or -1 with errno: it could not be started. */
int fenced_tool_run(struct fenced_tool *tool);

#endif
