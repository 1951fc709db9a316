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
 *     mpicc -shared -fPIC $(pkg-config --cflags scope-qmpi) -o delay.so delay.c
 *     SCOPE_PROFILE_QMPI_PATH=$PWD DELAY_CALLS=MPI_Send=200 \
 *         srun --scope-profile=mpi-calls,qmpi=delay ./app
 *
 * In front of what records the calls (qmpi=delay) the delay is in between calls, behind it
 * (qmpi=scope+delay) a part of them.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <scope_qmpi.h>

/* The microseconds for a function, from the environment; 0: none. */
static long wanted(const char *function)
{
    const char *list = getenv("DELAY_CALLS");
    size_t length = strlen(function);
    while (list && *list) {
        if (strncmp(list, function, length) == 0 && list[length] == '=')
            return atol(list + length + 1);
        list = strchr(list, ',');
        list += list != NULL;
    }
    return 0;
}

static int is_chosen_rank(void)
{
    static const char *const names[] = {"SLURM_PROCID", "PMIX_RANK", "PMI_RANK"};
    const char *chosen = getenv("DELAY_RANK");
    for (size_t i = 0; chosen && i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank)
            return atoi(rank) == atoi(chosen);
    }
    return 1;
}

static void spin(long microseconds)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000L + (now.tv_nsec - start.tv_nsec) / 1000 <
           microseconds);
}

/* All wrappers are alike but for the function's name, number, parameters and arguments. */
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

DELAYED(Send, MPI_SEND_T,
        (QMPI_Context context, int tool_id, const void *buf, int count, MPI_Datatype datatype,
         int dest, int tag, MPI_Comm comm),
        (context, next_id, buf, count, datatype, dest, tag, comm))
DELAYED(Isend, MPI_ISEND_T,
        (QMPI_Context context, int tool_id, const void *buf, int count, MPI_Datatype datatype,
         int dest, int tag, MPI_Comm comm, MPI_Request *request),
        (context, next_id, buf, count, datatype, dest, tag, comm, request))
DELAYED(Recv, MPI_RECV_T,
        (QMPI_Context context, int tool_id, void *buf, int count, MPI_Datatype datatype, int source,
         int tag, MPI_Comm comm, MPI_Status *status),
        (context, next_id, buf, count, datatype, source, tag, comm, status))
DELAYED(Wait, MPI_WAIT_T,
        (QMPI_Context context, int tool_id, MPI_Request *request, MPI_Status *status),
        (context, next_id, request, status))
DELAYED(Waitall, MPI_WAITALL_T,
        (QMPI_Context context, int tool_id, int count, MPI_Request requests[],
         MPI_Status statuses[]),
        (context, next_id, count, requests, statuses))
DELAYED(Barrier, MPI_BARRIER_T, (QMPI_Context context, int tool_id, MPI_Comm comm),
        (context, next_id, comm))
DELAYED(Bcast, MPI_BCAST_T,
        (QMPI_Context context, int tool_id, void *buffer, int count, MPI_Datatype datatype,
         int root, MPI_Comm comm),
        (context, next_id, buffer, count, datatype, root, comm))
DELAYED(Allreduce, MPI_ALLREDUCE_T,
        (QMPI_Context context, int tool_id, const void *sendbuf, void *recvbuf, int count,
         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
        (context, next_id, sendbuf, recvbuf, count, datatype, op, comm))

/* A function that is not registered costs nothing. */
static void init(int tool_id)
{
    if (!is_chosen_rank())
        return;
#define REGISTER(name, NUMBER)                                                                     \
    if ((delay_##name = wanted("MPI_" #name)) > 0)                                                 \
        QMPI_Register_function(tool_id, NUMBER, (void (*)(void))slow_##name)
    REGISTER(Send, MPI_SEND_T);
    REGISTER(Isend, MPI_ISEND_T);
    REGISTER(Recv, MPI_RECV_T);
    REGISTER(Wait, MPI_WAIT_T);
    REGISTER(Waitall, MPI_WAITALL_T);
    REGISTER(Barrier, MPI_BARRIER_T);
    REGISTER(Bcast, MPI_BCAST_T);
    REGISTER(Allreduce, MPI_ALLREDUCE_T);
}

__attribute__((constructor)) static void announce(void)
{
    QMPI_Register_tool_name("delay", init);
}
