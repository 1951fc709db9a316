/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers for MPICH and the libraries that share its binary interface. */
#define _GNU_SOURCE
#include "preload/abi/mpich.h"

#include <stdbool.h>
#include <stdint.h>

#include "preload/glibc_compat.h"

#define FAMILY FAMILY_MPICH
#define HANDLE(handle) ((uint64_t)(uint32_t)(handle))
#define COMM_WORLD ((MPI_Comm)ABI_COMM_WORLD)
#define COMM_SELF ((MPI_Comm)ABI_COMM_SELF)
#define COMM_NULL ((MPI_Comm)ABI_COMM_NULL)
#define REQUEST_NULL ((MPI_Request)ABI_REQUEST_NULL)
#define OP_NO_OP ((MPI_Op)ABI_NO_OP)

enum { DATATYPE_HUGE = -2 };

static int (*type_size)(MPI_Datatype, int *);

static int family_attach(void *library)
{
    *(void **)&type_size = dlsym(library, "PMPI_Type_size");
    return type_size ? 0 : -1;
}

static inline __attribute__((always_inline)) int64_t datatype_size(MPI_Datatype datatype)
{
    int size;
    if ((datatype & ABI_DATATYPE_BASIC_MASK) == ABI_DATATYPE_BASIC)
        return ABI_DATATYPE_BASIC_SIZE(datatype);
    /* The library ends the program over a handle of another kind. */
    if ((datatype & ABI_HANDLE_KIND_MASK) != ABI_DATATYPE_NULL || datatype == ABI_DATATYPE_NULL ||
        type_size(datatype, &size) != MPI_SUCCESS)
        return -1;
    return size >= 0 ? size : DATATYPE_HUGE;
}

static bool is_communicator(MPI_Comm comm)
{
    return (comm & ABI_HANDLE_KIND_MASK) == ABI_COMM_NULL && comm != COMM_NULL;
}

static uint64_t fortran_handle(MPI_Comm comm)
{
    return HANDLE(comm);
}

static int64_t status_bytes(const MPI_Status *status)
{
    int64_t high = (uint32_t)status->count_high_and_cancelled >> 1; /* the lowest bit: cancelled */
    return high << 32 | (uint32_t)status->count_low;
}

#include "preload/wrappers.h"

static const char *const texts[] = {"MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPICH", NULL};

const struct family family_mpich = {
    .id = FAMILY_MPICH,
    .marker = "MPIR_Dup_fn", /* named by mpi.h, hence part of the binary interface */
    .texts = texts,
    .wrapper = wrapper_of,
    .quiet = quiet_of,
    .argument_error = ABI_ERR_ARG,
    .attach = attach,
};
