/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that stand between a program, its QMPI tools, the recorder and the MPI library.
 *
 *     program -> head -> tools -> tail to the recorder -> wrapper -> below -> tools -> tail to the
 *     library -> library
 *
 * Tools in front of the recorder hang between head and tail, those behind it between below and
 * tail. A head is reached through the trampoline's entry, and only that of a function which some
 * tool has: all others go their way as if there were no tools.
 */
#ifndef SCOPE_QMPI_WAY_H
#define SCOPE_QMPI_WAY_H

#include <stdbool.h>

#include "preload/mpi_names.h"

/* What a tool is handed with a call and hands on, by value. Ours is the address that the program
 * called from, with the highest bit set where it called PMPI_X: nothing that could be outlived. */
struct qmpi_context {
    void **storage_stack; /* so called in mpi.h */
};

/* Where a call goes next: to a tool's wrapper with the tool's id, or to a tail with 0. */
struct qmpi_hop {
    void *function;
    int tool;
};

/* For a program's call of an entry; for the wrapper of a function, in place of the library's. NULL
 * if tools cannot have the function. */
void *qmpi_way_head(unsigned entry);
void *qmpi_way_below(enum mpi_function function);

/* What a tool calls behind which there is no other: to the recorder, or to the library. */
void *qmpi_way_to_recorder(enum mpi_function function);
void *qmpi_way_to_library(enum mpi_function function);

/* True if address, which lies in this library, is where a program's call is handed to a wrapper, or
 * where tools are called. */
bool qmpi_way_passes_on(const void *address);

/* Where the program called from; NULL if the context is none. */
const void *qmpi_way_caller(struct qmpi_context context);

/* What takes the place of a function that there is not: it returns an error. */
int qmpi_way_nowhere(void);

#endif
