/* SPDX-License-Identifier: BSD-3-Clause */
/* A stand-in for an MPI library: what programs include, and how tests look into it.
 *
 * Compiled with STANDIN_OPENMPI (handles are addresses) or without (MPICH's, which are numbers).
 */
#ifndef SCOPE_STANDIN_H
#define SCOPE_STANDIN_H

#include <stdint.h>

#ifdef STANDIN_OPENMPI
#include "preload/abi/openmpi.h"
struct ompi_communicator_t {
    int size;
    char room[60];
};
struct ompi_request_t {
    char room[64];
};
struct ompi_datatype_t {
    int size;
    char room[60];
};
extern struct ompi_communicator_t ompi_mpi_comm_world, ompi_mpi_comm_self, ompi_mpi_comm_null;
extern struct ompi_request_t ompi_request_null;
extern struct ompi_datatype_t ompi_mpi_datatype_null, ompi_mpi_int, ompi_mpi_double;
#define MPI_COMM_WORLD (&ompi_mpi_comm_world)
#define MPI_COMM_SELF (&ompi_mpi_comm_self)
#define MPI_COMM_NULL (&ompi_mpi_comm_null)
#define MPI_REQUEST_NULL (&ompi_request_null)
#define MPI_INT (&ompi_mpi_int)
#define MPI_DOUBLE (&ompi_mpi_double)
#else
#include "preload/abi/mpich.h"
#define MPI_COMM_WORLD ABI_COMM_WORLD
#define MPI_COMM_SELF ABI_COMM_SELF
#define MPI_COMM_NULL ABI_COMM_NULL
#define MPI_REQUEST_NULL ABI_REQUEST_NULL
#define MPI_INT 0x4c000405
#define MPI_DOUBLE 0x4c00080b
#endif
#define MPI_STATUS_IGNORE ABI_STATUS_IGNORE
#define MPI_ANY_SOURCE ABI_ANY_SOURCE
#define MPI_ANY_TAG ABI_ANY_TAG
#define MPI_THREAD_MULTIPLE ABI_THREAD_MULTIPLE

/* Every function of the table, under both names. */
#ifdef __cplusplus
extern "C" {
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm);
#else
#define CHECK(name, type) __typeof__(type) name, P##name;
#include "preload/mpi_check.h"
#undef CHECK
#endif

#include "preload/mpi_names.h"

/* A call as it arrived: the registers that carry arguments, and where the others lie. */
#ifdef __aarch64__
enum { STANDIN_REGISTERS = 8 };
#else
enum { STANDIN_REGISTERS = 6 };
#endif

struct standin_frame {
    uint64_t general[STANDIN_REGISTERS];
    uint64_t extra; /* rax, x8 */
    uint64_t *stack;
    struct {
        uint64_t low, high;
    } vector[8];
    int result; /* what the function is to return */
};

enum { STANDIN_STACK = 6 };

struct standin {
    struct standin_frame last; /* the call before */
    uint64_t stack[STANDIN_STACK];
    uint64_t calls[2 * FUNCTION_COUNT]; /* by function and name: MPI_, PMPI_ */
    int result, error_number;           /* what functions without a meaning return, and set */
    int found;                          /* what MPI_Iprobe and MPI_Test tell */
    int internal;                       /* some functions call others, as real ones do */
    void (*callback)(void);             /* MPI_Allreduce calls it */
};

/* The library's own; found under this name in the process. */
struct standin *standin_state(void);

/* Calls target with the registers and stack arguments of a frame. In standin_call.S. */
int standin_call(void *target, const struct standin_frame *frame, const uint64_t *stack);

#ifdef __cplusplus
}
#endif
#endif
