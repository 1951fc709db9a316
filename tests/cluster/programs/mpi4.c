/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI 4.0 added: large counts, partitioned messages, persistent collectives, sessions. */
#include "conformance.h"

#if HAS_MPI4

#if HAS_LARGE_COUNTS
static int from[64], to[64];

static void large_counts(void)
{
    MPI_Count count = (MPI_Count)1 << 33;
    MPI_Count counts[RANKS] = {1, 1, 1, 1};
    MPI_Aint places[RANKS] = {0, 1, 2, 3};
    MPI_Request request;
    struct origin started;

    tally_message("send_c", (long)count * DOUBLE, PROC_NULL, 1);
    MPI_Send_c(out, count, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    started = tally_start("irecv_c", 4 * DOUBLE, left, 2);
    MPI_Irecv_c(in, 4, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &request);
    tally_message("send_c", 4 * DOUBLE, right, 2);
    MPI_Send_c(out, 4, MPI_DOUBLE, right, 2, MPI_COMM_WORLD);
    finish(&request, started);
    tally_collective("bcast_c", 5 * DOUBLE, 1, "0");
    MPI_Bcast_c(out, 5, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    tally_collective("allreduce_c", 2 * DOUBLE, NONE, "0");
    MPI_Allreduce_c(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    tally_collective("alltoallv_c", RANKS * INT, NONE, "0");
    MPI_Alltoallv_c(from, counts, places, MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD);
}
#endif

static void sends_and_receives_in_one(void)
{
    MPI_Request request;
    struct origin started = tally_start("isendrecv", 3 * DOUBLE, right, 10);
    MPI_Isendrecv(out, 3, MPI_DOUBLE, right, 10, in, 3, MPI_DOUBLE, left, 10, MPI_COMM_WORLD,
                  &request);
    finish(&request, started);
    started = tally_start("isendrecv_replace", 2 * DOUBLE, right, 11);
    MPI_Isendrecv_replace(out, 2, MPI_DOUBLE, right, 11, left, 11, MPI_COMM_WORLD, &request);
    finish(&request, started);
}

/* A message in four parts of three. */
static void partitioned(void)
{
    MPI_Request requests[2];
    struct origin origins[2];
    int flag;

    origins[0] = tally_start("psend_init", 12 * DOUBLE, right, 20);
    MPI_Psend_init(out, 4, 3, MPI_DOUBLE, right, 20, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    origins[1] = tally_start("precv_init", 12 * DOUBLE, left, 20);
    MPI_Precv_init(in, 4, 3, MPI_DOUBLE, left, 20, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 2; round++) {
        tally_completion("startall", "point-to-point", 2, origins);
        MPI_Startall(2, requests);
        for (int i = 0; i < 3; i++) {
            tally_completion("pready", "point-to-point", 1, &origins[0]);
            MPI_Pready(i, requests[0]);
        }
        tally_completion("pready_range", "point-to-point", 1, &origins[0]);
        MPI_Pready_range(3, 3, requests[0]);
        do {
            MPI_Parrived(requests[1], 0, &flag);
            tally_completion("parrived", flag ? "wait" : "poll", 1, &origins[1]);
        } while (!flag);
        tally_completion("waitall", "wait", 2, origins);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2; i++) {
        tally_completion("request_free", "other", 1, &origins[i]);
        MPI_Request_free(&requests[i]);
    }
}

static void persistent_collectives(void)
{
    enum { REQUESTS = HAS_LARGE_COUNTS ? 5 : 3 };
    MPI_Request requests[REQUESTS];
    struct origin origins[REQUESTS];

    origins[0] = tally_start_collective("barrier_init", 0, NONE, "0");
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    origins[1] = tally_start_collective("bcast_init", 3 * DOUBLE, 2, "0");
    MPI_Bcast_init(out, 3, MPI_DOUBLE, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    origins[2] = tally_start_collective("allreduce_init", 2 * DOUBLE, NONE, "0");
    MPI_Allreduce_init(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[2]);
#if HAS_LARGE_COUNTS
    origins[3] = tally_start_collective("bcast_init_c", 4 * DOUBLE, 1, "0");
    MPI_Bcast_init_c(out, 4, MPI_DOUBLE, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
    origins[4] = tally_start_collective("allreduce_init_c", DOUBLE, NONE, "0");
    MPI_Allreduce_init_c(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &requests[4]);
#endif
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < REQUESTS; i++) {
            tally_completion("start", "point-to-point", 1, &origins[i]);
            MPI_Start(&requests[i]);
            finish(&requests[i], origins[i]);
        }
    for (int i = 0; i < REQUESTS; i++) {
        tally_completion("request_free", "other", 1, &origins[i]);
        MPI_Request_free(&requests[i]);
    }
}

/* A communicator without a parent. */
static void from_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm made;

    tally_call("session_init", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    tally_local("group_from_session_pset", "communicator", "-1");
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    tally_call("comm_create_from_group", "communicator", NONE, NONE, NONE, NONE, "-1");
    MPI_Comm_create_from_group(group, "conformance", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
    tally_communicator("@session", "intra", "-1", "0 1 2 3");
    tally_collective("barrier", 0, NONE, "@session");
    MPI_Barrier(made);
    free_communicator(&made, "@session");
    tally_local("group_free", "communicator", "-1");
    MPI_Group_free(&group);
    tally_call("session_finalize", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Session_finalize(&session);
}

void mpi4(void)
{
#if HAS_LARGE_COUNTS
    large_counts();
#endif
    sends_and_receives_in_one();
    partitioned();
    persistent_collectives();
    from_session();
}

#endif
