/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank takes: footprint NANOSECONDS, the CLOCK_MONOTONIC time at which it was started.
 *
 * Prints "init-ms", from then until MPI_Init came back; "cpu-ms", how long it ran of that, which
 * waiting for others does not change; and after some calls, resident memory:
 * "own-kib", and that of the trace's windows and other parts, "trace-kib".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/ticks.h"

enum { CALLS = 1000000, TAGS = 100 };

static void print_resident(void)
{
    char line[4096];
    long own = 0, trace = 0, kib;
    int is_trace = 0;
    unsigned long from, to;
    FILE *maps = fopen("/proc/self/smaps", "r");
    if (!maps)
        exit(1);
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            is_trace = strstr(line, ".sptrace") != NULL;
        else if (sscanf(line, "Rss: %ld", &kib) == 1)
            *(is_trace ? &trace : &own) += kib;
    }
    fclose(maps);
    printf("own-kib %ld\ntrace-kib %ld\n", own, trace);
}

static double process_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    static int value;
    MPI_Request request;
    double started = argc > 1 ? strtod(argv[1], NULL) : 0;
    MPI_Init(&argc, &argv);
    double init = monotonic_now() - started, ran = process_ns();
    for (int i = 0; i < CALLS; i++) {
        MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, i % TAGS, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    printf("init-ms %.3f\ncpu-ms %.3f\n", init / 1e6, ran / 1e6);
    print_resident();
    MPI_Finalize();
    return 0;
}
