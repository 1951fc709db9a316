/* SPDX-License-Identifier: BSD-3-Clause */
/* The child of slurmstepd that adds an exit record to a run directory, with the ids of the job. */
#ifndef SCOPE_EXIT_CHILD_H
#define SCOPE_EXIT_CHILD_H

#include <stddef.h>

#include "schema/user_ids.h"

struct exit_child {
    struct user_ids ids;
    const char *run;  /* absolute path of the run directory */
    const char *name; /* of the file in it */
    const char *line;
    size_t length;
};

/* Appends the line, if the run directory is there and no link. What it cannot do as the job's user
 * it does not do. Returns 0, also if nothing was written, or -1 if the file system did not answer
 * within limit_ms. */
int exit_child_append(const struct exit_child *child, int limit_ms);

#endif
