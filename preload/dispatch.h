/* SPDX-License-Identifier: BSD-3-Clause */
/* From an exported MPI name to the function that serves it in this process.
 *
 * Every exported name is a jump through a table (trampolines.S). An entry first leads to
 * dispatch_resolve, which finds the MPI library that is really there and puts in the wrapper of its
 * family, or the library's own function where nothing is to be recorded.
 */
#ifndef SCOPE_DISPATCH_H
#define SCOPE_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/mpi_names.h"
#include "preload/selection.h"
#include "schema/trace_format.h"

/* Two entries per function: under its MPI_ and its PMPI_ name. */
#define ENTRY_MPI(function) (2 * (function))
#define ENTRY_PMPI(function) (2 * (function) + 1)
enum { ENTRY_COUNT = 2 * FUNCTION_COUNT };

/* Wrappers for one kind of MPI library. */
struct family {
    enum trace_family id;
    const char *marker;       /* a symbol that libraries of this family define, no others */
    const char *const *texts; /* what its version text may begin with; NULL ends the list */
    const char *object;       /* what its file's name begins with; NULL: any */
    /* The wrapper of an entry; and that of one that is not recorded. NULL: none is needed. */
    void *(*wrapper)(unsigned entry);
    void *(*quiet)(unsigned entry);
    int argument_error; /* its MPI_ERR_ARG */
    /* Gets what the wrappers need from the library; 0, or -1 if something is missing. */
    int (*attach)(void *library);
};

extern const struct family family_openmpi, family_mpich, family_standard;

extern void *dispatch_next_table[ENTRY_COUNT];

/* The function that a wrapper of an entry calls: for MPI_X the next in search order, for PMPI_X the
 * MPI library's own, or QMPI tools that are in between. Valid in a wrapper of that entry. */
static inline void *dispatch_next(unsigned entry)
{
    return __atomic_load_n(&dispatch_next_table[entry], __ATOMIC_ACQUIRE);
}

/* Called by the trampolines: where to go for an entry, called from caller with that first argument.
 * Does not return if the name is nowhere to be found. MPI_Pcontrol comes here every time: its
 * further arguments are nobody's business, and a jump passes them on as they are. */
void *dispatch_resolve(unsigned entry, const void *caller, uintptr_t first);

/* For QMPI tools: what stands behind all of us for an entry; the wrapper or what else serves it
 * when the recorder's turn comes, or if there is no such function one that returns an error; and
 * what sees it without recording it, or NULL. */
void *dispatch_behind(unsigned entry);
void *dispatch_recorded(unsigned entry);
void *dispatch_quiet(unsigned entry);

/* True if the object that holds address holds a function that stands behind us. */
bool dispatch_is_behind(const void *address);

/* What the user wants, valid once the MPI library was found. */
const struct selection *dispatch_selection(void);

/* True if nothing is recorded now: MPI_Pcontrol(0), start=paused. */
bool dispatch_is_paused(void);

/* True if calls of the function are to be recorded now. */
bool dispatch_records(enum mpi_function function);

/* The exported name of an entry. */
const char *dispatch_name(unsigned entry);

/* The entry with this name; ENTRY_COUNT if it is not ours. */
unsigned dispatch_entry(const char *name);

/* The function that we export for an entry. */
void *dispatch_exported(unsigned entry);

/* True if an entry, called from caller, would find a function behind it. */
bool dispatch_serves(unsigned entry, const void *caller);

/* True if function is what the MPI library has under this name. */
bool dispatch_is_library(const char *name, const void *function);

/* The MPI library's version text; "" before an MPI library was found. */
const char *dispatch_mpi_version(void);

#endif
