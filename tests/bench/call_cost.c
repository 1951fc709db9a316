/* SPDX-License-Identifier: BSD-3-Clause */
/* Times MPI calls that do next to nothing, so that what is added to them shows.
 *
 * Prints one line "NAME NANOSECONDS" per kind of call: the mean over CALLS calls; and "clocks", two
 * reads of the clock that stamps calls. Runs as a single process; tests/bench/run.py starts it with
 * and without the preload library and compares.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 2000000, THREADS_MAX = 4 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

static void clocks(void)
{
    static volatile uint64_t sink;
    sink = clock_ticks();
    sink = clock_ticks();
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

static void sendrecv_self(void)
{
    static int out, in;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 5, &in, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier_self(void)
{
    MPI_Barrier(MPI_COMM_SELF);
}

static void measure(const char *name, void (*call)(void), int calls)
{
    for (int i = 0; i < calls / 10; i++)
        call();
    double start = now();
    for (int i = 0; i < calls; i++)
        call();
    printf("%s %.3f\n", name, (now() - start) / calls);
}

static void *send_many(void *unused)
{
    for (int i = 0; i < CALLS; i++)
        send_null();
    return unused;
}

/* Mean time of one call on each of several threads that all run at once. */
static void measure_threads(const char *name, int threads)
{
    pthread_t thread[THREADS_MAX];
    double start = now();
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&thread[i], NULL, send_many, NULL) != 0)
            exit(1);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    printf("%s %.3f\n", name, (now() - start) / CALLS);
}

int main(int argc, char **argv)
{
    int provided, multiple = argc > 1;
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    measure("clocks", clocks, CALLS);
    if (multiple) {
        measure_threads("send-4-threads", THREADS_MAX);
    } else {
        measure("send", send_null, CALLS);
        measure("isend+wait", request_null, CALLS);
        measure("iprobe", iprobe, CALLS);
        measure("sendrecv-self", sendrecv_self, CALLS / 4);
        measure("barrier-self", barrier_self, CALLS);
    }
    MPI_Finalize();
    return 0;
}
