/* SPDX-License-Identifier: BSD-3-Clause */
/* Another PMPI tool: counts two functions and says so at the end; has a third one of its own. */
#include <stdio.h>

#include "tests/dispatch/standin.h"

static int sends, allreduces;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm)
{
    allreduces++;
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

/* Served here alone where the library lacks it. */
int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm)
{
    (void)sendbuf, (void)recvbuf, (void)count, (void)datatype, (void)op, (void)comm;
    return MPI_SUCCESS;
}

__attribute__((destructor)) static void say(void)
{
    printf("tool: %d sends, %d allreduces\n", sends, allreduces);
}
