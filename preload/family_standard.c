/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers for libraries with the standard binary interface of MPI 5.0. */
#define _GNU_SOURCE
#include "preload/abi/standard.h"

#include <stdbool.h>
#include <stdint.h>

#include "preload/glibc_compat.h"

#define FAMILY FAMILY_STANDARD
#define HANDLE(handle) ((uint64_t)(uintptr_t)(handle))
#define COMM_WORLD ((MPI_Comm)ABI_COMM_WORLD)
#define COMM_SELF ((MPI_Comm)ABI_COMM_SELF)
#define COMM_NULL ((MPI_Comm)ABI_COMM_NULL)
#define REQUEST_NULL ((MPI_Request)ABI_REQUEST_NULL)
#define OP_NO_OP ((MPI_Op)ABI_NO_OP)

enum { DATATYPE_HUGE = -2 };

static int (*type_size)(MPI_Datatype, int *);
static int (*to_int)(MPI_Comm);
static int (*get_elements)(const MPI_Status *, MPI_Datatype, MPI_Count *);

static int family_attach(void *library)
{
    *(void **)&type_size = dlsym(library, "PMPI_Type_size");
    *(void **)&to_int = dlsym(library, "PMPI_Comm_toint");
    *(void **)&get_elements = dlsym(library, "PMPI_Get_elements_c");
    return type_size && to_int && get_elements ? 0 : -1;
}

static inline int64_t datatype_size(MPI_Datatype datatype)
{
    int size;
    if (!datatype || HANDLE(datatype) == ABI_DATATYPE_NULL ||
        type_size(datatype, &size) != MPI_SUCCESS)
        return -1;
    return size >= 0 ? size : DATATYPE_HUGE;
}

static bool is_communicator(MPI_Comm comm)
{
    return comm && comm != COMM_NULL;
}

static uint64_t fortran_handle(MPI_Comm comm)
{
    return (uint64_t)to_int(comm);
}

/* Where a status keeps the size is the library's own affair. */
static int64_t status_bytes(const MPI_Status *status)
{
    MPI_Count bytes;
    if (get_elements(status, (MPI_Datatype)ABI_BYTE, &bytes) != MPI_SUCCESS)
        return -1;
    return bytes >= 0 ? bytes : -1;
}

#include "preload/wrappers.h"

static const char *const texts[] = {"", NULL}; /* whoever made it */

const struct family family_standard = {
    .id = FAMILY_STANDARD,
    .marker = "MPI_Abi_get_version",
    .texts = texts,
    .object = "libmpi_abi.so",
    .wrapper = wrapper_of,
    .quiet = quiet_of,
    .argument_error = ABI_ERR_ARG,
    .attach = attach,
};
