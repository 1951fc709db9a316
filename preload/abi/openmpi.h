/* SPDX-License-Identifier: BSD-3-Clause */
/* The binary interface of Open MPI: types, constants and the data symbols behind its handles.
 *
 * Checked against a real mpi.h by tests/abi; included there behind it, so types are left out.
 */
#ifndef SCOPE_ABI_OPENMPI_H
#define SCOPE_ABI_OPENMPI_H

#include <stddef.h>

struct abi_status {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int cancelled;
    size_t count;
};

#ifndef MPI_VERSION
typedef struct ompi_communicator_t *MPI_Comm;
typedef struct ompi_datatype_t *MPI_Datatype;
typedef struct ompi_errhandler_t *MPI_Errhandler;
typedef struct ompi_file_t *MPI_File;
typedef struct ompi_group_t *MPI_Group;
typedef struct ompi_info_t *MPI_Info;
typedef struct ompi_message_t *MPI_Message;
typedef struct ompi_op_t *MPI_Op;
typedef struct ompi_request_t *MPI_Request;
typedef struct ompi_instance_t *MPI_Session;
typedef struct ompi_win_t *MPI_Win;
typedef struct abi_status MPI_Status;
typedef ptrdiff_t MPI_Aint;
typedef long long MPI_Count;
typedef long long MPI_Offset;
enum { MPI_SUCCESS = 0 };

#include "preload/abi/callbacks.h"
#endif

enum {
    ABI_ANY_SOURCE = -1,
    ABI_PROC_NULL = -2,
    ABI_ROOT = -4,
    ABI_ANY_TAG = -1,
    ABI_UNDEFINED = -32766,
    ABI_CART = 1,
    ABI_GRAPH = 2,
    ABI_DIST_GRAPH = 3,
    ABI_ERR_ARG = 13,
    ABI_THREAD_MULTIPLE = 3,
};
#define ABI_THREAD_LEVEL(level) (level)
#define ABI_STATUS_IGNORE ((MPI_Status *)0)
#define ABI_IN_PLACE ((void *)1)

/* Handles are addresses: of symbols that the program may hold a copy of. */
#define ABI_COMM_WORLD_SYMBOL "ompi_mpi_comm_world"
#define ABI_COMM_SELF_SYMBOL "ompi_mpi_comm_self"
#define ABI_COMM_NULL_SYMBOL "ompi_mpi_comm_null"
#define ABI_REQUEST_NULL_SYMBOL "ompi_request_null"
#define ABI_DATATYPE_NULL_SYMBOL "ompi_mpi_datatype_null"
#define ABI_NO_OP_SYMBOL "ompi_mpi_op_no_op"

#endif
