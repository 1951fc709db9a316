/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks spawn two more of this program, talk to them and join them. */
#include "tally.h"

enum { INT = sizeof(int) };

static void communicator(const char *operation, const char *parent)
{
    tally_call(operation, "communicator", NONE, NONE, NONE, NONE, parent);
}

/* What both sides do with the communicator between them. */
static void talk(MPI_Comm between, int spawned, int rank)
{
    MPI_Comm all;
    int value = 0;

    tally_call("sendrecv", "point-to-point", INT, rank, NONE, 7, "@between");
    MPI_Sendrecv(&rank, 1, MPI_INT, rank, 7, &value, 1, MPI_INT, rank, 7, between,
                 MPI_STATUS_IGNORE);
    communicator("intercomm_merge", "@between");
    MPI_Intercomm_merge(between, spawned, &all);
    tally_communicator("@all", "intra", "@between", ""); /* of two worlds */
    tally_collective("barrier", 0, NONE, "@all");
    MPI_Barrier(all);
    communicator("comm_free", "@all");
    MPI_Comm_free(&all);
    communicator("comm_disconnect", "@between");
    MPI_Comm_disconnect(&between);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm between;

    MPI_Init(&argc, &argv);
    tally_call("init", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tally_local("comm_get_parent", "communicator", "-1");
    MPI_Comm_get_parent(&between);
    int spawned = between != MPI_COMM_NULL;
    if (!spawned) {
        tally_call("comm_spawn", "communicator", NONE, NONE, 0, NONE, "0");
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                       MPI_ERRCODES_IGNORE);
    }
    tally_communicator("@between", "inter", spawned ? "-1" : "0", "0 1");
    talk(between, spawned, rank);
    if (spawned && chdir("spawned") != 0) /* its tally has a place of its own */
        return 1;
    tally_call("finalize", "other", NONE, NONE, NONE, NONE, "-1");
    tally_leave(rank, size);
    MPI_Finalize();
    return 0;
}
