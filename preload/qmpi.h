/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts QMPI tools: which instances there are, what they registered, and what each calls next.
 *
 * The functions that tools call (QMPI_Register_tool_name and so on) are exported under these names,
 * which qmpi(7) describes. All is written before MPI starts and only read afterwards.
 */
#ifndef SCOPE_QMPI_H
#define SCOPE_QMPI_H

#include <stdbool.h>

#include "preload/mpi_names.h"
#include "preload/qmpi_way.h"
#include "schema/trace_format.h"

/* Loads and initialises the tools that the user asked for, if any, for an MPI library of this
 * family with this version text; argument_error is its MPI_ERR_ARG. Once. */
void qmpi_start(enum trace_family family, const char *version, int argument_error);

/* True while the tools' init functions run: threads that one of them waits for may call MPI. */
bool qmpi_is_starting(void);

/* True if some tool registered the function in front of the recorder or behind it; behind it. */
bool qmpi_wants(enum mpi_function function);
bool qmpi_wants_below(enum mpi_function function);

/* Where a program's call of the function goes, and a wrapper's. Only of one that is wanted. */
const struct qmpi_hop *qmpi_first(enum mpi_function function);
const struct qmpi_hop *qmpi_first_below(enum mpi_function function);

/* What leads to the wrapper, and to the library. */
const struct qmpi_hop *qmpi_recorder(enum mpi_function function);
const struct qmpi_hop *qmpi_library(enum mpi_function function);

/* True if address lies in a tool's library: its calls are not the program's. */
bool qmpi_is_tool(const void *address);

/* True if a Fortran layer calls the function for itself (mpi_functions.def: helps). */
bool qmpi_helps(enum mpi_function function);

/* What the functions of QMPI return where they cannot do what is asked: MPI_ERR_ARG. */
int qmpi_error(void);

#endif
