/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks of eight threads that all call MPI, each with a communicator of its own, and a tally of
 * its own: file lane.RANK.THREAD. */
#define TALLY_STORAGE static __thread
#include "tally.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 10, INT = sizeof(int) };

static int rank, other;
static MPI_Comm communicators[THREADS];
static char names[THREADS][16];
static pthread_barrier_t all;

/* Requests that one thread starts and another waits for. */
static struct {
    MPI_Request request;
    struct origin origin;
    int value;
} handed_over[THREADS];

static int count_of(int thread)
{
    return thread + 1; /* tells the threads' messages apart by their bytes, too */
}

static void round_of_calls(int thread)
{
    MPI_Comm mine = communicators[thread];
    const char *name = names[thread];
    MPI_Request requests[2];
    struct origin origins[2];
    int out[THREADS] = {0}, in[THREADS], count = count_of(thread);
    long bytes = (long)count * INT;

    tally_call("sendrecv", "point-to-point", bytes, other, NONE, 1, name);
    MPI_Sendrecv(out, count, MPI_INT, other, 1, in, count, MPI_INT, other, 1, mine,
                 MPI_STATUS_IGNORE);
    tally_call("irecv", "point-to-point", bytes, other, NONE, 2, name);
    origins[0] = (struct origin){"irecv", bytes, other, NONE, 2, name};
    MPI_Irecv(in, count, MPI_INT, other, 2, mine, &requests[0]);
    tally_call("isend", "point-to-point", bytes, other, NONE, 2, name);
    origins[1] = (struct origin){"isend", bytes, other, NONE, 2, name};
    MPI_Isend(out, count, MPI_INT, other, 2, mine, &requests[1]);
    tally_completion("waitall", "wait", 2, origins);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    tally_collective("allreduce", bytes, NONE, name);
    MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, mine);
}

/* What a thread starts the next one waits for. */
static void hand_over(int thread)
{
    int next = (thread + 1) % THREADS;
    const char *name = names[thread];

    tally_call("irecv", "point-to-point", INT, other, NONE, 3, name);
    handed_over[thread].origin = (struct origin){"irecv", INT, other, NONE, 3, name};
    MPI_Irecv(&handed_over[thread].value, 1, MPI_INT, other, 3, communicators[thread],
              &handed_over[thread].request);
    pthread_barrier_wait(&all);
    tally_call("send", "point-to-point", INT, other, NONE, 3, name);
    MPI_Send(&rank, 1, MPI_INT, other, 3, communicators[thread]);
    tally_completion("wait", "wait", 1, &handed_over[next].origin);
    MPI_Wait(&handed_over[next].request, MPI_STATUS_IGNORE);
}

static void *calls(void *number)
{
    int thread = *(int *)number;
    for (int i = 0; i < ROUNDS; i++)
        round_of_calls(thread);
    hand_over(thread);
    pthread_barrier_wait(&all);
    tally_lane(rank, thread);
    return NULL;
}

int main(int argc, char **argv)
{
    int size, provided, numbers[THREADS];
    pthread_t threads[THREADS];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    tally_call("init_thread", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = 1 - rank;
    tally_connect(rank, size);
    for (int i = 0; i < THREADS; i++) {
        snprintf(names[i], sizeof names[i], "@thread%d", i);
        tally_call("comm_dup", "communicator", NONE, NONE, NONE, NONE, "0");
        MPI_Comm_dup(MPI_COMM_WORLD, &communicators[i]);
        tally_communicator(names[i], "intra", "0", "0 1");
    }
    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 1; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, calls, &numbers[i]);
    }
    /* The main thread is number 0. It goes on while others may still be at work. */
    for (int i = 0; i < ROUNDS; i++)
        round_of_calls(0);
    hand_over(0);
    pthread_barrier_wait(&all);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        tally_call("comm_free", "communicator", NONE, NONE, NONE, NONE, names[i]);
        MPI_Comm_free(&communicators[i]);
    }
    tally_call("finalize", "other", NONE, NONE, NONE, NONE, "-1");
    tally_leave(rank, size);
    MPI_Finalize();
    return 0;
}
