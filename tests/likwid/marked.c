/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with LIKWID markers of its own: "solve" three times, "a/b-c" once. With -DWITH_MPI it
 * is one of MPI, and rank r is in "solve" r more times. */
#define _GNU_SOURCE
#include <likwid-marker.h>
#include <sched.h>
#include <stdio.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

int main(void)
{
    int rank = 0;
#ifdef WITH_MPI
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    LIKWID_MARKER_INIT;
    LIKWID_MARKER_THREADINIT;
    for (int i = 0; i < 3 + rank; i++) {
        LIKWID_MARKER_START("solve");
        LIKWID_MARKER_STOP("solve");
    }
    LIKWID_MARKER_START("a/b-c");
    LIKWID_MARKER_STOP("a/b-c");
    LIKWID_MARKER_CLOSE;
#ifdef WITH_MPI
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
#endif
    unsigned long cpus[16] = {0};
    sched_getaffinity(0, sizeof cpus, (cpu_set_t *)cpus);
    printf("rank %d is done, on CPUs %#lx\n", rank, cpus[0]);
    return 0;
}
