/* SPDX-License-Identifier: BSD-3-Clause */
/* A 1-D halo exchange with an allreduce that computes 1 ms a step: halo STEPS
 *
 * Prints "events", how many calls all ranks made.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/ticks.h"

enum { CELLS = 4 }; /* that neighbours see of each other */

int main(int argc, char **argv)
{
    int rank, size;
    double halo[4][CELLS] = {{0}}, sum;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 0, calls = 3, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (long step = 0; step < steps; step++) {
        int count = 0;
        double until = monotonic_now() + 1e6;
        while (monotonic_now() < until)
            continue;
        for (int side = 0; side < 2; side++) {
            int neighbour = side ? rank + 1 : rank - 1;
            if (neighbour < 0 || neighbour == size)
                continue;
            MPI_Irecv(halo[side], CELLS, MPI_DOUBLE, neighbour, 1, MPI_COMM_WORLD,
                      &requests[count++]);
            MPI_Isend(halo[2 + side], CELLS, MPI_DOUBLE, neighbour, 1, MPI_COMM_WORLD,
                      &requests[count++]);
        }
        MPI_Waitall(count, requests, statuses);
        MPI_Allreduce(&halo[0][0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        calls += count + 2;
    }
    MPI_Reduce(&calls, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("events %ld\n", all);
    MPI_Finalize();
    return 0;
}
