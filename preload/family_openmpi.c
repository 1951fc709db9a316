/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers for Open MPI. */
#define _GNU_SOURCE
#include "preload/abi/openmpi.h"

#include <stdbool.h>
#include <stdint.h>

#include "preload/glibc_compat.h"

#define FAMILY FAMILY_OPENMPI
#define HANDLE(handle) ((uint64_t)(uintptr_t)(handle))

static struct {
    MPI_Comm world, self, null;
    MPI_Request null_request;
    MPI_Datatype null_datatype;
    MPI_Op no_op;
    int (*c2f)(MPI_Comm);
    int (*type_size)(MPI_Datatype, int *);
} openmpi;

#define COMM_WORLD openmpi.world
#define COMM_SELF openmpi.self
#define COMM_NULL openmpi.null
#define REQUEST_NULL openmpi.null_request
#define OP_NO_OP openmpi.no_op

enum { DATATYPE_HUGE = -2 };

/* A program that is not position independent holds its own copy of the library's objects, and its
 * address is the one that both use: what the program sees is asked first. */
static void *object(void *library, const char *name)
{
    void *seen = dlsym(RTLD_DEFAULT, name);
    return seen ? seen : dlsym(library, name);
}

static int family_attach(void *library)
{
    openmpi.world = object(library, ABI_COMM_WORLD_SYMBOL);
    openmpi.self = object(library, ABI_COMM_SELF_SYMBOL);
    openmpi.null = object(library, ABI_COMM_NULL_SYMBOL);
    openmpi.null_request = object(library, ABI_REQUEST_NULL_SYMBOL);
    openmpi.null_datatype = object(library, ABI_DATATYPE_NULL_SYMBOL);
    openmpi.no_op = object(library, ABI_NO_OP_SYMBOL);
    *(void **)&openmpi.c2f = dlsym(library, "PMPI_Comm_c2f");
    *(void **)&openmpi.type_size = dlsym(library, "PMPI_Type_size");
    return openmpi.world && openmpi.self && openmpi.null && openmpi.null_request &&
                   openmpi.null_datatype && openmpi.c2f && openmpi.type_size
               ? 0
               : -1;
}

static inline __attribute__((always_inline)) int64_t datatype_size(MPI_Datatype datatype)
{
    int size;
    if (!datatype || datatype == openmpi.null_datatype ||
        openmpi.type_size(datatype, &size) != MPI_SUCCESS)
        return -1;
    return size >= 0 ? size : DATATYPE_HUGE;
}

static bool is_communicator(MPI_Comm comm)
{
    return comm && comm != COMM_NULL;
}

static uint64_t fortran_handle(MPI_Comm comm)
{
    return (uint64_t)openmpi.c2f(comm);
}

static int64_t status_bytes(const MPI_Status *status)
{
    return (int64_t)status->count;
}

#include "preload/wrappers.h"

static const char *const texts[] = {"Open MPI", "IBM Spectrum MPI", NULL};

const struct family family_openmpi = {
    .id = FAMILY_OPENMPI,
    .marker = ABI_COMM_WORLD_SYMBOL,
    .texts = texts,
    .wrapper = wrapper_of,
    .quiet = quiet_of,
    .argument_error = ABI_ERR_ARG,
    .attach = attach,
};
