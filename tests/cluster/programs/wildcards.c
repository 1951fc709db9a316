/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives from anybody and with any tag, of which the program never asks what it got. */
#include "tally.h"

enum { INT = sizeof(int), RECEIVES = 3 };

static int rank, other;
static int in[RECEIVES][8];

static void send(int count, int tag)
{
    int out[8] = {0};
    tally_message("send", (long)count * INT, other, tag);
    MPI_Send(out, count, MPI_INT, other, tag, MPI_COMM_WORLD);
}

static struct origin post(int i, MPI_Request *request)
{
    struct origin posted = tally_start("irecv", 8 * INT, ANY, ANY);
    MPI_Irecv(in[i], 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, request);
    return posted;
}

int main(int argc, char **argv)
{
    MPI_Request requests[RECEIVES];
    struct origin origins[RECEIVES];
    int indices[RECEIVES], index, flag, done, count;

    MPI_Init(&argc, &argv);
    tally_call("init", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    tally_connect(rank, 2);

    if (rank == 0)
        send(3, 10);
    tally_message("recv", 8 * INT, ANY, ANY);
    MPI_Recv(in[0], 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        send(3, 10);

    origins[0] = post(0, &requests[0]);
    send(4, 11);
    tally_completion("wait", "wait", 1, origins);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);

    origins[0] = post(0, &requests[0]);
    send(5, 12);
    do {
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        tally_completion("test", flag ? "wait" : "poll", 1, origins);
    } while (!flag);

    for (int i = 0; i < RECEIVES; i++)
        origins[i] = post(i, &requests[i]);
    for (int i = 0; i < RECEIVES; i++)
        send(1 + i, 20 + i);
    tally_completion("waitall", "wait", RECEIVES, origins);
    MPI_Waitall(RECEIVES, requests, MPI_STATUSES_IGNORE);

    for (int i = 0; i < RECEIVES; i++)
        origins[i] = post(i, &requests[i]);
    for (int i = 0; i < RECEIVES; i++)
        send(1 + i, 30 + i);
    tally_completion("waitany", "wait", 1, origins);
    MPI_Waitany(RECEIVES, requests, &index, MPI_STATUS_IGNORE);
    for (done = 1; done < RECEIVES; done += count) {
        MPI_Waitsome(RECEIVES, requests, &count, indices, MPI_STATUSES_IGNORE);
        tally_some("waitsome", count, indices, origins);
    }

    tally_call("sendrecv", "point-to-point", 2 * INT, other, NONE, 40, "0");
    MPI_Sendrecv(in[0], 2, MPI_INT, other, 40, in[1], 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    origins[0] = tally_start("recv_init", 8 * INT, ANY, ANY);
    MPI_Recv_init(in[0], 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    for (int i = 0; i < 2; i++) {
        tally_completion("start", "point-to-point", 1, origins);
        MPI_Start(&requests[0]);
        send(6 + i, 50 + i);
        tally_completion("wait", "wait", 1, origins);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    tally_completion("request_free", "other", 1, origins);
    MPI_Request_free(&requests[0]);

    MPI_Message message;
    send(7, 60);
    tally_message("mprobe", NONE, ANY, ANY);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    tally_call("mrecv", "point-to-point", 8 * INT, NONE, NONE, NONE, "-1");
    MPI_Mrecv(in[0], 8, MPI_INT, &message, MPI_STATUS_IGNORE);

    tally_call("finalize", "other", NONE, NONE, NONE, NONE, "-1");
    tally_leave(rank, 2);
    MPI_Finalize();
    return 0;
}
