/* SPDX-License-Identifier: BSD-3-Clause */
/* limits: a QMPI tool that checks the tags and the sizes of messages against limits.
 *
 * MPI promises tags up to 32767 alone, and messages may have to stay below a size to be sent at
 * once. A program that keeps within both runs anywhere. This tool says at MPI_Finalize, on every
 * rank that went beyond, how often it did and where it did so first:
 *
 *     limits: rank 3: 17 tags above 32767, the first: 40000, from 0x55d0c2a011f3
 *
 * LIMITS_TAG and LIMITS_BYTES set the limits; without the latter no size is too large. What is no
 * number is told, too, by the first rank.
 *
 * Checked are the messages that are sent, by MPI_Send, Bsend, Rsend, Ssend, their forms with I
 * (Isend), with _init (Send_init) and with large counts (Send_c), Sendrecv, Isendrecv and both with
 * _replace. Not checked are partitioned messages, collectives and one-sided communication.
 *
 *     mpicc -shared -fPIC $(pkg-config --cflags scope-qmpi) -o limits.so limits.c
 *     SCOPE_PROFILE_QMPI_PATH=$PWD srun --scope-profile=mpi-calls,qmpi=limits ./app
 *
 * It is also the example of how to write a tool: limits_finalize is a wrapper in full.
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
    const char *wrong; /* that was given for it, and is none */
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

/* MPI_Type_size_x asks about this process alone. What a tool calls by MPI's plain names is seen by
 * no other tool. */
static void check_message(struct limits *limits, MPI_Count count, MPI_Datatype datatype, int tag,
                          QMPI_Context context)
{
    MPI_Count size;
    long long bytes;
    check(&limits->tag, tag, context);
    if (limits->bytes.most == LLONG_MAX || MPI_Type_size_x(datatype, &size) != MPI_SUCCESS)
        return;
    if (__builtin_mul_overflow((long long)count, (long long)size, &bytes))
        bytes = LLONG_MAX;
    check(&limits->bytes, bytes, context);
}

/* A wrapper has the function's parameters behind a context and the instance's id. It asks what
 * comes next, a further tool or the MPI library, and calls it with the context and the id of that.
 * All that send are alike but for the function's name, number, parameters and arguments. */
#define CHECKED(name, NUMBER, parameters, arguments, message)                                      \
    static int limits_##name parameters                                                            \
    {                                                                                              \
        void (*next)(void);                                                                        \
        int next_id;                                                                               \
        check_message message;                                                                     \
        QMPI_Get_function(tool_id, NUMBER, &next, &next_id);                                       \
        return ((QMPI_##name##_t *)next)arguments;                                                 \
    }

/* Several functions have the same parameters, but for the type of counts. */
#define SEND(name, NUMBER, Count)                                                                  \
    CHECKED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, const void *buf, Count count,                      \
             MPI_Datatype datatype, int dest, int tag, MPI_Comm comm),                             \
            (context, next_id, buf, count, datatype, dest, tag, comm),                             \
            (storage_of(context, tool_id), count, datatype, tag, context))
#define START(name, NUMBER, Count)                                                                 \
    CHECKED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, const void *buf, Count count,                      \
             MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request),       \
            (context, next_id, buf, count, datatype, dest, tag, comm, request),                    \
            (storage_of(context, tool_id), count, datatype, tag, context))
#define EXCHANGE(name, NUMBER, Count, Result)                                                      \
    CHECKED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, const void *sendbuf, Count sendcount,              \
             MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, Count recvcount,         \
             MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, Result *result),       \
            (context, next_id, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,    \
             recvtype, source, recvtag, comm, result),                                             \
            (storage_of(context, tool_id), sendcount, sendtype, sendtag, context))
#define REPLACE(name, NUMBER, Count, Result)                                                       \
    CHECKED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, void *buf, Count count, MPI_Datatype datatype,     \
             int dest, int sendtag, int source, int recvtag, MPI_Comm comm, Result *result),       \
            (context, next_id, buf, count, datatype, dest, sendtag, source, recvtag, comm,         \
             result),                                                                              \
            (storage_of(context, tool_id), count, datatype, sendtag, context))
#define SENDRECV(name, NUMBER, Count) EXCHANGE(name, NUMBER, Count, MPI_Status)
#define ISENDRECV(name, NUMBER, Count) EXCHANGE(name, NUMBER, Count, MPI_Request)
#define SENDRECV_REPLACE(name, NUMBER, Count) REPLACE(name, NUMBER, Count, MPI_Status)
#define ISENDRECV_REPLACE(name, NUMBER, Count) REPLACE(name, NUMBER, Count, MPI_Request)

/* Each with CALL(SHAPE, name, NUMBER), where SHAPE is what makes its wrapper. */
#define SENDS(CALL)                                                                                \
    CALL(SEND, Send, MPI_SEND)                                                                     \
    CALL(SEND, Bsend, MPI_BSEND)                                                                   \
    CALL(SEND, Rsend, MPI_RSEND)                                                                   \
    CALL(SEND, Ssend, MPI_SSEND)                                                                   \
    CALL(START, Isend, MPI_ISEND)                                                                  \
    CALL(START, Ibsend, MPI_IBSEND)                                                                \
    CALL(START, Irsend, MPI_IRSEND)                                                                \
    CALL(START, Issend, MPI_ISSEND)                                                                \
    CALL(START, Send_init, MPI_SEND_INIT)                                                          \
    CALL(START, Bsend_init, MPI_BSEND_INIT)                                                        \
    CALL(START, Rsend_init, MPI_RSEND_INIT)                                                        \
    CALL(START, Ssend_init, MPI_SSEND_INIT)                                                        \
    CALL(SENDRECV, Sendrecv, MPI_SENDRECV)                                                         \
    CALL(ISENDRECV, Isendrecv, MPI_ISENDRECV)                                                      \
    CALL(SENDRECV_REPLACE, Sendrecv_replace, MPI_SENDRECV_REPLACE)                                 \
    CALL(ISENDRECV_REPLACE, Isendrecv_replace, MPI_ISENDRECV_REPLACE)

#define BOTH(SHAPE, name, NUMBER)                                                                  \
    SHAPE(name, NUMBER##_T, int)                                                                   \
    SHAPE(name##_c, NUMBER##_C_T, MPI_Count)
SENDS(BOTH)

static void say(const struct limit *limit, int rank)
{
    if (limit->wrong && rank == 0)
        fprintf(stderr, "limits: \"%s\" is no limit of %s: %lld was\n", limit->wrong, limit->what,
                limit->most);
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
    struct limit limit = {.what = what, .most = most};
    char *end = NULL;
    long long value = text && *text ? strtoll(text, &end, 10) : most;
    if (value < 0 || (end && *end))
        limit.wrong = text;
    else
        limit.most = value;
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
    QMPI_Register_function(tool_id, MPI_FINALIZE_T, (void (*)(void))limits_finalize);
#define REGISTER(name, NUMBER)                                                                     \
    QMPI_Register_function(tool_id, NUMBER, (void (*)(void))limits_##name);
#define REGISTER_BOTH(SHAPE, name, NUMBER)                                                         \
    REGISTER(name, NUMBER##_T)                                                                     \
    REGISTER(name##_c, NUMBER##_C_T)
    SENDS(REGISTER_BOTH)
}

/* Being loaded announces the tool, no more. */
__attribute__((constructor)) static void announce(void)
{
    QMPI_Register_tool_name("limits", init);
}
