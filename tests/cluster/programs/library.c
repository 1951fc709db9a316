/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that calls MPI for programs that know nothing of it: it starts MPI when it is loaded
 * and ends it after main. */
#include "tally.h"

static int rank, size;

static void end(void)
{
    tally_call("finalize", "other", NONE, NONE, NONE, NONE, "-1");
    tally_leave(rank, size);
    MPI_Finalize();
}

__attribute__((constructor)) static void start(void)
{
    MPI_Init(NULL, NULL);
    tally_call("init", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tally_connect(rank, size);
    atexit(end);
}

void library_work(void)
{
    double value = rank, sum;
    for (int i = 0; i < 6; i++) {
        tally_message("sendrecv_replace", sizeof value, (rank + 1) % size, 1);
        MPI_Sendrecv_replace(&value, 1, MPI_DOUBLE, (rank + 1) % size, 1, (rank + size - 1) % size,
                             1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        tally_message("send", sizeof value, PROC_NULL, 2);
        MPI_Send(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, 2, MPI_COMM_WORLD);
        tally_collective("allreduce", sizeof value, NONE, "0");
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}
