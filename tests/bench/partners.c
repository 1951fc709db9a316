/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of random sizes between random partners, each rank with all others: partners STEPS
 *
 * Prints "events", how many calls all ranks made.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGES = 16, SIZES = 4, BYTES = 64 };

/* The same on every rank, so that who receives knows who sends. */
static uint32_t draw(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

int main(int argc, char **argv)
{
    static char data[2][MESSAGES][BYTES * SIZES];
    MPI_Request requests[2 * MESSAGES];
    int rank, size;
    long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 0, calls = 3, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (long step = 0; step < steps; step++) {
        for (int i = 0; i < MESSAGES; i++) {
            int away = 1 + (int)(draw() % (uint32_t)(size - 1));
            int bytes = BYTES * (1 + (int)(draw() % SIZES));
            MPI_Irecv(data[0][i], bytes, MPI_CHAR, (rank + size - away) % size, 0, MPI_COMM_WORLD,
                      &requests[2 * i]);
            MPI_Isend(data[1][i], bytes, MPI_CHAR, (rank + away) % size, 0, MPI_COMM_WORLD,
                      &requests[2 * i + 1]);
        }
        for (int i = 0; i < 2 * MESSAGES; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        calls += 4 * MESSAGES;
    }
    MPI_Reduce(&calls, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("events %ld\n", all);
    MPI_Finalize();
    return 0;
}
