/* SPDX-License-Identifier: BSD-3-Clause */
/* victim THREADS BATCH: makes MPI calls of a known sequence until it is killed, and logs to LOG_FD,
 * before and behind every BATCH of them, how far it has come.
 *
 * With STANDIN it is built for a stand-in MPI library.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef STANDIN
#include "tests/dispatch/standin.h"
#define MPI_PROC_NULL ABI_PROC_NULL
#else
#include <mpi.h>
#endif
#include "tests/kill/sequence.h"

static uint32_t batch;

static void tell(uint32_t thread, uint32_t begun, uint32_t returned)
{
    const struct progress progress = {thread, begun, returned};
    if (write(LOG_FD, &progress, sizeof progress) != sizeof progress)
        _exit(2); /* nobody is left who would kill us */
}

static void call(uint32_t thread, uint32_t index, MPI_Request *request)
{
    int numbers[SIZES] = {0}, flag, provided;
    int count = sequence_ints(index), tag = sequence_tag(thread, index);
    switch (sequence_call(thread, index)) {
    case CALL_INIT:
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
        return;
    case CALL_SEND:
        MPI_Send(numbers, count, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
        return;
    case CALL_ISEND:
        MPI_Isend(numbers, count, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, request);
        return;
    case CALL_WAIT:
        MPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    case CALL_IPROBE:
        MPI_Iprobe(MPI_PROC_NULL, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        return;
    case CALL_BARRIER:
        MPI_Barrier(MPI_COMM_SELF);
    }
}

static void *make_calls(void *data)
{
    uint32_t thread = *(uint32_t *)data;
    MPI_Request request = MPI_REQUEST_NULL;
    for (uint32_t first = thread == 0;; first += batch) {
        tell(thread, first + batch, first);
        for (uint32_t i = first; i < first + batch; i++)
            call(thread, i, &request);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static uint32_t numbers[THREADS_MAX] = {0, 1, 2, 3};
    uint32_t threads = argc > 2 ? (uint32_t)atoi(argv[1]) : 0;
    pthread_t handle;
    batch = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
    if (threads < 1 || threads > THREADS_MAX || batch < 1) {
        fprintf(stderr, "usage: victim THREADS BATCH\n");
        return 64;
    }
    alarm(60); /* should its killer have died */
    tell(0, 1, 0);
    call(0, 0, NULL);
    tell(0, 1, 1);
    for (uint32_t i = 1; i < threads; i++)
        if (pthread_create(&handle, NULL, make_calls, &numbers[i]) != 0)
            return 1;
    make_calls(&numbers[0]);
}
