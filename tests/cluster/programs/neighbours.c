/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbours SECONDS: messages and collectives of many kinds between neighbours in a ring, between any
 * two of them that follow one another, one tag for each kind; neighbours STEPS persistent: messages
 * by persistent requests that are started together, and nothing else. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CELLS = 100, HALO = 1, PAIR = 2, SHIFT = 3, ANY = 4, LATE = 5 };

static int rank, size, left, right;

static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        continue;
}

static void exchange_halo(double *cells)
{
    MPI_Request requests[4];
    MPI_Irecv(&cells[0], 1, MPI_DOUBLE, left, HALO, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&cells[CELLS - 1], 1, MPI_DOUBLE, right, HALO, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&cells[1], 1, MPI_DOUBLE, left, HALO, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&cells[CELLS - 2], 1, MPI_DOUBLE, right, HALO, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void play_ball(void)
{
    int ball = rank;
    if (rank % 2 == 0) {
        MPI_Send(&ball, 1, MPI_INT, right, PAIR, MPI_COMM_WORLD);
        MPI_Recv(&ball, 1, MPI_INT, right, PAIR, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&ball, 1, MPI_INT, left, PAIR, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&ball, 1, MPI_INT, left, PAIR, MPI_COMM_WORLD);
    }
}

/* A receive from anybody, and one that is cancelled; later one that waits through all the rest. */
static void be_irregular(int step, MPI_Request *late)
{
    int sent = rank, got, never;
    MPI_Request request;
    MPI_Irecv(&never, 1, MPI_INT, left, LATE + 1, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(&sent, 1, MPI_INT, right, ANY, MPI_COMM_WORLD, &request);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, ANY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (step == 100) {
        static int waiting;
        MPI_Irecv(&waiting, 1, MPI_INT, left, LATE, MPI_COMM_WORLD, late);
    }
}

static void exchange_persistent(int steps)
{
    double in[2], out[2] = {1, 2};
    MPI_Request requests[4];
    MPI_Recv_init(&in[0], 1, MPI_DOUBLE, left, HALO, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out[0], 1, MPI_DOUBLE, left, PAIR, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(&in[1], 1, MPI_DOUBLE, right, PAIR, MPI_COMM_WORLD, &requests[2]);
    MPI_Send_init(&out[1], 1, MPI_DOUBLE, right, HALO, MPI_COMM_WORLD, &requests[3]);
    while (steps-- > 0) {
        compute(0.001);
        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&requests[i]);
}

static void exchange_all_kinds(double seconds)
{
    double cells[CELLS] = {0}, sum, start = MPI_Wtime();
    MPI_Request late = MPI_REQUEST_NULL;
    for (int step = 0, go_on = 1; go_on; step++) {
        compute(0.001);
        exchange_halo(cells);
        sum = cells[1];
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        play_ball();
        int shifted = rank, got;
        MPI_Sendrecv(&shifted, 1, MPI_INT, right, SHIFT, &got, 1, MPI_INT, left, SHIFT,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (step % 10 == 0)
            be_irregular(step, &late);
        go_on = MPI_Wtime() < start + seconds;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (step % 100 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    if (late != MPI_REQUEST_NULL) {
        MPI_Send(&rank, 1, MPI_INT, right, LATE, MPI_COMM_WORLD);
        MPI_Wait(&late, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    if (argc > 2 && strcmp(argv[2], "persistent") == 0)
        exchange_persistent(atoi(argv[1]));
    else
        exchange_all_kinds(argc > 1 ? atof(argv[1]) : 1);
    MPI_Finalize();
    return 0;
}
