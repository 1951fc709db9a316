/* SPDX-License-Identifier: BSD-3-Clause */
/* The binary interface of MPICH and of the libraries that keep to it: types and constants.
 *
 * Checked against a real mpi.h by tests/abi; included there behind it, so types are left out.
 */
#ifndef SCOPE_ABI_MPICH_H
#define SCOPE_ABI_MPICH_H

struct abi_status {
    int count_low, count_high_and_cancelled;
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
};

#ifndef MPI_VERSION
typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Errhandler;
typedef struct ADIOI_FileD *MPI_File;
typedef int MPI_Group;
typedef int MPI_Info;
typedef int MPI_Message;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Session;
typedef int MPI_Win;
typedef struct abi_status MPI_Status;
typedef long MPI_Aint;
typedef long MPI_Count; /* long long in MPICH 5: the same to a caller */
typedef long MPI_Offset;
enum { MPI_SUCCESS = 0 };

#include "preload/abi/callbacks.h"
#endif

enum {
    ABI_ANY_SOURCE = -2,
    ABI_PROC_NULL = -1,
    ABI_ROOT = -3,
    ABI_ANY_TAG = -1,
    ABI_UNDEFINED = -32766,
    ABI_CART = 2,
    ABI_GRAPH = 1,
    ABI_DIST_GRAPH = 3,
    ABI_ERR_ARG = 12,
    ABI_THREAD_MULTIPLE = 3,

    ABI_COMM_WORLD = 0x44000000,
    ABI_COMM_SELF = 0x44000001,
    ABI_COMM_NULL = 0x04000000,
    ABI_REQUEST_NULL = 0x2c000000,
    ABI_DATATYPE_NULL = 0x0c000000,
    ABI_NO_OP = 0x5800000e,

    /* A handle carries its kind; a basic datatype's also its size, in these bits. The null handle
     * of a kind has the kind's bits alone. */
    ABI_HANDLE_KIND_MASK = 0x3c000000,
    ABI_DATATYPE_BASIC_MASK = (int)0xff000000,
    ABI_DATATYPE_BASIC = 0x4c000000,
};
#define ABI_DATATYPE_BASIC_SIZE(handle) ((handle) >> 8 & 0xff)
#define ABI_THREAD_LEVEL(level) (level)
#define ABI_STATUS_IGNORE ((MPI_Status *)1)
#define ABI_IN_PLACE ((void *)-1)

#endif
