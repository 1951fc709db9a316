/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that came with MPI-4, as far as mpi.h declares them, and datatypes of all sizes, on two
 * ranks; tallies each by its region label. */
#include "tally.h"

/* Open MPI 5 says that it is MPI 3.1, but has all of MPI-4 save the large counts. */
#define HAS_LARGE_COUNTS (MPI_VERSION >= 4)
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI4 1
#endif

enum { RANKS = 2, INT = sizeof(int), DOUBLE = sizeof(double) };

static int rank, other;
static double out[64], in[64];

static void datatypes(void)
{
    MPI_Datatype vector, padded, million, huge;

    MPI_Type_vector(4, 2, 5, MPI_INT, &vector); /* 8 ints in 17 */
    MPI_Type_create_resized(vector, -INT, 32 * INT, &padded);
    MPI_Type_commit(&vector);
    MPI_Type_commit(&padded);
    tally_message("sendrecv", 8 * INT, other, 1);
    MPI_Sendrecv(out, 1, vector, other, 1, in, 1, vector, other, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    tally_message("sendrecv", 8 * INT, other, 2);
    MPI_Sendrecv(out + 1, 1, padded, other, 2, in + 1, 1, padded, other, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);

    /* More bytes than an int holds, in the count and in the type. */
    MPI_Type_contiguous(1 << 20, MPI_DOUBLE, &million);
    MPI_Type_contiguous(1 << 10, million, &huge);
    MPI_Type_commit(&million);
    MPI_Type_commit(&huge);
    tally_message("send", 3000L * DOUBLE << 20, PROC_NULL, 3);
    MPI_Send(out, 3000, million, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    tally_message("send", 5L * DOUBLE << 30, PROC_NULL, 4);
    MPI_Send(out, 5, huge, MPI_PROC_NULL, 4, MPI_COMM_WORLD);

    MPI_Type_free(&vector);
    MPI_Type_free(&padded);
    MPI_Type_free(&million);
    MPI_Type_free(&huge);
}

/* The program may call either name. */
static void other_name(void)
{
    int one = 1, sum;
    tally_collective("allreduce", INT, NONE, "0");
    PMPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

#ifdef HAS_MPI4
/* Another call on the request that origin tells of. */
static void tally_on(const char *operation, const char *kind, const struct origin *origin)
{
    tally_completion(operation, kind, 1, origin);
}

static void partitioned(void)
{
    struct origin origin;
    MPI_Request request;
    int arrived;
    MPI_Count doubles = 3;

    if (rank == 0) {
        origin = tally_start("psend_init", 4 * 3 * DOUBLE, other, 10);
        MPI_Psend_init(out, 4, doubles, MPI_DOUBLE, other, 10, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    } else {
        origin = tally_start("precv_init", 4 * 3 * DOUBLE, other, 10);
        MPI_Precv_init(in, 4, doubles, MPI_DOUBLE, other, 10, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    }
    for (int round = 0; round < 3; round++) {
        tally_on("start", "point-to-point", &origin);
        MPI_Start(&request);
        if (rank == 0) {
            int last = 3;
            tally_on("pready", "point-to-point", &origin);
            MPI_Pready(0, request);
            tally_on("pready_range", "point-to-point", &origin);
            MPI_Pready_range(1, 2, request);
            tally_on("pready_list", "point-to-point", &origin);
            MPI_Pready_list(1, &last, request);
        }
        for (arrived = rank == 0; !arrived;) {
            MPI_Parrived(request, 2, &arrived);
            tally_on("parrived", arrived ? "wait" : "poll", &origin);
        }
        tally_on("wait", "wait", &origin);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    tally_on("request_free", "other", &origin);
    MPI_Request_free(&request);
}

static void persistent_collective(void)
{
    MPI_Request request;
    struct origin origin = tally_start_collective("bcast_init", 6 * DOUBLE, 1, "0");
    MPI_Bcast_init(in, 6, MPI_DOUBLE, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2; round++) {
        tally_on("start", "point-to-point", &origin);
        MPI_Start(&request);
        tally_on("wait", "wait", &origin);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    tally_on("request_free", "other", &origin);
    MPI_Request_free(&request);
}

static void both_ways(void)
{
    MPI_Request request;
    struct origin origin = tally_start("isendrecv", 7 * DOUBLE, other, 11);
    MPI_Isendrecv(out, 7, MPI_DOUBLE, other, 11, in, 9, MPI_DOUBLE, MPI_ANY_SOURCE, 11,
                  MPI_COMM_WORLD, &request);
    tally_on("wait", "wait", &origin);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A session beside MPI_Init, and a communicator that comes from it. */
static void session(void)
{
    MPI_Session own;
    MPI_Group everybody;
    MPI_Comm communicator;

    tally_call("session_init", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &own);
    MPI_Group_from_session_pset(own, "mpi://WORLD", &everybody);
    tally_call("comm_create_from_group", "communicator", NONE, NONE, NONE, NONE, "-1");
    MPI_Comm_create_from_group(everybody, "scope-profile.test", MPI_INFO_NULL,
                               MPI_ERRORS_ARE_FATAL, &communicator);
    tally_collective("barrier", 0, NONE, "@session");
    MPI_Barrier(communicator);
    tally_call("sendrecv", "point-to-point", DOUBLE, other, NONE, 12, "@session");
    MPI_Sendrecv(out, 1, MPI_DOUBLE, other, 12, in, 1, MPI_DOUBLE, other, 12, communicator,
                 MPI_STATUS_IGNORE);
    tally_call("comm_free", "communicator", NONE, NONE, NONE, NONE, "@session");
    MPI_Comm_free(&communicator);
    MPI_Group_free(&everybody);
    tally_call("session_finalize", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Session_finalize(&own);
}
#endif

#if HAS_LARGE_COUNTS
static void large_counts(void)
{
    MPI_Request request;
    MPI_Count counts[RANKS] = {2, 3}, total = 4;
    MPI_Aint displacements[RANKS] = {0, 2};

    tally_message("sendrecv_c", 4 * DOUBLE, other, 20);
    MPI_Sendrecv_c(out, total, MPI_DOUBLE, other, 20, in, total, MPI_DOUBLE, other, 20,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tally_message("send_c", (5L << 32) * DOUBLE, PROC_NULL, 21);
    MPI_Send_c(out, (MPI_Count)5 << 32, MPI_DOUBLE, MPI_PROC_NULL, 21, MPI_COMM_WORLD);
    tally_collective("allgatherv_c", (2 + rank) * DOUBLE, NONE, "0");
    MPI_Allgatherv_c(out, counts[rank], MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE,
                     MPI_COMM_WORLD);
    struct origin origin = tally_start_collective("iallreduce_c", 4 * DOUBLE, NONE, "0");
    MPI_Iallreduce_c(out, in, total, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    tally_completion("wait", "wait", 1, &origin);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#endif

int main(int argc, char **argv)
{
    int provided, size;
    tally_call("init_thread", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != RANKS) {
        fprintf(stderr, "mpi4_calls: needs %d ranks\n", RANKS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    other = 1 - rank;
    datatypes();
    other_name();
#ifdef HAS_MPI4
    partitioned();
    persistent_collective();
    both_ways();
    session();
#endif
#if HAS_LARGE_COUNTS
    large_counts();
#endif
    tally_call("finalize", "other", NONE, NONE, NONE, NONE, "-1");
    tally_leave(rank, size);
    MPI_Finalize();
    return 0;
}
