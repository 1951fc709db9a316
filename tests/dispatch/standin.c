/* SPDX-License-Identifier: BSD-3-Clause */
/* A stand-in for an MPI library, which notes how it was called. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/dispatch/standin.h"

/* What no test calls but the preload library. */
int PMPI_Comm_c2f(MPI_Comm comm);
int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group);
int PMPI_Comm_rank(MPI_Comm comm, int *rank);
int PMPI_Comm_size(MPI_Comm comm, int *size);
int PMPI_Comm_test_inter(MPI_Comm comm, int *inter);
int PMPI_Error_class(int code, int *class);
int PMPI_Get_library_version(char *text, int *length);
int PMPI_Group_free(MPI_Group *group);
int PMPI_Group_translate_ranks(MPI_Group from, int n, const int *ranks, MPI_Group to, int *other);
int PMPI_Query_thread(int *level);
int PMPI_Test_cancelled(const MPI_Status *status, int *cancelled);
int PMPI_Topo_test(MPI_Comm comm, int *topology);
int PMPI_Type_size(MPI_Datatype datatype, int *size);

static struct standin standin;

struct standin *standin_state(void)
{
    return &standin;
}

/* --- what a family is known by ---------------------------------------------------------------- */

#if defined(STANDIN_OPENMPI)
struct ompi_communicator_t ompi_mpi_comm_world = {.size = 2}, ompi_mpi_comm_self = {.size = 1},
                           ompi_mpi_comm_null;
struct ompi_request_t ompi_request_null;
static struct ompi_request_t ready, pending[64];
struct ompi_datatype_t ompi_mpi_datatype_null, ompi_mpi_int = {.size = 4},
                                               ompi_mpi_double = {.size = 8};
static const char version[] = "Open MPI v4.1.4, a stand-in\nwith a second line";
#define READY (&ready)
#define PENDING(n) (&pending[(n) % 64])

int PMPI_Comm_c2f(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD ? 0 : 1;
}

static int size_of(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF ? comm->size : 0;
}

int PMPI_Type_size(MPI_Datatype datatype, int *size)
{
    *size = datatype->size;
    return MPI_SUCCESS;
}
#else
#ifdef STANDIN_UNKNOWN
static const char version[] = "Unheard-of MPI 1.0";
#else
static const char version[] = "MPICH Version:\t4.0.2, a stand-in";
int MPIR_Dup_fn(void);
int MPIR_Dup_fn(void)
{
    return 0;
}
#endif
#define READY ((MPI_Request)0x6c000001)
#define PENDING(n) ((MPI_Request)0x6c000100 + (n) % 64)

static int size_of(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD ? 2 : comm == MPI_COMM_SELF ? 1 : 0;
}

int PMPI_Type_size(MPI_Datatype datatype, int *size)
{
    *size = ABI_DATATYPE_BASIC_SIZE(datatype);
    return MPI_SUCCESS;
}
#endif

/* --- questions -------------------------------------------------------------------------------- */

enum { ERROR = 5, STANDIN_CANCELLED = 99 };

int PMPI_Get_library_version(char *text, int *length)
{
    strcpy(text, version);
    *length = (int)strlen(version);
    return MPI_SUCCESS;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    const char *mine = getenv("STANDIN_RANK");
    *rank = comm == MPI_COMM_WORLD && mine ? atoi(mine) : 0;
    return size_of(comm) ? MPI_SUCCESS : ERROR;
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    *size = size_of(comm);
    return *size ? MPI_SUCCESS : ERROR;
}

int PMPI_Comm_test_inter(MPI_Comm comm, int *inter)
{
    *inter = 0;
    return size_of(comm) ? MPI_SUCCESS : ERROR;
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    memset(group, 0, sizeof *group);
    return size_of(comm) ? MPI_SUCCESS : ERROR;
}

int PMPI_Group_translate_ranks(MPI_Group from, int n, const int *ranks, MPI_Group to, int *other)
{
    (void)from, (void)to;
    memcpy(other, ranks, (size_t)n * sizeof *ranks);
    return MPI_SUCCESS;
}

int PMPI_Group_free(MPI_Group *group)
{
    (void)group;
    return MPI_SUCCESS;
}

int PMPI_Query_thread(int *level)
{
    *level = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

int PMPI_Error_class(int code, int *class)
{
    *class = code % 100;
    return MPI_SUCCESS;
}

int PMPI_Test_cancelled(const MPI_Status *status, int *cancelled)
{
    *cancelled = status->MPI_TAG == STANDIN_CANCELLED;
    return MPI_SUCCESS;
}

int PMPI_Topo_test(MPI_Comm comm, int *topology)
{
    (void)comm;
    *topology = ABI_UNDEFINED;
    return MPI_SUCCESS;
}

/* There are no topologies and no intercommunicators here. */
#define REFUSED(name, parameters)                                                                  \
    int name parameters;                                                                           \
    int name parameters                                                                            \
    {                                                                                              \
        return ERROR;                                                                              \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
REFUSED(PMPI_Cartdim_get, (MPI_Comm comm, int *ndims))
REFUSED(PMPI_Comm_remote_size, (MPI_Comm comm, int *size))
REFUSED(PMPI_Comm_remote_group, (MPI_Comm comm, MPI_Group *group))
REFUSED(PMPI_Dist_graph_neighbors_count, (MPI_Comm comm, int *in, int *out, int *weighted))
REFUSED(PMPI_Graph_neighbors_count, (MPI_Comm comm, int rank, int *count))
REFUSED(PMPI_Type_size_x, (MPI_Datatype datatype, MPI_Count *size))

/* --- QMPI ------------------------------------------------------------------------------------- */

#ifdef STANDIN_QMPI
/* As MPICH does where it was built so: the tools that the variable lists are called when MPI
 * starts, whether they announced themselves or not. */
int QMPI_Register_tool_name(const char *name, void (*init)(int id));
int QMPI_Register_function(int id, int number, void (*wrapper)(void));

enum { TOOLS = 8 };
static void (*tools[TOOLS])(int id);

static void visit_tools(void visit(int number, const char *name, void *data), void *data)
{
    char names[256];
    snprintf(names, sizeof names, "%s", getenv("MPIR_CVAR_QMPI_TOOL_LIST"));
    int number = 0;
    for (char *rest = names, *name; (name = strsep(&rest, ":")) && number < TOOLS;)
        visit(number++, name, data);
}

struct announced {
    const char *name;
    void (*init)(int id);
};

static void take_tool(int number, const char *name, void *data)
{
    const struct announced *announced = data;
    if (strcmp(name, announced->name) == 0)
        tools[number] = announced->init;
}

int QMPI_Register_tool_name(const char *name, void (*init)(int id))
{
    struct announced announced = {name, init};
    visit_tools(take_tool, &announced);
    return MPI_SUCCESS;
}

int QMPI_Register_function(int id, int number, void (*wrapper)(void))
{
    (void)number, (void)wrapper;
    printf("the library hosts tool %d\n", id);
    return MPI_SUCCESS;
}

static void start_tool(int number, const char *name, void *data)
{
    (void)name, (void)data;
    tools[number](number + 1);
}

static void start_tools(void)
{
    if (getenv("MPIR_CVAR_QMPI_TOOL_LIST"))
        visit_tools(start_tool, NULL);
}
#else
static void start_tools(void)
{
}
#endif

/* --- functions that do something -------------------------------------------------------------- */

static int do_init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    start_tools();
    if (standin.internal) {
        MPI_Send(NULL, 0, MPI_INT, 1, 7, MPI_COMM_WORLD);
        PMPI_Send(NULL, 0, MPI_INT, 1, 7, MPI_COMM_WORLD);
    }
    return MPI_SUCCESS;
}

static int do_init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv, (void)required;
    *provided = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

static int do_abort(MPI_Comm comm, int code)
{
    (void)comm;
    _exit(code);
}

static void tell(MPI_Status *status, int tag)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = 1;
    status->MPI_TAG = tag;
#ifdef STANDIN_OPENMPI
    status->count = 40;
#else
    status->count_low = 40;
    status->count_high_and_cancelled = 0;
#endif
}

static int do_recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Status *status)
{
    (void)buf, (void)count, (void)datatype, (void)source, (void)tag, (void)comm;
    tell(status, 9);
    return MPI_SUCCESS;
}

static int do_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    (void)source, (void)tag, (void)comm;
    *flag = standin.found;
    if (*flag)
        tell(status, 9);
    return MPI_SUCCESS;
}

/* As libraries do: a send that is done at once has the handle of all such sends. */
static int do_isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    (void)buf, (void)count, (void)datatype, (void)dest, (void)tag, (void)comm;
    *request = READY;
    return MPI_SUCCESS;
}

static int do_irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                    MPI_Request *request)
{
    static int made;
    (void)buf, (void)count, (void)datatype, (void)source, (void)tag, (void)comm;
    *request = PENDING(made++);
    return MPI_SUCCESS;
}

static int do_wait(MPI_Request *request, MPI_Status *status)
{
    tell(status, 9);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int do_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    *flag = standin.found;
    return *flag ? do_wait(request, status) : MPI_SUCCESS;
}

/* The second one was cancelled. */
static int do_waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    for (int i = 0; i < count; i++) {
        if (statuses != MPI_STATUS_IGNORE)
            tell(&statuses[i], i == 1 ? STANDIN_CANCELLED : 10 + i);
        requests[i] = MPI_REQUEST_NULL;
    }
    return MPI_SUCCESS;
}

static int do_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm)
{
    (void)sendbuf, (void)recvbuf, (void)count, (void)datatype, (void)op, (void)comm;
    if (standin.callback)
        standin.callback();
    return standin.result;
}

/* A collective that is made of messages, sent through the library's own exported names. */
static int do_barrier(MPI_Comm comm)
{
    if (standin.internal) {
        MPI_Send(NULL, 0, MPI_INT, 1, 7, comm);
        PMPI_Recv(NULL, 0, MPI_INT, 1, 7, comm, MPI_STATUS_IGNORE);
        MPI_Allreduce(NULL, NULL, 0, MPI_INT, 0, comm);
    }
    return standin.result;
}

/* Ends in a jump to another exported function, as a new name for an old one's work is made. */
static __attribute__((optimize("O2", "optimize-sibling-calls"))) int
do_get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    return standin.internal ? MPI_Get_count(status, datatype, count) : standin.result;
}

static void *const meanings[FUNCTION_COUNT] = {
    [FUNCTION_MPI_Init] = (void *)do_init,
    [FUNCTION_MPI_Get_elements] = (void *)do_get_elements,
    [FUNCTION_MPI_Init_thread] = (void *)do_init_thread,
    [FUNCTION_MPI_Abort] = (void *)do_abort,
    [FUNCTION_MPI_Recv] = (void *)do_recv,
    [FUNCTION_MPI_Iprobe] = (void *)do_iprobe,
    [FUNCTION_MPI_Isend] = (void *)do_isend,
    [FUNCTION_MPI_Irecv] = (void *)do_irecv,
    [FUNCTION_MPI_Test] = (void *)do_test,
    [FUNCTION_MPI_Wait] = (void *)do_wait,
    [FUNCTION_MPI_Waitall] = (void *)do_waitall,
    [FUNCTION_MPI_Allreduce] = (void *)do_allreduce,
    [FUNCTION_MPI_Barrier] = (void *)do_barrier,
};

/* Called by every exported function: notes the call and tells where to go on, or NULL. */
void *standin_entry(unsigned entry, struct standin_frame *frame);
void *standin_entry(unsigned entry, struct standin_frame *frame)
{
    __atomic_add_fetch(&standin.calls[entry], 1, __ATOMIC_RELAXED);
    void *meaning = meanings[entry / 2];
    frame->result = standin.result;
    if (!meaning) {
        standin.last = *frame;
        memcpy(standin.stack, frame->stack, sizeof standin.stack);
        if (standin.error_number)
            errno = standin.error_number;
    }
    return meaning;
}
