/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the counter and CLOCK_MONOTONIC side by side: clock_samples SECONDS FILE
 *
 * About a thousand times a second it makes an MPI call, so that its trace gets the sync points of
 * any other, and independently of those writes a sample (struct ticks_sample) to FILE.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/ticks.h"

int main(int argc, char **argv)
{
    static int value;
    if (argc < 3)
        return 64;
    double seconds = strtod(argv[1], NULL);
    FILE *file = fopen(argv[2], "w");
    if (!file)
        return 1;
    MPI_Init(&argc, &argv);
    double until = monotonic_now() + 1e9 * seconds;
    while (monotonic_now() < until) {
        struct ticks_sample sample = ticks_sample();
        fwrite(&sample, sizeof sample, 1, file);
        MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
        usleep(1000);
    }
    MPI_Finalize();
    return fclose(file) != 0;
}
