/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks that use MPI through a session alone: no MPI_Init, no MPI_COMM_WORLD. */
#include "tally.h"

enum { INT = sizeof(int) };

int main(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm all;
    int rank, value = 0;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    tally_call("session_init", "other", NONE, NONE, NONE, NONE, "-1");
    tally_local("group_from_session_pset", "communicator", "-1");
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    tally_call("comm_create_from_group", "communicator", NONE, NONE, NONE, NONE, "-1");
    MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
    tally_communicator("@all", "intra", "-1", "0 1");
    MPI_Group_free(&group);
    MPI_Comm_rank(all, &rank);
    for (int i = 0; i < 5; i++) {
        tally_call("sendrecv_replace", "point-to-point", INT, 1 - rank, NONE, 1, "@all");
        MPI_Sendrecv_replace(&value, 1, MPI_INT, 1 - rank, 1, 1 - rank, 1, all, MPI_STATUS_IGNORE);
    }
    tally_call("comm_free", "communicator", NONE, NONE, NONE, NONE, "@all");
    MPI_Comm_free(&all);
    tally_call("session_finalize", "other", NONE, NONE, NONE, NONE, "-1");
    tally_leave(rank, 2);
    MPI_Session_finalize(&session);
    return 0;
}
