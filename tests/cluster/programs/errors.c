/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that return an error: they are recorded as failed, and what the program handles itself is
 * called for its own errors alone. */
#include "conformance.h"

static int handled; /* calls of the error handler */
static int failures; /* errors that calls returned while it was set */

static void count(MPI_Comm *communicator, int *code, ...)
{
    (void)communicator, (void)code;
    handled++;
}

/* code is what the call tallied last returned. */
static void fails(int code)
{
    if (code == MPI_SUCCESS) {
        fprintf(stderr, "errors: a wrong call was taken: %s\n", tally.regions[tally.last].label);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    failures++;
    tally_failed(code);
}

static void wrong_arguments(void)
{
    MPI_Request request;
    MPI_Comm made;

    tally_message("send", INT, 99, 1);
    fails(MPI_Send(in, 1, MPI_INT, 99, 1, MPI_COMM_WORLD));
    tally_message("send", NONE, right, 2);
    fails(MPI_Send(in, -3, MPI_INT, right, 2, MPI_COMM_WORLD));
    tally_message("send", NONE, right, 3);
    fails(MPI_Send(in, 1, MPI_DATATYPE_NULL, right, 3, MPI_COMM_WORLD));
    tally_message("recv", 2 * INT, 77, 4);
    fails(MPI_Recv(in, 2, MPI_INT, 77, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    tally_message("isend", INT, 98, 5);
    fails(MPI_Isend(in, 1, MPI_INT, 98, 5, MPI_COMM_WORLD, &request));
    tally_call("send", "point-to-point", INT, right, NONE, 6, "-1");
    fails(MPI_Send(in, 1, MPI_INT, right, 6, MPI_COMM_NULL));
    tally_collective("bcast", INT, 50, "0");
    fails(MPI_Bcast(in, 1, MPI_INT, 50, MPI_COMM_WORLD));
    tally_collective("allreduce", NONE, NONE, "0");
    fails(MPI_Allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD));
    tally_call("comm_dup", "communicator", NONE, NONE, NONE, NONE, "-1");
    fails(MPI_Comm_dup(MPI_COMM_NULL, &made));
}

/* What arrives is longer than what was posted. */
static void truncated(int tag)
{
    MPI_Request request;
    MPI_Status status;
    struct origin posted = tally_start("irecv", INT, left, tag);
    MPI_Irecv(in, 1, MPI_INT, left, tag, MPI_COMM_WORLD, &request);
    barrier();
    tally_message("send", 4 * INT, right, tag);
    MPI_Send(out, 4, MPI_INT, right, tag, MPI_COMM_WORLD);
    tally_completion("wait", "wait", 1, &posted);
    fails(MPI_Wait(&request, &status));

    MPI_Request both[2];
    MPI_Status statuses[2];
    struct origin started[2];
    started[0] = tally_start("irecv", INT, left, tag + 1);
    MPI_Irecv(in, 1, MPI_INT, left, tag + 1, MPI_COMM_WORLD, &both[0]);
    barrier();
    started[1] = tally_start("isend", 4 * INT, right, tag + 1);
    MPI_Isend(out, 4, MPI_INT, right, tag + 1, MPI_COMM_WORLD, &both[1]);
    int finished[2] = {0}, count = 0;
    int code = MPI_Waitall(2, both, statuses);
    for (int i = 0; i < 2; i++)
        if (statuses[i].MPI_ERROR != MPI_ERR_PENDING)
            finished[count++] = i;
    tally_some("waitall", count, finished, started);
    fails(code);
    if (count == 1)
        finish(&both[1], started[1]);
}

/* Files return errors unless told otherwise. */
static void no_such_file(void)
{
    MPI_File file;
    tally_call("file_open", "io", NONE, NONE, NONE, NONE, "0");
    int code = MPI_File_open(MPI_COMM_WORLD, "nowhere/data", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    fails(code);
}

void errors(void)
{
    MPI_Errhandler handler;

    set_errhandler(MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++)
        wrong_arguments();
    truncated(10);
    no_such_file();

    tally_local("comm_create_errhandler", "other", "-1");
    MPI_Comm_create_errhandler(count, &handler);
    set_errhandler(handler);
    failures = 0;
    wrong_arguments();
    if (handled != failures) {
        fprintf(stderr, "errors: %d errors, the handler was called %d times\n", failures, handled);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    tally_local("errhandler_free", "other", "-1");
    MPI_Errhandler_free(&handler);
    set_errhandler(MPI_ERRORS_ARE_FATAL);
}
