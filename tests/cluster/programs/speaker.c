/* SPDX-License-Identifier: BSD-3-Clause */
/* Speaks on standard output and standard error, and exchanges messages in between. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 300; i++) {
        MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i % 100 == 0) {
            printf("rank %d: round %d\n", rank, i);
            fprintf(stderr, "rank %d: warning %d\n", rank, i);
        }
    }
    MPI_Finalize();
    printf("rank %d: bytes \x01\xff\t%%s\n", rank);
    return 0;
}
