/* SPDX-License-Identifier: BSD-3-Clause */
/* Which run a directory means, to those who do not want to look for its name. */
#ifndef SCOPE_RUN_CHOICE_H
#define SCOPE_RUN_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "merge/run.h"
#include "schema/error.h"

struct run_choice {
    struct run run;
    size_t world;   /* the only one of the run's that is meant */
    bool has_world; /* else all are */
};

/* Opens the run that path means: it is a run directory, or a world of one, or it holds run
 * directories, of which the one that changed last is taken. Only looks. Returns 0 and *choice,
 * whose run is to be given to run_release; or -1 and err: path cannot be read, or no trace is
 * there. */
int run_choose(struct run_choice *choice, const char *path, struct error *err);

#endif
