/* SPDX-License-Identifier: BSD-3-Clause */
/* How long single MPI calls take at worst, as the program sees them: worst_call COUNT
 *
 * Makes COUNT calls that do next to nothing and times each. Prints lines "NAME NANOSECONDS":
 * "median", "p99.99", "max" and "undisturbed": the longest in which the scheduler did not take the processor
 * away.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/bench/ticks.h"

/* Calls by their duration in ticks; what is longer is kept one by one. */
enum { BUCKETS = 1 << 16, LONG_MAX_KEPT = 1 << 20 };
static uint32_t bucket[BUCKETS];
static uint64_t longer[LONG_MAX_KEPT];
static size_t longer_count;

enum { SUSPECT = 10000 }; /* ticks from which on it is asked whether a call was disturbed */
static uint64_t undisturbed;
static long switches;

static long switches_now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw + usage.ru_nvcsw;
}

static int compare(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

static void count_call(uint64_t ticks)
{
    if (ticks < BUCKETS)
        bucket[ticks]++;
    else if (longer_count < LONG_MAX_KEPT)
        longer[longer_count++] = ticks;
    if (ticks < SUSPECT)
        return;
    long before = switches;
    switches = switches_now();
    if (switches == before && ticks > undisturbed)
        undisturbed = ticks;
}

/* The duration, in ticks, that rank of all calls do not exceed. */
static uint64_t duration_at(size_t rank)
{
    for (size_t ticks = 0; ticks < BUCKETS; ticks++) {
        if (rank < bucket[ticks])
            return ticks;
        rank -= bucket[ticks];
    }
    return longer[rank < longer_count ? rank : longer_count - 1];
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    static int value;
    if (count == 0)
        return 64;
    MPI_Init(&argc, &argv);
    memset(bucket, 0, sizeof bucket); /* so that no page is missing later */
    memset(longer, 0, sizeof longer);
    switches = switches_now();
    struct ticks_span span = ticks_begin();
    for (size_t i = 0; i < count; i++) {
        uint64_t start = ticks_now();
        MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
        count_call(ticks_now() - start);
    }
    double ns = ticks_length(&span);
    qsort(longer, longer_count, sizeof *longer, compare);
    printf("median %.1f\n", ns * (double)duration_at(count / 2));
    printf("p99.99 %.1f\n", ns * (double)duration_at(count - count / 10000));
    printf("undisturbed %.1f\n", ns * (double)undisturbed);
    printf("max %.1f\n", ns * (double)duration_at(count - 1));
    MPI_Finalize();
    return 0;
}
