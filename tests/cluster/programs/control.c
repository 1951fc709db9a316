/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks that tell with MPI_Pcontrol what they want to be recorded. With the argument "paused"
 * nothing is recorded until they ask for it. */
#include "tally.h"

enum { INT = sizeof(int) };

static int rank, other, recording;

static void control(int level)
{
    recording = level != 0;
    MPI_Pcontrol(level);
}

static void messages(int tag, MPI_Comm communicator, const char *name)
{
    int value = rank;
    for (int i = 0; i < 5; i++) {
        if (recording)
            tally_call("sendrecv_replace", "point-to-point", INT, other, NONE, tag, name);
        MPI_Sendrecv_replace(&value, 1, MPI_INT, other, tag, other, tag, communicator,
                             MPI_STATUS_IGNORE);
    }
}

/* A receive that is posted in one state and waited for in another. */
static void across(int before, int after, int tag)
{
    MPI_Request request;
    int value;
    struct origin posted = {"irecv", INT, other, NONE, tag, "0"};
    control(before);
    if (recording)
        tally_message("irecv", INT, other, tag);
    MPI_Irecv(&value, 1, MPI_INT, other, tag, MPI_COMM_WORLD, &request);
    control(after);
    if (recording)
        tally_message("send", INT, other, tag);
    MPI_Send(&rank, 1, MPI_INT, other, tag, MPI_COMM_WORLD);
    if (recording)
        tally_requests("or-unknown", "wait", "wait", 1, &posted);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Of two communicators rank 0 does not record how the first one is made. */
static void copies(void)
{
    MPI_Comm first, second;
    control(rank == 0 ? 0 : 1);
    if (recording)
        tally_call("comm_dup", "communicator", NONE, NONE, NONE, NONE, "0");
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    tally_communicator("@first", "intra", "0", "0 1");
    control(1);
    tally_call("comm_dup", "communicator", NONE, NONE, NONE, NONE, "0");
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    tally_communicator("@second", "intra", "0", "0 1");
    messages(7, first, "@first");
    messages(8, second, "@second");
    tally_call("comm_free", "communicator", NONE, NONE, NONE, NONE, "@first");
    MPI_Comm_free(&first);
    tally_call("comm_free", "communicator", NONE, NONE, NONE, NONE, "@second");
    MPI_Comm_free(&second);
}

int main(int argc, char **argv)
{
    recording = argc == 1;
    MPI_Init(&argc, &argv);
    if (recording)
        tally_call("init", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    messages(1, MPI_COMM_WORLD, "0");
    control(0);
    messages(2, MPI_COMM_WORLD, "0");
    usleep(2000);
    control(1);
    messages(3, MPI_COMM_WORLD, "0");
    control(2); /* writes what there is, and goes on */
    messages(4, MPI_COMM_WORLD, "0");
    control(0);
    control(0); /* twice is once */
    messages(5, MPI_COMM_WORLD, "0");
    across(0, 1, 10);
    across(1, 0, 11);
    across(1, 1, 12);
    copies();
    tally_call("finalize", "other", NONE, NONE, NONE, NONE, "-1");
    tally_leave(rank, 2);
    MPI_Finalize();
    return 0;
}
