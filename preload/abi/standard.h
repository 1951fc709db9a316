/* SPDX-License-Identifier: BSD-3-Clause */
/* The standard binary interface of MPI 5.0 (libmpi_abi.so): types and constants.
 *
 * Checked against a real mpi.h by tests/abi; included there behind it, so types are left out.
 */
#ifndef SCOPE_ABI_STANDARD_H
#define SCOPE_ABI_STANDARD_H

#include <stdint.h>

struct abi_status {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int internal[5];
};

#ifndef MPI_VERSION
typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_Win *MPI_Win;
typedef struct abi_status MPI_Status;
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Count;
typedef int64_t MPI_Offset;
enum { MPI_SUCCESS = 0 };

#include "preload/abi/callbacks.h"
#endif

enum {
    ABI_ANY_SOURCE = -1,
    ABI_PROC_NULL = -3,
    ABI_ROOT = -4,
    ABI_ANY_TAG = -2,
    ABI_UNDEFINED = -32766,
    ABI_CART = 211,
    ABI_GRAPH = 212,
    ABI_DIST_GRAPH = 213,
    ABI_ERR_ARG = 13,
    ABI_THREAD_MULTIPLE = 4096,

    /* Handles are pointers; the predefined ones are these numbers. */
    ABI_COMM_NULL = 0x100,
    ABI_COMM_WORLD = 0x101,
    ABI_COMM_SELF = 0x102,
    ABI_REQUEST_NULL = 0x180,
    ABI_DATATYPE_NULL = 0x200,
    ABI_BYTE = 0x247,
    ABI_NO_OP = 0x3d,
};
/* From 0, 1024, 2048, 4096 to what others have: 0 to 3. */
#define ABI_THREAD_LEVEL(level) ((level) > 2048 ? 3 : (level) / 1024)
#define ABI_STATUS_IGNORE ((MPI_Status *)0)
#define ABI_IN_PLACE ((void *)1)

#endif
