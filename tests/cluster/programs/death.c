/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicates, tallies what it did, and ends in the way that is asked for.
 *
 * Usage: death WAY [RANK]
 *     finalize0, finalize3     MPI_Finalize, then that status
 *     exit0, exit3, _exit3, abort, segv, kill, mpi_abort
 *     recv                     waits for a message that nobody sends
 *     hoard                    takes memory until it is killed, or has a GiB
 *     idle                     waits outside of MPI
 *     stubborn                 likewise, and odd ranks ignore SIGTERM
 * With RANK that rank alone ends so, the others are in MPI_Barrier then.
 *
 * Environment: CALLS=N: N calls more. AWAIT=FILE: waits for FILE before it ends.
 */
#include "tally.h"

#include <signal.h>

static void make_calls(long count)
{
    int token = 0;
    for (long i = 0; i < count; i++) {
        tally_message("send", sizeof token, PROC_NULL, 0);
        MPI_Send(&token, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    }
}

static void await(const char *file)
{
    while (access(file, F_OK) != 0)
        usleep(1000);
}

static void wait_for_ever(const char *way, int rank)
{
    int token;
    if (strcmp(way, "recv") == 0)
        MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(way, "stubborn") == 0 && rank % 2)
        signal(SIGTERM, SIG_IGN);
    while (strcmp(way, "stubborn") == 0 || strcmp(way, "idle") == 0)
        pause();
}

static void hoard(void)
{
    enum { PIECE = 1 << 20, PIECES = 1024 };
    for (int i = 0; i < PIECES; i++) {
        char *piece = malloc(PIECE);
        if (piece)
            memset(piece, i + 1, PIECE);
    }
}

static void end(const char *way)
{
    volatile int *nowhere = NULL;
    if (strcmp(way, "exit3") == 0)
        exit(3);
    if (strcmp(way, "exit0") == 0)
        exit(0);
    if (strcmp(way, "_exit3") == 0)
        _exit(3);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "segv") == 0)
        *nowhere = 1;
    if (strcmp(way, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(way, "hoard") == 0)
        hoard();
    if (strcmp(way, "mpi_abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 5);
}

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    const char *way = argc > 1 ? argv[1] : "", *calls = getenv("CALLS"), *file = getenv("AWAIT");
    int finalizes = strncmp(way, "finalize", strlen("finalize")) == 0;

    tally_call("init", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tally_connect(rank, size);
    for (int i = 0; i < 100; i++) {
        int dest = (rank + (i % 2 ? 1 : size - 1)) % size;
        int source = (rank + (i % 2 ? size - 1 : 1)) % size;
        tally_message("sendrecv_replace", sizeof token, dest, i % 7);
        MPI_Sendrecv_replace(&token, 1, MPI_INT, dest, i % 7, source, i % 7, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    }
    tally_collective("barrier", 0, NONE, "0");
    MPI_Barrier(MPI_COMM_WORLD);
    make_calls(calls ? atol(calls) : 0);
    if (finalizes)
        tally_call("finalize", "other", NONE, NONE, NONE, NONE, "-1");
    if (strcmp(way, "mpi_abort") == 0 && (argc < 3 || atoi(argv[2]) == rank))
        tally_call("abort", "other", NONE, NONE, NONE, NONE, "0");
    tally_leave(rank, size);
    if (file)
        await(file);
    if (finalizes) {
        MPI_Finalize();
        return atoi(way + strlen("finalize"));
    }
    wait_for_ever(way, rank);
    if (argc < 3 || atoi(argv[2]) == rank)
        end(way);
    MPI_Barrier(MPI_COMM_WORLD);
    return 99; /* not reached: the others wait for the one that died */
}
