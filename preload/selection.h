/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions are recorded: what the user's word mpi-calls=... picks. */
#ifndef SCOPE_SELECTION_H
#define SCOPE_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/mpi_names.h"

struct selection {
    uint32_t kinds; /* 1 << enum mpi_kind */
    bool local;     /* with those that only ask or change something in this process */
    bool each_poll; /* polls=all: each is an event, not only each run */
    bool paused;    /* start=paused: until MPI_Pcontrol(1) */
};

/* Reads WHAT, which was checked where it was given (schema/options.h). mpi-calls alone picks all
 * kinds without local functions; =all adds those; =KIND+KIND picks kinds. NULL: as alone. */
struct selection selection_read(const char *what);

/* True if the selection has the function. A function that polls is in the kind poll too. */
bool selection_has(const struct selection *selection, enum mpi_function function);

#endif
