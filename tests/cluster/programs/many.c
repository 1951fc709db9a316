/* SPDX-License-Identifier: BSD-3-Clause */
/* many ROUNDS SENDS: exchanges messages in a ring and tallies each call; half way, each rank sends
 * as often as it is told to nobody. */
#include "tally.h"

static int rank, left, right;

static void exchange(int round)
{
    MPI_Request requests[2];
    struct origin origins[2];
    int in[4], out[4] = {0}, count = round % 4, tag = round % 3, flag;
    long bytes = count * (long)sizeof(int);

    origins[0] = tally_start("irecv", bytes, left, tag);
    MPI_Irecv(in, count, MPI_INT, left, tag, MPI_COMM_WORLD, &requests[0]);
    origins[1] = tally_start("isend", bytes, right, tag);
    MPI_Isend(out, count, MPI_INT, right, tag, MPI_COMM_WORLD, &requests[1]);
    tally_completion("waitall", "wait", 2, origins);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    tally_call("iprobe", "poll", NONE, ANY, NONE, 99, "0"); /* nobody sends with this tag */
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (round % 100 == 0) {
        tally_collective("allreduce", sizeof(int), NONE, "0");
        MPI_Allreduce(&round, in, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int size, rounds = argc > 1 ? atoi(argv[1]) : 0;
    long sends = argc > 2 ? atol(argv[2]) : 0;

    tally_call("init", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    tally_connect(rank, size);
    for (int round = 0; round < rounds; round++) {
        if (round == rounds / 2) {
            tally_add("call", "mpi:send kind=point-to-point bytes=0 peer=-2 root=-1 tag=5 comm=0",
                      sends);
            for (long i = 0; i < sends; i++)
                MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
        }
        exchange(round);
    }
    tally_call("finalize", "other", NONE, NONE, NONE, NONE, "-1");
    tally_leave(rank, size);
    MPI_Finalize();
    return 0;
}
