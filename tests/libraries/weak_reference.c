/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that calls a function only if its MPI library has it, as mpi4py's wheels do. */
#include <mpi.h>
#include <stdio.h>

#pragma weak MPI_Send_c
int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm);

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (MPI_Send_c)
        MPI_Send_c(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    puts(MPI_Send_c ? "large" : "small");
    MPI_Finalize();
    return 0;
}
