/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicates, tallies, and waits for a message that nobody sends. */
#include "tally.h"

int main(int argc, char **argv)
{
    int rank, size, token;
    tally_call("init", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tally_connect(rank, size);
    tally_leave(rank, size);
    MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
