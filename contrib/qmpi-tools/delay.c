/* SPDX-License-Identifier: BSD-3-Clause */
/* delay: a QMPI tool that makes chosen calls late, to see what an application makes of it.
 *
 * DELAY_CALLS names functions, each with the microseconds that its calls begin later:
 *
 *     DELAY_CALLS=MPI_Send=200,MPI_Allreduce=50
 *
 * and DELAY_RANK the only rank that is slowed down; without it all are. The processor is kept busy
 * meanwhile, as by a program that computes for longer.
 *
 * What can be late: MPI_Send, Bsend, Rsend, Ssend, Isend, Ibsend, Irsend, Issend, Recv, Irecv,
 * Sendrecv, Start, Startall, Wait, Waitany, Waitall, Barrier, Bcast, Reduce, Allreduce, Allgather
 * and Alltoall. Where a program calls MPI_Send_c or another one with a large count, it is that name
 * which is to be given. Other functions, and what is no number of microseconds, are told of.
 *
 *     mpicc -shared -fPIC $(pkg-config --cflags scope-qmpi) -o delay.so delay.c
 *     SCOPE_PROFILE_QMPI_PATH=$PWD DELAY_CALLS=MPI_Send=200 \
 *         srun --scope-profile=mpi-calls,qmpi=delay ./app
 *
 * In front of what records the calls (qmpi=delay) the delay is in between calls, behind it
 * (qmpi=scope+delay) a part of them.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <scope_qmpi.h>

static void spin(long microseconds)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000L + (now.tv_nsec - start.tv_nsec) / 1000 <
           microseconds);
}

/* All wrappers are alike but for the function's name, number, parameters and arguments. A wrapper
 * has the function's parameters behind a context and the instance's id; it asks what comes next,
 * and calls that with the context and the id that it was told. */
#define DELAYED(name, NUMBER, parameters, arguments)                                               \
    static long delay_##name;                                                                      \
    static int slow_##name parameters                                                              \
    {                                                                                              \
        void (*next)(void);                                                                        \
        int next_id;                                                                               \
        spin(delay_##name);                                                                        \
        QMPI_Get_function(tool_id, NUMBER, &next, &next_id);                                       \
        return ((QMPI_##name##_t *)next)arguments;                                                 \
    }

/* Several functions have the same parameters, but for the type of counts. */
#define SEND(name, NUMBER, Count)                                                                  \
    DELAYED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, const void *buf, Count count,                      \
             MPI_Datatype datatype, int dest, int tag, MPI_Comm comm),                             \
            (context, next_id, buf, count, datatype, dest, tag, comm))
#define ISEND(name, NUMBER, Count)                                                                 \
    DELAYED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, const void *buf, Count count,                      \
             MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request),       \
            (context, next_id, buf, count, datatype, dest, tag, comm, request))
#define RECV(name, NUMBER, Count)                                                                  \
    DELAYED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, void *buf, Count count, MPI_Datatype datatype,     \
             int source, int tag, MPI_Comm comm, MPI_Status *status),                              \
            (context, next_id, buf, count, datatype, source, tag, comm, status))
#define IRECV(name, NUMBER, Count)                                                                 \
    DELAYED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, void *buf, Count count, MPI_Datatype datatype,     \
             int source, int tag, MPI_Comm comm, MPI_Request *request),                            \
            (context, next_id, buf, count, datatype, source, tag, comm, request))
#define SENDRECV(name, NUMBER, Count)                                                              \
    DELAYED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, const void *sendbuf, Count sendcount,              \
             MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, Count recvcount,         \
             MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status),   \
            (context, next_id, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,    \
             recvtype, source, recvtag, comm, status))
#define BCAST(name, NUMBER, Count)                                                                 \
    DELAYED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, void *buffer, Count count, MPI_Datatype datatype,  \
             int root, MPI_Comm comm),                                                             \
            (context, next_id, buffer, count, datatype, root, comm))
#define REDUCE(name, NUMBER, Count)                                                                \
    DELAYED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, const void *sendbuf, void *recvbuf, Count count,   \
             MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm),                           \
            (context, next_id, sendbuf, recvbuf, count, datatype, op, root, comm))
#define ALLREDUCE(name, NUMBER, Count)                                                             \
    DELAYED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, const void *sendbuf, void *recvbuf, Count count,   \
             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),                                     \
            (context, next_id, sendbuf, recvbuf, count, datatype, op, comm))
#define ALLGATHER(name, NUMBER, Count)                                                             \
    DELAYED(name, NUMBER,                                                                          \
            (QMPI_Context context, int tool_id, const void *sendbuf, Count sendcount,              \
             MPI_Datatype sendtype, void *recvbuf, Count recvcount, MPI_Datatype recvtype,         \
             MPI_Comm comm),                                                                       \
            (context, next_id, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))

/* Each with CALL(SHAPE, name, NUMBER), where SHAPE is what makes its wrapper. */
#define WITH_COUNTS(CALL)                                                                          \
    CALL(SEND, Send, MPI_SEND)                                                                     \
    CALL(SEND, Bsend, MPI_BSEND)                                                                   \
    CALL(SEND, Rsend, MPI_RSEND)                                                                   \
    CALL(SEND, Ssend, MPI_SSEND)                                                                   \
    CALL(ISEND, Isend, MPI_ISEND)                                                                  \
    CALL(ISEND, Ibsend, MPI_IBSEND)                                                                \
    CALL(ISEND, Irsend, MPI_IRSEND)                                                                \
    CALL(ISEND, Issend, MPI_ISSEND)                                                                \
    CALL(RECV, Recv, MPI_RECV)                                                                     \
    CALL(IRECV, Irecv, MPI_IRECV)                                                                  \
    CALL(SENDRECV, Sendrecv, MPI_SENDRECV)                                                         \
    CALL(BCAST, Bcast, MPI_BCAST)                                                                  \
    CALL(REDUCE, Reduce, MPI_REDUCE)                                                               \
    CALL(ALLREDUCE, Allreduce, MPI_ALLREDUCE)                                                      \
    CALL(ALLGATHER, Allgather, MPI_ALLGATHER)                                                      \
    CALL(ALLGATHER, Alltoall, MPI_ALLTOALL)

#define BOTH(SHAPE, name, NUMBER)                                                                  \
    SHAPE(name, NUMBER##_T, int)                                                                   \
    SHAPE(name##_c, NUMBER##_C_T, MPI_Count)
WITH_COUNTS(BOTH)

DELAYED(Start, MPI_START_T, (QMPI_Context context, int tool_id, MPI_Request *request),
        (context, next_id, request))
DELAYED(Startall, MPI_STARTALL_T,
        (QMPI_Context context, int tool_id, int count, MPI_Request requests[]),
        (context, next_id, count, requests))
DELAYED(Wait, MPI_WAIT_T,
        (QMPI_Context context, int tool_id, MPI_Request *request, MPI_Status *status),
        (context, next_id, request, status))
DELAYED(Waitany, MPI_WAITANY_T,
        (QMPI_Context context, int tool_id, int count, MPI_Request requests[], int *index,
         MPI_Status *status),
        (context, next_id, count, requests, index, status))
DELAYED(Waitall, MPI_WAITALL_T,
        (QMPI_Context context, int tool_id, int count, MPI_Request requests[],
         MPI_Status statuses[]),
        (context, next_id, count, requests, statuses))
DELAYED(Barrier, MPI_BARRIER_T, (QMPI_Context context, int tool_id, MPI_Comm comm),
        (context, next_id, comm))

static const struct call {
    const char *name;
    enum QMPI_Functions_enum number;
    void (*wrapper)(void);
    long *delay; /* microseconds; 0: none */
} calls[] = {
#define ROW(name, NUMBER) {"MPI_" #name, NUMBER, (void (*)(void))slow_##name, &delay_##name},
#define ROWS(SHAPE, name, NUMBER) ROW(name, NUMBER##_T) ROW(name##_c, NUMBER##_C_T)
    WITH_COUNTS(ROWS) ROW(Start, MPI_START_T) ROW(Startall, MPI_STARTALL_T)
    ROW(Wait, MPI_WAIT_T) ROW(Waitany, MPI_WAITANY_T) ROW(Waitall, MPI_WAITALL_T)
    ROW(Barrier, MPI_BARRIER_T)
};
enum { CALLS = sizeof calls / sizeof *calls };

/* The launcher knows the rank before MPI has started: its own variables first, since below mpirun
 * in a batch script Slurm's is the rank of the script. 0 without a launcher. */
static int own_rank(void)
{
    static const char *const names[] = {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank && *rank)
            return atoi(rank);
    }
    return 0;
}

/* What is wrong is said once in a job. */
static void complain(const char *variable, const char *entry, size_t length, const char *why)
{
    if (own_rank() == 0)
        fprintf(stderr, "delay: %s: \"%.*s\" %s\n", variable, (int)length, entry, why);
}

/* A number from 0 to INT_MAX that ends at end, or -1. */
static long number(const char *text, const char *end)
{
    char *rest;
    long value = strtol(text, &rest, 10);
    return text < end && rest == end && value >= 0 && value <= INT_MAX ? value : -1;
}

static const struct call *find(const char *name, size_t length)
{
    for (size_t i = 0; i < CALLS; i++) {
        if (strlen(calls[i].name) == length && strncmp(calls[i].name, name, length) == 0)
            return &calls[i];
    }
    return NULL;
}

/* NAME=MICROSECONDS */
static void read_entry(const char *entry, size_t length)
{
    size_t name = strcspn(entry, "=,");
    const struct call *call = find(entry, name);
    long delay = name < length ? number(entry + name + 1, entry + length) : -1;
    if (!call)
        complain("DELAY_CALLS", entry, length, "is none of the calls that can be late");
    else if (delay < 0)
        complain("DELAY_CALLS", entry, length, "has no number of microseconds");
    else
        *call->delay = delay;
}

static void read_calls(const char *list)
{
    for (size_t length; *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        read_entry(list, length);
    }
}

/* True if this rank is to be slow. */
static int read_rank(const char *text)
{
    long rank = number(text, text + strlen(text));
    if (rank < 0)
        complain("DELAY_RANK", text, strlen(text), "is no rank: no call is late");
    return rank == own_rank();
}

/* A function that is not registered costs nothing. */
static void init(int tool_id)
{
    static int is_read, is_slow = 1; /* several instances are alike */
    const char *list = getenv("DELAY_CALLS"), *rank = getenv("DELAY_RANK");
    if (!is_read && list)
        read_calls(list);
    if (!is_read && rank && *rank)
        is_slow = read_rank(rank);
    is_read = 1;
    for (size_t i = 0; is_slow && i < CALLS; i++) {
        if (*calls[i].delay > 0)
            QMPI_Register_function(tool_id, calls[i].number, calls[i].wrapper);
    }
}

__attribute__((constructor)) static void announce(void)
{
    QMPI_Register_tool_name("delay", init);
}
