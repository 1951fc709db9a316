/* SPDX-License-Identifier: BSD-3-Clause */
/* Another PMPI tool, called NAME: counts two functions and says so at the end. */
#include <mpi.h>
#include <stdio.h>

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

int MPI_Finalize(void)
{
    printf("%s: %d sends, %d allreduces\n", NAME, sends, allreduces);
    fflush(stdout);
    return PMPI_Finalize();
}
