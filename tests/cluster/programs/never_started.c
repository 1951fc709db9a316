/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with MPI that ends before it starts MPI. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int started;
    MPI_Initialized(&started);
    printf("started %d\n", started);
    if (argc == 1)
        return 3;
    MPI_Init(&argc, &argv);
    return MPI_Finalize();
}
