/* SPDX-License-Identifier: BSD-3-Clause */
/* Four ranks, of which rank 0 waits for good for requests, one of which nobody answers.
 *
 * It has got two receives back before, its two small sends, to a rank of its host, complete at
 * once, and one receive is not among those that it waits for. The others wait for it.
 */
#include <mpi.h>

enum { ANSWERED = 2, WAITED = 5, ALL };

static int numbers[ALL];

static void send(int tag)
{
    MPI_Send(numbers, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}

static void wait_for_requests(void)
{
    MPI_Request requests[WAITED], other;
    int index;
    MPI_Irecv(&numbers[0], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&numbers[1], 1, MPI_INT, 2, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&numbers[2], 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(&numbers[5], 1, MPI_INT, 3, 11, MPI_COMM_WORLD, &other);
    for (int i = 3; i < WAITED; i++)
        MPI_Isend(&numbers[i], 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < ANSWERED; i++)
        MPI_Waitany(ANSWERED, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitall(WAITED, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        wait_for_requests();
    if (rank == 1 || rank == 2)
        send(rank + 2);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
