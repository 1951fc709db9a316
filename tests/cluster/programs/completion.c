/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests, waited for and tested in every way. */
#include "conformance.h"

/* Small sends often get one and the same handle: the labels have to stay apart, in any order. */
static void small_sends_in_another_order(void)
{
    enum { SENDS = 8 };
    static const int order[SENDS] = {5, 0, 7, 2, 6, 1, 3, 4};
    MPI_Request requests[SENDS];
    struct origin sent[SENDS];
    int i;

    for (i = 0; i < SENDS; i++) {
        int peer = (rank + 1 + i % 3) % RANKS;
        sent[i] = tally_start("isend", INT, peer, 40 + i);
        MPI_Isend(&i, 1, MPI_INT, peer, 40 + i, MPI_COMM_WORLD, &requests[i]);
    }
    for (i = 0; i < SENDS; i++) {
        tally_completion("wait", "wait", 1, &sent[order[i]]);
        MPI_Wait(&requests[order[i]], MPI_STATUS_IGNORE);
    }
    for (i = 0; i < SENDS; i++) {
        int peer = (rank + RANKS - 1 - i % 3) % RANKS, got;
        tally_message("recv", INT, peer, 40 + i);
        MPI_Recv(&got, 1, MPI_INT, peer, 40 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Posts a receive from and a send to each of the other ranks: requests and origins of six. */
static void halo(int tag, MPI_Request requests[6], struct origin origins[6])
{
    for (int i = 0; i < 3; i++) {
        int source = (rank + RANKS - 1 - i) % RANKS, dest = (rank + 1 + i) % RANKS;
        origins[i] = tally_start("irecv", 8 * DOUBLE, source, tag);
        MPI_Irecv(in + 8 * i, 8, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, &requests[i]);
        origins[3 + i] = tally_start("isend", 4 * DOUBLE, dest, tag);
        MPI_Isend(out + 8 * i, 4, MPI_DOUBLE, dest, tag, MPI_COMM_WORLD, &requests[3 + i]);
    }
}

static void many_requests(void)
{
    MPI_Request requests[6];
    struct origin origins[6];
    int indices[6], index, count, done, flag;

    for (int i = 0; i < 5; i++) {
        halo(50, requests, origins);
        tally_completion("waitall", "wait", 6, origins);
        MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    }
    /* A null request has no part in a label. */
    halo(51, requests, origins);
    tally_completion("wait", "wait", 1, origins);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    origins[0].operation = NULL;
    tally_completion("waitall", "wait", 3, origins);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    tally_completion("waitall", "wait", 3, origins + 3);
    MPI_Waitall(3, requests + 3, MPI_STATUSES_IGNORE);

    halo(52, requests, origins);
    for (done = 0; done < 6; done++) {
        MPI_Waitany(6, requests, &index, MPI_STATUS_IGNORE);
        tally_some("waitany", 1, &index, origins);
    }
    halo(53, requests, origins);
    for (done = 0; done < 6; done += count) {
        MPI_Waitsome(6, requests, &count, indices, MPI_STATUSES_IGNORE);
        tally_some("waitsome", count, indices, origins);
    }
    halo(54, requests, origins);
    for (done = 0; done < 6; done++)
        do {
            MPI_Test(&requests[done], &flag, MPI_STATUS_IGNORE);
            tally_completion("test", flag ? "wait" : "poll", 1, &origins[done]);
        } while (!flag);
    halo(55, requests, origins);
    do {
        MPI_Testall(6, requests, &flag, MPI_STATUSES_IGNORE);
        if (flag)
            tally_completion("testall", "wait", 6, origins);
        else
            tally_poll("testall");
    } while (!flag);

    halo(56, requests, origins);
    for (done = 0; done < 6;) {
        MPI_Testany(6, requests, &index, &flag, MPI_STATUS_IGNORE);
        if (flag) {
            tally_some("testany", 1, &index, origins);
            done++;
        } else {
            tally_poll("testany");
        }
    }
    halo(57, requests, origins);
    for (done = 0; done < 6; done += count) {
        MPI_Testsome(6, requests, &count, indices, MPI_STATUSES_IGNORE);
        if (count == 0)
            tally_poll("testsome");
        else
            tally_some("testsome", count, indices, origins);
    }
    struct origin none = {0};
    requests[0] = MPI_REQUEST_NULL;
    tally_completion("wait", "wait", 1, &none);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

/* Polls that cannot succeed: the partner sends after the barrier. */
static void polls(void)
{
    MPI_Request requests[2];
    struct origin origins[2];
    int indices[2], index, count, flag;

    for (int i = 0; i < 2; i++) {
        origins[i] = tally_start("irecv", (3 + i) * DOUBLE, left, 60 + i);
        MPI_Irecv(in + 8 * i, 3 + i, MPI_DOUBLE, left, 60 + i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < 30; i++) {
        tally_completion("test", "poll", 1, origins);
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 4; i++) {
        tally_poll("testall");
        MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        tally_poll("testany");
        MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
        tally_poll("testsome");
        MPI_Testsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
    }
    barrier();
    for (int i = 0; i < 2; i++) {
        tally_message("send", (3 + i) * DOUBLE, right, 60 + i);
        MPI_Send(out, 3 + i, MPI_DOUBLE, right, 60 + i, MPI_COMM_WORLD);
    }
    tally_completion("waitall", "wait", 2, origins);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* The same requests, but waited for where the program has copied them. Receives have handles of
 * their own; of small sends with one handle nobody can tell which is which. */
static void copied_requests(void)
{
    enum { COUNT = 8 };
    static const int order[COUNT] = {5, 0, 7, 2, 6, 1, 3, 4};
    MPI_Request first[2 * COUNT], copy[2 * COUNT];
    struct origin origins[2 * COUNT];
    int values[COUNT];

    for (int i = 0; i < COUNT; i++) {
        int peer = (rank + RANKS - 1 - i % 3) % RANKS;
        origins[i] = tally_start("irecv", INT, peer, 140 + i);
        MPI_Irecv(&values[i], 1, MPI_INT, peer, 140 + i, MPI_COMM_WORLD, &first[i]);
    }
    barrier();
    for (int i = 0; i < COUNT; i++) {
        int peer = (rank + 1 + i % 3) % RANKS;
        origins[COUNT + i] = tally_start("isend", INT, peer, 140 + i);
        MPI_Isend(&rank, 1, MPI_INT, peer, 140 + i, MPI_COMM_WORLD, &first[COUNT + i]);
    }
    memcpy(copy, first, sizeof copy);
    memset(first, 0, sizeof first);
    for (int i = 0; i < COUNT; i++)
        finish(&copy[order[i]], origins[order[i]]);
    for (int i = 0; i < COUNT; i++) {
        tally_requests("or-unknown", "wait", "wait", 1, &origins[COUNT + order[i]]);
        MPI_Wait(&copy[COUNT + order[i]], MPI_STATUS_IGNORE);
    }
}

/* MPI_Request_get_status tells, and leaves the request as it is. */
static void asked_for_status(void)
{
    MPI_Request request;
    int flag;
    struct origin posted = tally_start("irecv", 2 * DOUBLE, left, 150);
    MPI_Irecv(in, 2, MPI_DOUBLE, left, 150, MPI_COMM_WORLD, &request);
    tally_completion("request_get_status", "poll", 1, &posted);
    MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    barrier();
    tally_message("send", 2 * DOUBLE, right, 150);
    MPI_Send(out, 2, MPI_DOUBLE, right, 150, MPI_COMM_WORLD);
    do {
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        tally_completion("request_get_status", flag ? "wait" : "poll", 1, &posted);
    } while (!flag);
    finish(&request, posted);
}

/* Nothing to wait for. */
static void no_requests(void)
{
    MPI_Request none = MPI_REQUEST_NULL;
    struct origin nothing = {0};
    int index, flag;
    tally_completion("waitall", "wait", 0, NULL);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    tally_completion("waitany", "wait", 0, NULL);
    MPI_Waitany(1, &none, &index, MPI_STATUS_IGNORE);
    tally_completion("test", "wait", 1, &nothing);
    MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
}

void completion(void)
{
    small_sends_in_another_order();
    copied_requests();
    many_requests();
    polls();
    asked_for_status();
    no_requests();
}
