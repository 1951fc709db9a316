/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of MPI without LIKWID markers: tells whether it notices that it is counted.
 *     unmarked [STATUS | kill | wait SECONDS | time CALLS]
 * Rank 1 kills itself; all ranks go on for so long; rank 0 tells how long a call takes. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child_signals;

static void note_child(int number)
{
    (void)number;
    child_signals++;
}

static void leave(void)
{
    printf("the exit handler\n");
}

static int has_mapped(const char *name)
{
    char line[4096];
    int found = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file))
        found |= strstr(line, name) != NULL;
    if (file)
        fclose(file);
    return found;
}

static void wait_for(double seconds)
{
    int goes_on = 1, rank;
    double start = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (goes_on) {
        usleep(10000);
        goes_on = MPI_Wtime() - start < seconds;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static void time_calls(int calls, int rank)
{
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        MPI_Barrier(MPI_COMM_SELF);
    if (rank == 0)
        fprintf(stderr, "%.2f us\n", 1e6 * (MPI_Wtime() - start) / calls);
}

int main(int argc, char *argv[])
{
    const char *how = argc > 1 ? argv[1] : "0";
    unsigned long cpus[16] = {0};
    int rank;
    signal(SIGCHLD, note_child);
    atexit(leave);
    printf("before MPI_Init, "); /* is in a buffer when LIKWID starts others */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "wait") == 0)
        wait_for(atof(argv[2]));
    if (strcmp(how, "time") == 0)
        time_calls(atoi(argv[2]), rank);
    if (strcmp(how, "kill") == 0 && rank == 1)
        raise(SIGKILL);
    int waited = waitpid(-1, NULL, WNOHANG), is_alone = waited < 0 && errno == ECHILD;
    sched_getaffinity(0, sizeof cpus, (cpu_set_t *)cpus);
    printf("rank %d on CPUs %#lx: %s, %d signals of children, %s\n", rank, cpus[0],
           is_alone ? "no child" : "has a child", (int)child_signals,
           has_mapped("liblikwid") ? "has LIKWID in it" : "no LIKWID in it");
    MPI_Finalize();
    return atoi(how);
}
