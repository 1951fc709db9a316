/* SPDX-License-Identifier: BSD-3-Clause */
/* Four ranks of which three wait for the one that does something else, for good.
 *
 * Usage: stuck [polls]    polls: rank 0 tests its request again and again, rank 1 receives on a
 * communicator of the odd ranks, which are 3 and 1 there
 */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static int numbers[2];

static void wait_for_message(void)
{
    MPI_Recv(numbers, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_for_two_messages(void)
{
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&numbers[i], 1, MPI_INT, 2, 8 + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void poll_for_message(void)
{
    MPI_Request request;
    int flag = 0;
    MPI_Irecv(numbers, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void wait_in(MPI_Comm halves)
{
    MPI_Recv(numbers, 1, MPI_INT, 0, 5, halves, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, polls = argc > 1 && strcmp(argv[1], "polls") == 0;
    MPI_Comm halves;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &halves);
    MPI_Comm_set_name(halves, rank % 2 ? "odd" : "even");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        for (;;)
            pause();
    if (rank == 0)
        (polls ? poll_for_message : wait_for_message)();
    if (rank == 1 && polls)
        wait_in(halves);
    if (rank == 1)
        wait_for_two_messages();
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
