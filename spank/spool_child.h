/* SPDX-License-Identifier: BSD-3-Clause */
/* The children of slurmstepd that copy a spool's traces and empty it, with the ids of the job. */
#ifndef SCOPE_SPOOL_CHILD_H
#define SCOPE_SPOOL_CHILD_H

#include "schema/user_ids.h"

struct spool_child {
    struct user_ids ids;
    const char *spool;     /* absolute path of the step's directory in the spool */
    const char *run;       /* of the run directory */
    const char *container; /* name of the file in it */
};

/* Copies all traces into the container, if there are any and the run directory is there and no
 * link. Returns 0, 1 if it could not be done, or -1 if it was not within limit_ms; the
 * container tells whether it has all. */
int spool_child_copy(const struct spool_child *child, int limit_ms);

/* Removes what is in the directory, links themselves and not what they point to. Returns as
 * spool_child_copy. */
int spool_child_empty(const struct spool_child *child, int limit_ms);

#endif
