/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in every mode, blocking, started and persistent, and probes for them. */
#include "conformance.h"

static void blocking_messages(void)
{
    int i;
    for (i = 0; i < 10; i++) {
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
    tally_local("buffer_attach", "point-to-point", "-1");
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

    for (i = 0; i < 5; i++) {
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

/* Isend and its kin, each waited for alone; Irsend needs its receive to be posted. */
static void requests_one_by_one(void)
{
    MPI_Request send, receive;
    struct origin sent, received;
    static char buffer[4096 + MPI_BSEND_OVERHEAD];
    void *detached;
    int size;

    tally_local("buffer_attach", "point-to-point", "-1");
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

/* Persistent requests in each mode, started one by one and all at once. */
static void persistent(void)
{
    static int (*const make[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                               MPI_Request *) = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init,
                                                 MPI_Rsend_init};
    static const char *const name[] = {"send_init", "bsend_init", "ssend_init", "rsend_init"};
    static char buffer[4096 + MPI_BSEND_OVERHEAD];
    MPI_Request requests[2];
    struct origin origins[2];
    void *detached;
    int size;

    tally_local("buffer_attach", "point-to-point", "-1");
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int mode = 0; mode < 4; mode++) {
        int tag = 80 + mode;
        origins[0] = tally_start("recv_init", 4 * DOUBLE, left, tag);
        MPI_Recv_init(in, 4, MPI_DOUBLE, left, tag, MPI_COMM_WORLD, &requests[0]);
        origins[1] = tally_start(name[mode], 3 * DOUBLE, right, tag);
        make[mode](out, 3, MPI_DOUBLE, right, tag, MPI_COMM_WORLD, &requests[1]);
        for (int i = 0; i < 3; i++) {
            tally_completion("start", "point-to-point", 1, &origins[0]);
            MPI_Start(&requests[0]);
            barrier();
            tally_completion("start", "point-to-point", 1, &origins[1]);
            MPI_Start(&requests[1]);
            finish(&requests[1], origins[1]);
            finish(&requests[0], origins[0]);
        }
        if (mode != 3) { /* a ready send needs its receive to be there */
            tally_completion("startall", "point-to-point", 2, origins);
            MPI_Startall(2, requests);
            tally_completion("waitall", "wait", 2, origins);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; i < 2; i++) {
            tally_completion("request_free", "other", 1, &origins[i]);
            MPI_Request_free(&requests[i]);
        }
    }
    tally_call("buffer_detach", "point-to-point", NONE, NONE, NONE, NONE, "-1");
    MPI_Buffer_detach(&detached, &size);
}

/* A receive that nobody sends to. */
static void cancelled(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag;
    struct origin posted = tally_start("irecv", 6 * DOUBLE, left, 90);
    MPI_Irecv(in, 6, MPI_DOUBLE, left, 90, MPI_COMM_WORLD, &request);
    tally_completion("cancel", "other", 1, &posted);
    MPI_Cancel(&request);
    tally_completion("wait", "wait", 1, &posted);
    MPI_Wait(&request, &status);
    tally_local("test_cancelled", "other", "-1");
    MPI_Test_cancelled(&status, &flag);
    if (!flag)
        MPI_Abort(MPI_COMM_WORLD, 2);
}

/* A request that is freed early leaves its handle to others: they have labels of their own. */
static void freed_early(void)
{
    MPI_Request request;
    struct origin sent;
    for (int i = 0; i < 4; i++) {
        sent = tally_start("isend", INT, right, 91);
        MPI_Isend(&rank, 1, MPI_INT, right, 91, MPI_COMM_WORLD, &request);
        tally_completion("request_free", "other", 1, &sent);
        MPI_Request_free(&request);
        sent = tally_start("isend", 2 * INT, right, 92);
        MPI_Isend(in, 2, MPI_INT, right, 92, MPI_COMM_WORLD, &request);
        finish(&request, sent);
        tally_message("recv", INT, left, 91);
        MPI_Recv(in, 1, MPI_INT, left, 91, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        tally_message("recv", 2 * INT, left, 92);
        MPI_Recv(in, 2, MPI_INT, left, 92, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* What is posted for anybody and anything keeps its label, also when it is waited for. */
static void started_wildcards(void)
{
    MPI_Request request;
    struct origin posted = tally_start("irecv", 9 * DOUBLE, ANY, ANY);
    MPI_Irecv(in, 9, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    barrier();
    tally_message("send", 5 * DOUBLE, right, 93);
    MPI_Send(out, 5, MPI_DOUBLE, right, 93, MPI_COMM_WORLD);
    finish(&request, posted);
}

static void type_call(const char *operation)
{
    tally_local(operation, "other", "-1");
}

static MPI_Datatype contiguous(int count, MPI_Datatype old)
{
    MPI_Datatype made;
    type_call("type_contiguous");
    MPI_Type_contiguous(count, old, &made);
    type_call("type_commit");
    MPI_Type_commit(&made);
    return made;
}

/* Exchanges count elements of made, of so many bytes each, with the neighbours. Frees made. */
static void exchange_type(const void *from, void *to, MPI_Datatype made, int count, long bytes)
{
    tally_message("sendrecv", count * bytes, right, 94);
    MPI_Sendrecv(from, count, made, right, 94, to, count, made, left, 94, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    type_call("type_free");
    MPI_Type_free(&made);
}

/* Derived types: the bytes are those of the data, not of the holes between. */
static void datatypes(void)
{
    MPI_Datatype made;
    MPI_Aint at[2];
    int lengths[2] = {2, 1};

    exchange_type(out, in, contiguous(5, MPI_DOUBLE), 2, 5 * DOUBLE);
    type_call("type_vector");
    MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &made);
    type_call("type_commit");
    MPI_Type_commit(&made);
    exchange_type(out, in, made, 3, 6 * DOUBLE);

    type_call("get_address");
    MPI_Get_address(out, &at[0]);
    type_call("get_address");
    MPI_Get_address(out + 10, &at[1]);
    type_call("type_create_hindexed");
    MPI_Type_create_hindexed(2, lengths, at, MPI_DOUBLE, &made);
    type_call("type_commit");
    MPI_Type_commit(&made);
    tally_message("send", 3 * DOUBLE, PROC_NULL, 95);
    MPI_Send(MPI_BOTTOM, 1, made, MPI_PROC_NULL, 95, MPI_COMM_WORLD);
    tally_message("sendrecv", 3 * DOUBLE, right, 96);
    MPI_Sendrecv(MPI_BOTTOM, 1, made, right, 96, in, 3, MPI_DOUBLE, left, 96, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    type_call("type_free");
    MPI_Type_free(&made);

    tally_message("sendrecv", 3 * (DOUBLE + INT), right, 97);
    MPI_Sendrecv(out, 3, MPI_DOUBLE_INT, right, 97, in, 3, MPI_DOUBLE_INT, left, 97, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    exchange_type(out, in, contiguous(0, MPI_INT), 4, 0);
}

static void send_nowhere(MPI_Datatype type, int count, long bytes, int tag)
{
    tally_message("send", bytes, PROC_NULL, tag);
    MPI_Send(out, count, type, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
}

/* Sizes beyond an int; beyond 63 bits there is no number. */
static void huge(void)
{
    const int g = 1 << 30;
    MPI_Datatype gibi = contiguous(g, MPI_BYTE), exbi = contiguous(g, gibi);
    send_nowhere(MPI_DOUBLE, g, 8L * g, 110);
    send_nowhere(gibi, 1 << 10, 1L << 40, 111);
    send_nowhere(exbi, 1, 1L << 60, 112);
    send_nowhere(exbi, 7, 7L << 60, 113);
    send_nowhere(exbi, 16, NONE, 114);
    type_call("type_free");
    MPI_Type_free(&gibi);
    type_call("type_free");
    MPI_Type_free(&exbi);
}

void point_to_point(void)
{
    blocking_messages();
    probes();
    requests_one_by_one();
    persistent();
    cancelled();
    freed_early();
    started_wildcards();
    datatypes();
    huge();
}
