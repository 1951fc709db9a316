/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes every MPI call that is profiled, on four ranks, and tallies each by its region label. */
#include "tally.h"

enum { RANKS = 4, INT = sizeof(int), DOUBLE = sizeof(double) };

static int rank;
static int left, right; /* neighbours in the ring */
static double out[256], in[256];

/* Whatever a rank does first, its partner does second: no call relies on buffering. */
static int goes_first(void)
{
    return rank % 2 == 0;
}

static void receive(int count, int source, int tag)
{
    tally_message("recv", count * DOUBLE, source, tag);
    MPI_Recv(in, count, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void blocking_messages(void)
{
    int i;
    for (i = 0; i < 100; i++) {
        if (!goes_first())
            receive(10, left, 1);
        tally_message("send", 10 * DOUBLE, right, 1);
        MPI_Send(out, 10, MPI_DOUBLE, right, 1, MPI_COMM_WORLD);
        if (goes_first())
            receive(10, left, 1);
    }
    if (!goes_first())
        receive(3, left, 2);
    tally_message("ssend", 3 * DOUBLE, right, 2);
    MPI_Ssend(out, 3, MPI_DOUBLE, right, 2, MPI_COMM_WORLD);
    if (goes_first())
        receive(3, left, 2);

    static char buffer[4096 + MPI_BSEND_OVERHEAD];
    void *detached;
    int size;
    MPI_Buffer_attach(buffer, sizeof buffer);
    tally_message("bsend", 5 * DOUBLE, right, 3);
    MPI_Bsend(out, 5, MPI_DOUBLE, right, 3, MPI_COMM_WORLD);
    receive(5, left, 3);
    tally_call("buffer_detach", "point-to-point", NONE, NONE, NONE, NONE, "-1"); /* it waits */
    MPI_Buffer_detach(&detached, &size);

    /* What is posted is larger than what arrives, and asks for anything from anybody. */
    if (!goes_first()) {
        tally_message("recv", 20 * DOUBLE, ANY, ANY);
        MPI_Recv(in, 20, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else {
        tally_message("send", 7 * DOUBLE, right, 4);
        MPI_Send(out, 7, MPI_DOUBLE, right, 4, MPI_COMM_WORLD);
    }
    tally_message("send", 0, PROC_NULL, 5);
    MPI_Send(NULL, 0, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    tally_message("recv", 8 * DOUBLE, PROC_NULL, ANY);
    MPI_Recv(in, 8, MPI_DOUBLE, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    for (i = 0; i < 17; i++) {
        tally_message("sendrecv", 6 * DOUBLE, right, 6);
        MPI_Sendrecv(out, 6, MPI_DOUBLE, right, 6, in, 9, MPI_DOUBLE, left, 6, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    tally_message("sendrecv_replace", 4 * DOUBLE, right, 7);
    MPI_Sendrecv_replace(out, 4, MPI_DOUBLE, right, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tally_call("sendrecv", "point-to-point", DOUBLE, 0, NONE, 8, "1");
    MPI_Sendrecv(out, 1, MPI_DOUBLE, 0, 8, in, 1, MPI_DOUBLE, 0, 8, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
}

/* One message of each is probed for, then received. */
static void probes(void)
{
    MPI_Request request;
    MPI_Message message;
    struct origin sent, received;
    int flag;

    for (int way = 0; way < 4; way++) {
        int tag = 20 + way;
        sent = tally_start("isend", 2 * DOUBLE, right, tag);
        MPI_Isend(out, 2, MPI_DOUBLE, right, tag, MPI_COMM_WORLD, &request);
        switch (way) {
        case 0:
            tally_message("probe", NONE, left, tag);
            MPI_Probe(left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            receive(2, left, tag);
            break;
        case 1:
            do {
                MPI_Iprobe(left, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
                tally_call("iprobe", flag ? "point-to-point" : "poll", NONE, left, NONE, tag, "0");
            } while (!flag);
            receive(2, left, tag);
            break;
        case 2:
            tally_message("mprobe", NONE, left, tag);
            MPI_Mprobe(left, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            tally_call("mrecv", "point-to-point", 2 * DOUBLE, NONE, NONE, NONE, "-1");
            MPI_Mrecv(in, 2, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
            break;
        case 3:
            do {
                MPI_Improbe(left, tag, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
                tally_call("improbe", flag ? "point-to-point" : "poll", NONE, left, NONE, tag, "0");
            } while (!flag);
            MPI_Request matched;
            tally_call("imrecv", "point-to-point", 2 * DOUBLE, NONE, NONE, NONE, "-1");
            received = (struct origin){"imrecv", 2 * DOUBLE, NONE, NONE, NONE, "-1"};
            MPI_Imrecv(in, 2, MPI_DOUBLE, &message, &matched);
            tally_completion("wait", "wait", 1, &received);
            MPI_Wait(&matched, MPI_STATUS_IGNORE);
            break;
        }
        tally_completion("wait", "wait", 1, &sent);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    /* Nobody sends with this tag. */
    for (int i = 0; i < 5; i++) {
        tally_call("iprobe", "poll", NONE, ANY, NONE, 99, "0");
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

static void barrier(void)
{
    tally_collective("barrier", 0, NONE, "0");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Isend and its kin, each waited for alone; Irsend needs its receive to be posted. */
static void requests_one_by_one(void)
{
    MPI_Request send, receive;
    struct origin sent, received;
    static char buffer[4096 + MPI_BSEND_OVERHEAD];
    void *detached;
    int size;

    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int way = 0; way < 4; way++) {
        int tag = 30 + way;
        received = tally_start("irecv", 12 * DOUBLE, left, tag);
        MPI_Irecv(in, 12, MPI_DOUBLE, left, tag, MPI_COMM_WORLD, &receive);
        barrier();
        switch (way) {
        case 0:
            sent = tally_start("isend", 11 * DOUBLE, right, tag);
            MPI_Isend(out, 11, MPI_DOUBLE, right, tag, MPI_COMM_WORLD, &send);
            break;
        case 1:
            sent = tally_start("ibsend", 11 * DOUBLE, right, tag);
            MPI_Ibsend(out, 11, MPI_DOUBLE, right, tag, MPI_COMM_WORLD, &send);
            break;
        case 2:
            sent = tally_start("issend", 11 * DOUBLE, right, tag);
            MPI_Issend(out, 11, MPI_DOUBLE, right, tag, MPI_COMM_WORLD, &send);
            break;
        default:
            sent = tally_start("irsend", 11 * DOUBLE, right, tag);
            MPI_Irsend(out, 11, MPI_DOUBLE, right, tag, MPI_COMM_WORLD, &send);
            break;
        }
        tally_completion("wait", "wait", 1, &received);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        tally_completion("wait", "wait", 1, &sent);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
    tally_call("buffer_detach", "point-to-point", NONE, NONE, NONE, NONE, "-1"); /* it waits */
    MPI_Buffer_detach(&detached, &size);
    barrier();
    tally_message("rsend", 0, PROC_NULL, 34);
    MPI_Rsend(NULL, 0, MPI_DOUBLE, MPI_PROC_NULL, 34, MPI_COMM_WORLD);
    sent = tally_start("isend", 0, PROC_NULL, 35);
    MPI_Isend(NULL, 0, MPI_DOUBLE, MPI_PROC_NULL, 35, MPI_COMM_WORLD, &send);
    tally_completion("wait", "wait", 1, &sent);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

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

    for (int i = 0; i < 50; i++) {
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

/* Arguments of the v and w collectives: rank r contributes r + 1 ints. */
static int counts[RANKS], displacements[RANKS], byte_displacements[RANKS], equal[RANKS];
static MPI_Datatype types[RANKS];
static int contribution, sum;
static int from[64], to[64];

static void prepare_collectives(void)
{
    sum = 0;
    for (int i = 0; i < RANKS; i++) {
        counts[i] = i + 1;
        displacements[i] = sum;
        byte_displacements[i] = 2 * i * INT;
        equal[i] = 2;
        types[i] = MPI_INT;
        sum += counts[i];
    }
    contribution = counts[rank];
}

static void blocking_collectives(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int twos[RANKS] = {0, 2, 4, 6};

    for (int i = 0; i < 40; i++) {
        tally_collective("bcast", 3 * DOUBLE, 2, "0");
        MPI_Bcast(out, 3, MPI_DOUBLE, 2, world);
        tally_collective("allreduce", DOUBLE, NONE, "0");
        MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, world);
    }
    tally_collective("allreduce", 2 * DOUBLE, NONE, "0");
    MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE, MPI_SUM, world);
    tally_collective("reduce", 5 * DOUBLE, 3, "0");
    MPI_Reduce(out, in, 5, MPI_DOUBLE, MPI_MAX, 3, world);
    tally_collective("gather", 2 * INT, 1, "0");
    MPI_Gather(from, 2, MPI_INT, to, 2, MPI_INT, 1, world);
    tally_collective("gather", 3 * INT, 0, "0");
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : from, rank == 0 ? 0 : 3, MPI_INT, to, 3, MPI_INT, 0,
               world);
    tally_collective("gatherv", contribution * INT, 1, "0");
    MPI_Gatherv(from, contribution, MPI_INT, to, counts, displacements, MPI_INT, 1, world);
    tally_collective("gatherv", contribution * INT, 3, "0");
    MPI_Gatherv(rank == 3 ? MPI_IN_PLACE : from, rank == 3 ? 0 : contribution, MPI_INT, to, counts,
                displacements, MPI_INT, 3, world);
    tally_collective("scatter", 2 * INT, 2, "0");
    MPI_Scatter(from, 2, MPI_INT, to, 2, MPI_INT, 2, world);
    tally_collective("scatterv", (rank == 2 ? sum : contribution) * INT, 2, "0");
    MPI_Scatterv(from, counts, displacements, MPI_INT, to, contribution, MPI_INT, 2, world);
    tally_collective("allgather", 2 * INT, NONE, "0");
    MPI_Allgather(from, 2, MPI_INT, to, 2, MPI_INT, world);
    tally_collective("allgather", 4 * INT, NONE, "0");
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 4, MPI_INT, world);
    tally_collective("allgatherv", contribution * INT, NONE, "0");
    MPI_Allgatherv(from, contribution, MPI_INT, to, counts, displacements, MPI_INT, world);
    tally_collective("allgatherv", contribution * INT, NONE, "0");
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, counts, displacements, MPI_INT, world);
    tally_collective("alltoall", 2 * INT, NONE, "0");
    MPI_Alltoall(from, 2, MPI_INT, to, 2, MPI_INT, world);
    tally_collective("alltoall", 3 * INT, NONE, "0");
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 3, MPI_INT, world);
    tally_collective("alltoallv", 2 * RANKS * INT, NONE, "0");
    MPI_Alltoallv(from, equal, twos, MPI_INT, to, equal, twos, MPI_INT, world);
    tally_collective("alltoallw", 2 * RANKS * INT, NONE, "0");
    MPI_Alltoallw(from, equal, byte_displacements, types, to, equal, byte_displacements, types,
                  world);
    tally_collective("reduce_scatter", sum * INT, NONE, "0");
    MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, world);
    tally_collective("reduce_scatter_block", 2 * INT, NONE, "0");
    MPI_Reduce_scatter_block(from, to, 2, MPI_INT, MPI_SUM, world);
    tally_collective("scan", 4 * INT, NONE, "0");
    MPI_Scan(from, to, 4, MPI_INT, MPI_SUM, world);
    tally_collective("exscan", 5 * INT, NONE, "0");
    MPI_Exscan(from, to, 5, MPI_INT, MPI_SUM, world);
}

/* Waits for the request that a collective started. */
static void finish(MPI_Request *request, struct origin started)
{
    tally_completion("wait", "wait", 1, &started);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void nonblocking_collectives(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request r;
    struct origin o;
    int twos[RANKS] = {0, 2, 4, 6};

    o = tally_start_collective("ibarrier", 0, NONE, "0");
    MPI_Ibarrier(world, &r);
    finish(&r, o);
    o = tally_start_collective("ibcast", 3 * DOUBLE, 1, "0");
    MPI_Ibcast(out, 3, MPI_DOUBLE, 1, world, &r);
    finish(&r, o);
    o = tally_start_collective("ireduce", 5 * DOUBLE, 3, "0");
    MPI_Ireduce(out, in, 5, MPI_DOUBLE, MPI_MAX, 3, world, &r);
    finish(&r, o);
    o = tally_start_collective("iallreduce", DOUBLE, NONE, "0");
    MPI_Iallreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, world, &r);
    finish(&r, o);
    o = tally_start_collective("igather", 2 * INT, 1, "0");
    MPI_Igather(from, 2, MPI_INT, to, 2, MPI_INT, 1, world, &r);
    finish(&r, o);
    o = tally_start_collective("igatherv", contribution * INT, 1, "0");
    MPI_Igatherv(from, contribution, MPI_INT, to, counts, displacements, MPI_INT, 1, world, &r);
    finish(&r, o);
    o = tally_start_collective("iscatter", 2 * INT, 2, "0");
    MPI_Iscatter(from, 2, MPI_INT, to, 2, MPI_INT, 2, world, &r);
    finish(&r, o);
    o = tally_start_collective("iscatterv", (rank == 2 ? sum : contribution) * INT, 2, "0");
    MPI_Iscatterv(from, counts, displacements, MPI_INT, to, contribution, MPI_INT, 2, world, &r);
    finish(&r, o);
    o = tally_start_collective("iallgather", 2 * INT, NONE, "0");
    MPI_Iallgather(from, 2, MPI_INT, to, 2, MPI_INT, world, &r);
    finish(&r, o);
    o = tally_start_collective("iallgatherv", contribution * INT, NONE, "0");
    MPI_Iallgatherv(from, contribution, MPI_INT, to, counts, displacements, MPI_INT, world, &r);
    finish(&r, o);
    o = tally_start_collective("ialltoall", 2 * INT, NONE, "0");
    MPI_Ialltoall(from, 2, MPI_INT, to, 2, MPI_INT, world, &r);
    finish(&r, o);
    o = tally_start_collective("ialltoallv", 2 * RANKS * INT, NONE, "0");
    MPI_Ialltoallv(from, equal, twos, MPI_INT, to, equal, twos, MPI_INT, world, &r);
    finish(&r, o);
    o = tally_start_collective("ialltoallw", 2 * RANKS * INT, NONE, "0");
    MPI_Ialltoallw(from, equal, byte_displacements, types, to, equal, byte_displacements, types,
                   world, &r);
    finish(&r, o);
    o = tally_start_collective("ireduce_scatter", sum * INT, NONE, "0");
    MPI_Ireduce_scatter(from, to, counts, MPI_INT, MPI_SUM, world, &r);
    finish(&r, o);
    o = tally_start_collective("ireduce_scatter_block", 2 * INT, NONE, "0");
    MPI_Ireduce_scatter_block(from, to, 2, MPI_INT, MPI_SUM, world, &r);
    finish(&r, o);
    o = tally_start_collective("iscan", 4 * INT, NONE, "0");
    MPI_Iscan(from, to, 4, MPI_INT, MPI_SUM, world, &r);
    finish(&r, o);
    o = tally_start_collective("iexscan", 5 * INT, NONE, "0");
    MPI_Iexscan(from, to, 5, MPI_INT, MPI_SUM, world, &r);
    finish(&r, o);

    /* Two different operations in one Waitall. */
    MPI_Request both[2];
    struct origin started[2];
    started[0] = tally_start_collective("ibarrier", 0, NONE, "0");
    MPI_Ibarrier(world, &both[0]);
    started[1] = tally_start_collective("ibcast", 3 * DOUBLE, 1, "0");
    MPI_Ibcast(out, 3, MPI_DOUBLE, 1, world, &both[1]);
    tally_completion("waitall", "wait", 2, started);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

/* A ring: each rank has two neighbours. */
static void neighbours(void)
{
    MPI_Comm ring;
    MPI_Request r;
    struct origin o;
    int size = RANKS, periodic = 1;
    int two[2] = {3, 4}, at[2] = {0, 8};
    MPI_Aint bytes_at[2] = {0, 8 * INT};
    MPI_Datatype ints[2] = {MPI_INT, MPI_INT};
    int expected[2] = {3, 3}, symmetric[2] = {3, 3};

    tally_call("cart_create", "topology", NONE, NONE, NONE, NONE, "0");
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);

    tally_collective("neighbor_allgather", 2 * INT, NONE, "@ring");
    MPI_Neighbor_allgather(from, 2, MPI_INT, to, 2, MPI_INT, ring);
    tally_collective("neighbor_allgatherv", 3 * INT, NONE, "@ring");
    MPI_Neighbor_allgatherv(from, 3, MPI_INT, to, expected, at, MPI_INT, ring);
    tally_collective("neighbor_alltoall", 2 * INT, NONE, "@ring");
    MPI_Neighbor_alltoall(from, 2, MPI_INT, to, 2, MPI_INT, ring);
    tally_collective("neighbor_alltoallv", 6 * INT, NONE, "@ring");
    MPI_Neighbor_alltoallv(from, symmetric, at, MPI_INT, to, symmetric, at, MPI_INT, ring);
    int back[2] = {4, 3}; /* what the left neighbour sends to its right is received from the left */
    tally_collective("neighbor_alltoallw", 7 * INT, NONE, "@ring");
    MPI_Neighbor_alltoallw(from, two, bytes_at, ints, to, back, bytes_at, ints, ring);

    o = tally_start_collective("ineighbor_allgather", 2 * INT, NONE, "@ring");
    MPI_Ineighbor_allgather(from, 2, MPI_INT, to, 2, MPI_INT, ring, &r);
    finish(&r, o);
    o = tally_start_collective("ineighbor_allgatherv", 3 * INT, NONE, "@ring");
    MPI_Ineighbor_allgatherv(from, 3, MPI_INT, to, expected, at, MPI_INT, ring, &r);
    finish(&r, o);
    o = tally_start_collective("ineighbor_alltoall", 2 * INT, NONE, "@ring");
    MPI_Ineighbor_alltoall(from, 2, MPI_INT, to, 2, MPI_INT, ring, &r);
    finish(&r, o);
    o = tally_start_collective("ineighbor_alltoallv", 6 * INT, NONE, "@ring");
    MPI_Ineighbor_alltoallv(from, symmetric, at, MPI_INT, to, symmetric, at, MPI_INT, ring, &r);
    finish(&r, o);
    o = tally_start_collective("ineighbor_alltoallw", 7 * INT, NONE, "@ring");
    MPI_Ineighbor_alltoallw(from, two, bytes_at, ints, to, back, bytes_at, ints, ring, &r);
    finish(&r, o);

    tally_call("comm_free", "communicator", NONE, NONE, NONE, NONE, "@ring");
    MPI_Comm_free(&ring);
}

static void free_communicator(MPI_Comm *communicator, const char *name)
{
    tally_call("comm_free", "communicator", NONE, NONE, NONE, NONE, name);
    MPI_Comm_free(communicator);
}

static void communicators(void)
{
    MPI_Comm copy, half, three, pair;
    MPI_Group world, two;
    int members[2] = {2, 1};
    const char *mine = rank % 2 == 0 ? "@even" : "@odd";

    tally_call("comm_dup", "communicator", NONE, NONE, NONE, NONE, "0");
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    tally_collective("barrier", 0, NONE, "@copy");
    MPI_Barrier(copy);
    tally_call("sendrecv", "point-to-point", INT, right, NONE, 70, "@copy");
    MPI_Sendrecv(from, 1, MPI_INT, right, 70, to, 1, MPI_INT, left, 70, copy, MPI_STATUS_IGNORE);

    tally_call("comm_split", "communicator", NONE, NONE, NONE, NONE, "@copy");
    MPI_Comm_split(copy, rank % 2, -rank, &half); /* rank 2 is 0 of its half */
    tally_collective("allreduce", INT, NONE, mine);
    MPI_Allreduce(from, to, 1, MPI_INT, MPI_SUM, half);
    int other = rank < 2 ? 0 : 1;
    tally_call("sendrecv", "point-to-point", INT, other, NONE, 71, mine);
    MPI_Sendrecv(from, 1, MPI_INT, other, 71, to, 1, MPI_INT, other, 71, half, MPI_STATUS_IGNORE);

    tally_call("comm_split", "communicator", NONE, NONE, NONE, NONE, "0");
    MPI_Comm_split(MPI_COMM_WORLD, rank == 3 ? MPI_UNDEFINED : 0, 0, &three);
    if (three != MPI_COMM_NULL) {
        tally_collective("bcast", INT, 1, "@three");
        MPI_Bcast(to, 1, MPI_INT, 1, three);
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, members, &two);
    tally_call("comm_create", "communicator", NONE, NONE, NONE, NONE, "0");
    MPI_Comm_create(MPI_COMM_WORLD, two, &pair);
    if (pair != MPI_COMM_NULL) {
        tally_collective("barrier", 0, NONE, "@pair");
        MPI_Barrier(pair);
    }
    MPI_Group_free(&two);
    MPI_Group_free(&world);

    if (pair != MPI_COMM_NULL)
        free_communicator(&pair, "@pair");
    if (three != MPI_COMM_NULL)
        free_communicator(&three, "@three");
    free_communicator(&half, mine);
    free_communicator(&copy, "@copy");
}

/* With an argument the program calls MPI_Init_thread instead of MPI_Init. */
int main(int argc, char **argv)
{
    int size, provided;
    if (argc > 1)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    else
        MPI_Init(&argc, &argv);
    tally_call(argc > 1 ? "init_thread" : "init", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != RANKS) {
        fprintf(stderr, "every_call: needs %d ranks\n", RANKS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    left = (rank + RANKS - 1) % RANKS;
    right = (rank + 1) % RANKS;

    tally_connect(rank, size);
    blocking_messages();
    probes();
    requests_one_by_one();
    small_sends_in_another_order();
    many_requests();
    polls();
    prepare_collectives();
    blocking_collectives();
    nonblocking_collectives();
    communicators();
    neighbours();

    tally_call("finalize", "other", NONE, NONE, NONE, NONE, "-1");
    tally_leave(rank, size);
    MPI_Finalize();
    return 0;
}
