/* SPDX-License-Identifier: BSD-3-Clause */
/* limits: a QMPI tool that checks the tags and the sizes of messages against limits.
 *
 * MPI promises tags up to 32767 alone, and messages may have to stay below a size to be sent at
 * once. A program that keeps within both runs anywhere. This tool says at MPI_Finalize, on every
 * rank that went beyond, how often it did and where it did so first:
 *
 *     limits: rank 3: 17 tags above 32767, the first: 40000, from 0x55d0c2a011f3
 *
 * LIMITS_TAG and LIMITS_BYTES set the limits; without the latter no size is too large.
 *
 *     mpicc -shared -fPIC $(pkg-config --cflags scope-qmpi) -o limits.so limits.c
 *     SCOPE_PROFILE_QMPI_PATH=$PWD srun --scope-profile=mpi-calls,qmpi=limits ./app
 *
 * It is also the longer of two examples of how to write a tool. delay.c is the shorter.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scope_qmpi.h>

/* A limit, and what went beyond it. Threads may call MPI at the same time, and a tool's storage is
 * its own to protect. */
struct limit {
    const char *what;
    long long most;
    long long times; /* atomic */
    long long first; /* written by whoever came first */
    void *from;
};

/* What an instance keeps: there may be several, of which none knows the others. */
struct limits {
    struct limit tag, bytes;
};

static struct limits *storage_of(QMPI_Context context, int tool_id)
{
    void *storage;
    QMPI_Get_tool_storage(context, tool_id, &storage);
    return storage;
}

static void check(struct limit *limit, long long value, QMPI_Context context)
{
    if (value <= limit->most || __atomic_fetch_add(&limit->times, 1, __ATOMIC_RELAXED) > 0)
        return;
    limit->first = value;
    QMPI_Get_calling_address(context, &limit->from);
}

/* MPI_Type_size asks about this process alone. A tool that calls MPI by its plain names is seen by
 * no other tool. */
static void check_message(struct limits *limits, int count, MPI_Datatype datatype, int tag,
                          QMPI_Context context)
{
    int size;
    check(&limits->tag, tag, context);
    if (limits->bytes.most < LLONG_MAX && MPI_Type_size(datatype, &size) == MPI_SUCCESS)
        check(&limits->bytes, (long long)count * size, context);
}

/* A wrapper has the function's parameters behind a context and the instance's id. It asks what
 * comes next, a further tool or the MPI library, and calls it with the context and the id of that.
 */
static int limits_send(QMPI_Context context, int tool_id, const void *buf, int count,
                       MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    void (*next)(void);
    int next_id;
    check_message(storage_of(context, tool_id), count, datatype, tag, context);
    QMPI_Get_function(tool_id, MPI_SEND_T, &next, &next_id);
    return ((QMPI_Send_t *)next)(context, next_id, buf, count, datatype, dest, tag, comm);
}

static int limits_ssend(QMPI_Context context, int tool_id, const void *buf, int count,
                        MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    void (*next)(void);
    int next_id;
    check_message(storage_of(context, tool_id), count, datatype, tag, context);
    QMPI_Get_function(tool_id, MPI_SSEND_T, &next, &next_id);
    return ((QMPI_Ssend_t *)next)(context, next_id, buf, count, datatype, dest, tag, comm);
}

static int limits_isend(QMPI_Context context, int tool_id, const void *buf, int count,
                        MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                        MPI_Request *request)
{
    void (*next)(void);
    int next_id;
    check_message(storage_of(context, tool_id), count, datatype, tag, context);
    QMPI_Get_function(tool_id, MPI_ISEND_T, &next, &next_id);
    return ((QMPI_Isend_t *)next)(context, next_id, buf, count, datatype, dest, tag, comm, request);
}

static int limits_send_init(QMPI_Context context, int tool_id, const void *buf, int count,
                            MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                            MPI_Request *request)
{
    void (*next)(void);
    int next_id;
    check_message(storage_of(context, tool_id), count, datatype, tag, context);
    QMPI_Get_function(tool_id, MPI_SEND_INIT_T, &next, &next_id);
    return ((QMPI_Send_init_t *)next)(context, next_id, buf, count, datatype, dest, tag, comm,
                                      request);
}

static int limits_sendrecv(QMPI_Context context, int tool_id, const void *sendbuf, int sendcount,
                           MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                           MPI_Comm comm, MPI_Status *status)
{
    void (*next)(void);
    int next_id;
    check_message(storage_of(context, tool_id), sendcount, sendtype, sendtag, context);
    QMPI_Get_function(tool_id, MPI_SENDRECV_T, &next, &next_id);
    return ((QMPI_Sendrecv_t *)next)(context, next_id, sendbuf, sendcount, sendtype, dest, sendtag,
                                     recvbuf, recvcount, recvtype, source, recvtag, comm, status);
}

static void say(const struct limit *limit, int rank)
{
    if (limit->times > 0)
        fprintf(stderr, "limits: rank %d: %lld %s above %lld, the first: %lld, from %p\n", rank,
                limit->times, limit->what, limit->most, limit->first, limit->from);
}

static int limits_finalize(QMPI_Context context, int tool_id)
{
    struct limits *limits = storage_of(context, tool_id);
    void (*next)(void);
    int next_id, rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    say(&limits->tag, rank);
    say(&limits->bytes, rank);
    QMPI_Get_function(tool_id, MPI_FINALIZE_T, &next, &next_id);
    return ((QMPI_Finalize_t *)next)(context, next_id);
}

static struct limit limit_of(const char *what, const char *variable, long long most)
{
    const char *text = getenv(variable);
    struct limit limit = {.what = what, .most = text && *text ? atoll(text) : most};
    return limit;
}

/* Called once for each instance that the user asked for, before MPI starts. */
static void init(int tool_id)
{
    struct limits *limits = calloc(1, sizeof *limits);
    if (!limits)
        return; /* without having registered anything, it is as if the tool were not there */
    limits->tag = limit_of("tags", "LIMITS_TAG", 32767);
    limits->bytes = limit_of("messages of bytes", "LIMITS_BYTES", LLONG_MAX);
    QMPI_Register_tool_storage(tool_id, limits);
    QMPI_Register_function(tool_id, MPI_SEND_T, (void (*)(void))limits_send);
    QMPI_Register_function(tool_id, MPI_SSEND_T, (void (*)(void))limits_ssend);
    QMPI_Register_function(tool_id, MPI_ISEND_T, (void (*)(void))limits_isend);
    QMPI_Register_function(tool_id, MPI_SEND_INIT_T, (void (*)(void))limits_send_init);
    QMPI_Register_function(tool_id, MPI_SENDRECV_T, (void (*)(void))limits_sendrecv);
    QMPI_Register_function(tool_id, MPI_FINALIZE_T, (void (*)(void))limits_finalize);
}

/* Being loaded announces the tool, no more. */
__attribute__((constructor)) static void announce(void)
{
    QMPI_Register_tool_name("limits", init);
}
