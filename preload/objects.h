/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects (program and libraries) that are loaded into this process. */
#ifndef SCOPE_OBJECTS_H
#define SCOPE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum object_class {
    OBJECT_PROGRAM,     /* the user's program and libraries */
    OBJECT_MPI,         /* the MPI library and its plugins */
    OBJECT_MPI_FORTRAN, /* its Fortran layer, which calls MPI for the program */
    OBJECT_OWN,         /* this library */
};

/* What the object that holds address is. Safe in any thread; may read the loader's list of objects
 * for an address in none that is known. */
enum object_class objects_class_of(const void *address);

/* Where an object lies in memory. */
struct object_range {
    uintptr_t low, high;
};

/* The range of the library that holds address; false if none does, or it is this one, or the
 * program itself. */
bool objects_range_of_library(const void *address, struct object_range *range);

/* True if the object that holds address holds one of the functions as well, which may be NULL. */
bool objects_holds_any(const void *address, void *const *functions, size_t count);

/* True if address lies in a Fortran layer, but not in its own routine for operation ("comm_size"): the
 * layer asks for itself. */
bool objects_is_fortran_helper(const void *address, const char *operation);

/* True if a call from address that no other is in progress around is not the program's: it is the
 * MPI library's own, or was handed from this one to one of its functions that ends in a jump. Fast
 * where it was asked before. */
bool objects_is_library(const void *address);

/* True if the object that holds address defines a symbol of this name. */
bool objects_defines(const void *address, const char *name);

/* Finds the MPI library: the object, other than this one, that defines PMPI_Init. Returns a dlopen
 * handle that is kept open, with *name the object's path (valid for good), or NULL. */
void *objects_find_mpi(const char **name);

/* True if the name of a loaded object promises that objects_find_mpi would find it. Cheap enough
 * for every process. */
bool objects_promise_mpi(void);

/* Opens the loaded object that holds address; NULL if there is none. */
void *objects_open_holder(const void *address);

#endif
