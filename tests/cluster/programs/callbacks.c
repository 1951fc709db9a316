/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that MPI calls back and that call MPI themselves: the program's own calls. */
#include "conformance.h"

/* A call that every callback makes, told apart by its tag. */
static void call(int tag)
{
    tally_message("send", INT, PROC_NULL, tag);
    MPI_Send(&tag, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
}

static void add(void *from, void *to, int *count, MPI_Datatype *type)
{
    int size;
    call(1);
    tally_local("type_size", "other", "-1");
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *count; i++)
        ((int *)to)[i] += ((int *)from)[i];
}

static void reductions(void)
{
    MPI_Op op;
    int sum = 0, one = 1;
    MPI_Request request;
    struct origin started;

    tally_local("op_create", "other", "-1");
    MPI_Op_create(add, 1, &op);
    tally_collective("allreduce", INT, NONE, "0");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    tally_collective("reduce", INT, 0, "0");
    MPI_Reduce(&one, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
    started = tally_start_collective("iallreduce", INT, NONE, "0");
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
    finish(&request, started);
    tally_local("reduce_local", "collective", "-1");
    snprintf(tally.regions[tally.last].label, TALLY_LABEL,
             "mpi:reduce_local kind=collective bytes=%d peer=-1 root=-1 tag=-1 comm=-1", INT);
    MPI_Reduce_local(&one, &sum, 1, MPI_INT, op);
    tally_local("op_free", "other", "-1");
    MPI_Op_free(&op);
}

static int copied(MPI_Comm old, int key, void *extra, void *in_value, void *out_value, int *flag)
{
    (void)old, (void)key, (void)extra;
    call(2);
    *(void **)out_value = in_value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm old, int key, void *value, void *extra)
{
    (void)old, (void)key, (void)value, (void)extra;
    call(3);
    return MPI_SUCCESS;
}

/* One copy and its end; the attribute of COMM_SELF ends in MPI_Finalize. */
static void attributes(void)
{
    MPI_Comm copy;
    int key;

    tally_local("comm_create_keyval", "other", "-1");
    MPI_Comm_create_keyval(copied, deleted, &key, NULL);
    tally_local("comm_set_attr", "other", "0");
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    tally_call("comm_dup", "communicator", NONE, NONE, NONE, NONE, "0");
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    tally_communicator("@attributes", "intra", "0", "0 1 2 3");
    free_communicator(&copy, "@attributes");
    tally_local("comm_delete_attr", "other", "0");
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    tally_local("comm_set_attr", "other", "1");
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    tally_local("comm_free_keyval", "other", "-1");
    MPI_Comm_free_keyval(&key);
}

static int queried(void *extra, MPI_Status *status)
{
    (void)extra;
    call(4);
    tally_local("status_set_elements", "other", "-1");
    MPI_Status_set_elements(status, MPI_INT, 1);
    tally_local("status_set_cancelled", "other", "-1");
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int freed(void *extra)
{
    (void)extra;
    call(5);
    return MPI_SUCCESS;
}

static int cancelled(void *extra, int complete)
{
    (void)extra, (void)complete;
    call(6);
    return MPI_SUCCESS;
}

static void generalised_requests(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag;
    struct origin started = {"grequest_start", NONE, NONE, NONE, NONE, "-1"};

    tally_call("grequest_start", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Grequest_start(queried, freed, cancelled, NULL, &request);
    tally_completion("test", "poll", 1, &started);
    MPI_Test(&request, &flag, &status);
    tally_completion("cancel", "other", 1, &started);
    MPI_Cancel(&request);
    tally_completion("grequest_complete", "other", 1, &started);
    MPI_Grequest_complete(request);
    tally_completion("wait", "wait", 1, &started);
    MPI_Wait(&request, &status);
}

static void handled(MPI_Comm *communicator, int *code, ...)
{
    (void)communicator, (void)code;
    call(7);
}

static void handled_errors(void)
{
    MPI_Errhandler handler;

    tally_local("comm_create_errhandler", "other", "-1");
    MPI_Comm_create_errhandler(handled, &handler);
    set_errhandler(handler);
    /* The handler tallies calls of its own before this one is known to have failed. */
    tally_message("send", INT, 99, 8);
    int tallied = tally.last;
    int code = MPI_Send(&rank, 1, MPI_INT, 99, 8, MPI_COMM_WORLD);
    tally.last = tallied;
    if (code != MPI_SUCCESS) /* under MPICH 5 an error that was handled is none */
        tally_failed(code);
    set_errhandler(MPI_ERRORS_ARE_FATAL);
    tally_local("errhandler_free", "other", "-1");
    MPI_Errhandler_free(&handler);
}

void callbacks(void)
{
    reductions();
    attributes();
    generalised_requests();
    handled_errors();
    /* MPI_Finalize deletes the attribute of COMM_SELF, after the tally is written. */
    tally_message("send", INT, PROC_NULL, 3);
}
