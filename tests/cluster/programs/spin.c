/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 polls for what does not come, the number of times that the argument says; rank 1 does all
 * else that rank 0 does. */
#include "tally.h"

enum { INT = sizeof(int), REQUESTS = 3 };

static void probe(long polls)
{
    int flag;
    for (long i = 0; i < polls; i++)
        MPI_Iprobe(1, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    tally_add("call", "mpi:iprobe kind=poll bytes=-1 peer=1 root=-1 tag=9 comm=0", polls);
}

/* Several requests, one after another, over and over again. */
static void test(long polls, MPI_Request requests[REQUESTS], const struct origin *origins)
{
    int flag;
    for (long i = 0; i < polls; i++)
        MPI_Test(&requests[i % REQUESTS], &flag, MPI_STATUS_IGNORE);
    for (int i = 0; i < REQUESTS; i++) {
        tally_completion("test", "poll", 1, &origins[i]);
        tally.regions[tally.last].calls += polls / REQUESTS - 1;
    }
}

int main(int argc, char **argv)
{
    long polls = argc > 1 ? atol(argv[1]) : REQUESTS;
    MPI_Request requests[REQUESTS];
    struct origin origins[REQUESTS];
    int rank, values[REQUESTS];

    polls -= polls % REQUESTS;
    MPI_Init(&argc, &argv);
    tally_call("init", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    tally_connect(rank, 2);
    for (int i = 0; i < REQUESTS; i++) {
        origins[i] = tally_start("irecv", INT, 1 - rank, 10 + i);
        MPI_Irecv(&values[i], 1, MPI_INT, 1 - rank, 10 + i, MPI_COMM_WORLD, &requests[i]);
    }
    if (rank == 0) {
        probe(polls);
        test(polls, requests, origins);
    }
    tally_collective("barrier", 0, NONE, "0");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < REQUESTS; i++) {
        tally_message("send", INT, 1 - rank, 10 + i);
        MPI_Send(&rank, 1, MPI_INT, 1 - rank, 10 + i, MPI_COMM_WORLD);
    }
    tally_completion("waitall", "wait", REQUESTS, origins);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    tally_call("finalize", "other", NONE, NONE, NONE, NONE, "-1");
    tally_leave(rank, 2);
    MPI_Finalize();
    return 0;
}
