/* SPDX-License-Identifier: BSD-3-Clause */
/* Times MPI calls that do next to nothing, so that what is added to them shows.
 *
 * Prints one line "NAME NANOSECONDS" per kind of call: the median over batches of calls; "clocks",
 * two reads of the clock that stamps calls; and "events", how many calls it made in all. Runs as a
 * single process; tests/bench/run.py starts it with and without the preload library and compares.
 * "threads" times calls of four threads at once. "count" times nothing: it makes COUNTED calls of each
 * kind in a function of its own, in which callgrind counts instructions.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/ticks.h"

enum { BATCH = 1000, BATCHES = 2000, THREADS = 4, COUNTED = 1000 };

static double events = 2; /* MPI_Init_thread, MPI_Finalize */

static void clocks(void)
{
    static volatile uint64_t sink;
    sink = ticks_now();
    sink = ticks_now();
}

static void send_null(void)
{
    static int value;
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
}

static void request_null(void)
{
    static int value;
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void iprobe(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static MPI_Request pending;

/* Of a message that never comes. */
static void test(void)
{
    int flag;
    MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
}

static void sendrecv_self(void)
{
    static int out, in;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 5, &in, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier_self(void)
{
    MPI_Barrier(MPI_COMM_SELF);
}

static int compare(const void *x, const void *y)
{
    double difference = *(const double *)x - *(const double *)y;
    return (difference > 0) - (difference < 0);
}

/* Nanoseconds per call: the median over short batches, of which a busy machine spoils only some. */
static double time_call(void (*call)(void))
{
    static __thread double batch[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
        double start = monotonic_now();
        for (int j = 0; j < BATCH; j++)
            call();
        batch[i] = (monotonic_now() - start) / BATCH;
    }
    qsort(batch, BATCHES, sizeof *batch, compare);
    return batch[BATCHES / 2];
}

static void measure(const char *name, void (*call)(void))
{
    printf("%s %.3f\n", name, time_call(call));
    if (call != clocks)
        events += (call == request_null ? 2.0 : 1.0) * BATCH * BATCHES;
}

static void measure_test(void)
{
    static int value;
    MPI_Irecv(&value, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &pending);
    measure("test", test);
    MPI_Cancel(&pending);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
}

static void *time_send(void *result)
{
    *(double *)result = time_call(send_null);
    return NULL;
}

/* Mean time of one call on each of several threads that all run at once. */
static void measure_threads(const char *name)
{
    pthread_t thread[THREADS];
    double result[THREADS], sum = 0;
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&thread[i], NULL, time_send, &result[i]) != 0)
            exit(1);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        sum += result[i];
    }
    printf("%s %.3f\n", name, sum / THREADS);
    events += (double)THREADS * BATCH * BATCHES;
}

#define COUNT(name)                                                                                \
    static __attribute__((noinline)) void count_##name(void)                                       \
    {                                                                                              \
        for (int i = 0; i < COUNTED; i++)                                                          \
            name();                                                                                \
    }
COUNT(send_null)
COUNT(request_null)
COUNT(iprobe)
COUNT(test)

static void count_all(void)
{
    static int value;
    MPI_Irecv(&value, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &pending);
    send_null(); /* what is made once for all is not counted */
    request_null();
    iprobe();
    test();
    count_send_null();
    count_request_null();
    count_iprobe();
    count_test();
    MPI_Cancel(&pending);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int provided, multiple = argc > 1 && strcmp(argv[1], "threads") == 0;
    int counted = argc > 1 && strcmp(argv[1], "count") == 0;
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    if (counted) {
        count_all();
        MPI_Finalize();
        return 0;
    }
    measure("clocks", clocks);
    if (multiple) {
        measure_threads("send-4-threads");
    } else {
        measure("send", send_null);
        measure("isend+wait", request_null);
        measure("iprobe", iprobe);
        measure_test();
        measure("sendrecv-self", sendrecv_self);
        measure("barrier-self", barrier_self);
    }
    printf("events %.0f\n", events);
    MPI_Finalize();
    return 0;
}
