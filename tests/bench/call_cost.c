/* SPDX-License-Identifier: BSD-3-Clause */
/* Times MPI calls that do next to nothing, so that what is added to them shows.
 *
 * Batches of each kind of call and of two reads of the clock that stamps calls follow each other in
 * turn, so that a processor that is slower for a while is so for all of them. Before and after each
 * one stands a batch of work that takes twice as long while the core's other hardware thread is
 * busy, be it with another machine of the same host: the batches between two fast ones had their
 * core alone. Prints per kind "NAME NANOSECONDS", the median over the batches of one call, and
 * "NAME/all NANOSECONDS"; the former over those alone and the latter over all; "clocks" and
 * "clocks/all" for the two reads; "core", that work at its fastest; "alone", the least share of the
 * batches of a kind that were; and "events", how many calls it made in all. Runs as a single
 * process; tests/bench/run.py starts it with and without the preload library and compares.
 * "threads" times calls of four threads at once. "count" times nothing: it makes COUNTED calls of
 * each kind in a function of its own, in which callgrind counts instructions.
 */
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/ticks.h"

enum { BATCH = 1000, BATCHES = 2000, THREADS = 4, COUNTED = 1000 };

/* Of a core that nobody disturbs: times its fastest work. */
#define TOLERANCE 1.1

static double events = 2; /* MPI_Init_thread, MPI_Finalize */

static void clocks(void)
{
    static volatile uint64_t sink;
    sink = ticks_now();
    sink = ticks_now();
}

/* Additions that do not wait for each other: as many at a time as the core can do for this thread. */
static void core(void)
{
    enum { ROUNDS = 32 };
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (int i = 0; i < ROUNDS; i++) {
        a++, b++, c++, d++;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d)); /* none can be done at once */
    }
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

struct kind {
    const char *name;
    void (*call)(void);
    int calls; /* of MPI, in one call of it */
};

static const struct kind single[] = {
    {"send", send_null, 1},   {"isend+wait", request_null, 2},     {"iprobe", iprobe, 1},
    {"test", test, 1},        {"sendrecv-self", sendrecv_self, 1}, {"barrier-self", barrier_self, 1},
};
static const struct kind of_threads[] = {{"send-4-threads", send_null, 1}};

enum { KINDS_MAX = sizeof single / sizeof *single };

struct result {
    double core, alone;              /* fastest, ns; share of the batches, the least of all kinds */
    double ns[KINDS_MAX + 1];        /* of one call; the last is of the two reads */
    double ns_of_all[KINDS_MAX + 1]; /* disturbed or not */
};

struct batch {
    double ns, core; /* of one call, and of the slower of the works before and after */
};

/* Nanoseconds per call, over one batch. */
static double time_batch(void (*call)(void))
{
    double start = monotonic_now();
    for (int i = 0; i < BATCH; i++)
        call();
    return (monotonic_now() - start) / BATCH;
}

/* Median of one call over the batches whose core did its work in limit ns at most, NAN of none.
 * Sets the number of these. values is room for all. */
static double median(const struct batch *batches, double limit, double *values, size_t *count)
{
    *count = 0;
    for (int i = 0; i < BATCHES; i++) {
        if (batches[i].core <= limit)
            values[(*count)++] = batches[i].ns;
    }
    qsort(values, *count, sizeof *values, compare);
    return *count > 0 ? values[*count / 2] : NAN;
}

/* Batches are short: what disturbs spoils only some. */
static void time_kinds(const struct kind *kinds, size_t count, struct result *result)
{
    struct batch(*batches)[BATCHES] = malloc((count + 1) * sizeof *batches);
    double *values = malloc(BATCHES * sizeof *values);
    if (!batches || !values)
        exit(1);
    double before = time_batch(core);
    result->core = before;
    for (int i = 0; i < BATCHES; i++) {
        for (size_t k = 0; k <= count; k++) {
            double ns = time_batch(k < count ? kinds[k].call : clocks);
            double after = time_batch(core);
            batches[k][i] = (struct batch){ns, fmax(before, after)};
            result->core = fmin(result->core, after);
            before = after;
        }
    }
    result->alone = 1;
    for (size_t k = 0; k <= count; k++) {
        size_t used;
        result->ns_of_all[k] = median(batches[k], INFINITY, values, &used);
        result->ns[k] = median(batches[k], TOLERANCE * result->core, values, &used);
        result->alone = fmin(result->alone, (double)used / BATCHES);
    }
    free(values);
    free(batches);
}

static void report(const struct kind *kinds, size_t count, const struct result *result)
{
    printf("core %.3f\nalone %.4f\n", result->core, result->alone);
    for (size_t k = 0; k <= count; k++) {
        const char *name = k < count ? kinds[k].name : "clocks";
        printf("%s %.3f\n%s/all %.3f\n", name, result->ns[k], name, result->ns_of_all[k]);
    }
}

static void measure_single(void)
{
    static int value;
    struct result result;
    MPI_Irecv(&value, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &pending);
    time_kinds(single, KINDS_MAX, &result);
    MPI_Cancel(&pending);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    report(single, KINDS_MAX, &result);
    for (size_t k = 0; k < KINDS_MAX; k++)
        events += (double)single[k].calls * BATCH * BATCHES;
}

static void *time_thread(void *result)
{
    time_kinds(of_threads, 1, result);
    return NULL;
}

/* The mean over several threads that all run at once. */
static void measure_threads(void)
{
    pthread_t thread[THREADS];
    struct result each[THREADS], mean = {.alone = 1};
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&thread[i], NULL, time_thread, &each[i]) != 0)
            exit(1);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        mean.core += each[i].core / THREADS;
        mean.alone = fmin(mean.alone, each[i].alone);
        for (int k = 0; k <= 1; k++) {
            mean.ns[k] += each[i].ns[k] / THREADS;
            mean.ns_of_all[k] += each[i].ns_of_all[k] / THREADS;
        }
    }
    report(of_threads, 1, &mean);
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
    if (multiple)
        measure_threads();
    else
        measure_single();
    printf("events %.0f\n", events);
    MPI_Finalize();
    return 0;
}
