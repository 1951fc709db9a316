/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives, blocking and started, also of neighbours and between two groups. */
#include "conformance.h"

/* Arguments of the v and w collectives: rank r contributes r + 1 ints. */
static int counts[RANKS], displacements[RANKS], byte_displacements[RANKS], equal[RANKS];
static MPI_Datatype types[RANKS];
static int contribution, sum;
static int from[64], to[64];

static void prepare_collectives(void)
{
    sum = 0;
    for (int i = 0; i < RANKS; i++) {
        counts[i] = i + 1;
        displacements[i] = sum;
        byte_displacements[i] = 2 * i * INT;
        equal[i] = 2;
        types[i] = MPI_INT;
        sum += counts[i];
    }
    contribution = counts[rank];
}

static void blocking_collectives(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int twos[RANKS] = {0, 2, 4, 6};

    for (int i = 0; i < 5; i++) {
        tally_collective("bcast", 3 * DOUBLE, 2, "0");
        MPI_Bcast(out, 3, MPI_DOUBLE, 2, world);
        tally_collective("allreduce", DOUBLE, NONE, "0");
        MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, world);
    }
    tally_collective("allreduce", 2 * DOUBLE, NONE, "0");
    MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE, MPI_SUM, world);
    tally_collective("reduce", 5 * DOUBLE, 3, "0");
    MPI_Reduce(out, in, 5, MPI_DOUBLE, MPI_MAX, 3, world);
    tally_collective("gather", 2 * INT, 1, "0");
    MPI_Gather(from, 2, MPI_INT, to, 2, MPI_INT, 1, world);
    tally_collective("gather", 3 * INT, 0, "0");
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : from, rank == 0 ? 0 : 3, MPI_INT, to, 3, MPI_INT, 0,
               world);
    tally_collective("gatherv", contribution * INT, 1, "0");
    MPI_Gatherv(from, contribution, MPI_INT, to, counts, displacements, MPI_INT, 1, world);
    tally_collective("gatherv", contribution * INT, 3, "0");
    MPI_Gatherv(rank == 3 ? MPI_IN_PLACE : from, rank == 3 ? 0 : contribution, MPI_INT, to, counts,
                displacements, MPI_INT, 3, world);
    tally_collective("scatter", 2 * INT, 2, "0");
    MPI_Scatter(from, 2, MPI_INT, to, 2, MPI_INT, 2, world);
    tally_collective("scatterv", (rank == 2 ? sum : contribution) * INT, 2, "0");
    MPI_Scatterv(from, counts, displacements, MPI_INT, to, contribution, MPI_INT, 2, world);
    tally_collective("allgather", 2 * INT, NONE, "0");
    MPI_Allgather(from, 2, MPI_INT, to, 2, MPI_INT, world);
    tally_collective("allgather", 4 * INT, NONE, "0");
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 4, MPI_INT, world);
    tally_collective("allgatherv", contribution * INT, NONE, "0");
    MPI_Allgatherv(from, contribution, MPI_INT, to, counts, displacements, MPI_INT, world);
    tally_collective("allgatherv", contribution * INT, NONE, "0");
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, counts, displacements, MPI_INT, world);
    tally_collective("alltoall", 2 * INT, NONE, "0");
    MPI_Alltoall(from, 2, MPI_INT, to, 2, MPI_INT, world);
    tally_collective("alltoall", 3 * INT, NONE, "0");
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 3, MPI_INT, world);
    tally_collective("alltoallv", 2 * RANKS * INT, NONE, "0");
    MPI_Alltoallv(from, equal, twos, MPI_INT, to, equal, twos, MPI_INT, world);
    tally_collective("alltoallw", 2 * RANKS * INT, NONE, "0");
    MPI_Alltoallw(from, equal, byte_displacements, types, to, equal, byte_displacements, types,
                  world);
    tally_collective("reduce_scatter", sum * INT, NONE, "0");
    MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, world);
    tally_collective("reduce_scatter_block", 2 * INT, NONE, "0");
    MPI_Reduce_scatter_block(from, to, 2, MPI_INT, MPI_SUM, world);
    tally_collective("scan", 4 * INT, NONE, "0");
    MPI_Scan(from, to, 4, MPI_INT, MPI_SUM, world);
    tally_collective("exscan", 5 * INT, NONE, "0");
    MPI_Exscan(from, to, 5, MPI_INT, MPI_SUM, world);
}

static void nonblocking_collectives(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request r;
    struct origin o;
    int twos[RANKS] = {0, 2, 4, 6};

    o = tally_start_collective("ibarrier", 0, NONE, "0");
    MPI_Ibarrier(world, &r);
    finish(&r, o);
    o = tally_start_collective("ibcast", 3 * DOUBLE, 1, "0");
    MPI_Ibcast(out, 3, MPI_DOUBLE, 1, world, &r);
    finish(&r, o);
    o = tally_start_collective("ireduce", 5 * DOUBLE, 3, "0");
    MPI_Ireduce(out, in, 5, MPI_DOUBLE, MPI_MAX, 3, world, &r);
    finish(&r, o);
    o = tally_start_collective("iallreduce", DOUBLE, NONE, "0");
    MPI_Iallreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, world, &r);
    finish(&r, o);
    o = tally_start_collective("igather", 2 * INT, 1, "0");
    MPI_Igather(from, 2, MPI_INT, to, 2, MPI_INT, 1, world, &r);
    finish(&r, o);
    o = tally_start_collective("igatherv", contribution * INT, 1, "0");
    MPI_Igatherv(from, contribution, MPI_INT, to, counts, displacements, MPI_INT, 1, world, &r);
    finish(&r, o);
    o = tally_start_collective("iscatter", 2 * INT, 2, "0");
    MPI_Iscatter(from, 2, MPI_INT, to, 2, MPI_INT, 2, world, &r);
    finish(&r, o);
    o = tally_start_collective("iscatterv", (rank == 2 ? sum : contribution) * INT, 2, "0");
    MPI_Iscatterv(from, counts, displacements, MPI_INT, to, contribution, MPI_INT, 2, world, &r);
    finish(&r, o);
    o = tally_start_collective("iallgather", 2 * INT, NONE, "0");
    MPI_Iallgather(from, 2, MPI_INT, to, 2, MPI_INT, world, &r);
    finish(&r, o);
    o = tally_start_collective("iallgatherv", contribution * INT, NONE, "0");
    MPI_Iallgatherv(from, contribution, MPI_INT, to, counts, displacements, MPI_INT, world, &r);
    finish(&r, o);
    o = tally_start_collective("ialltoall", 2 * INT, NONE, "0");
    MPI_Ialltoall(from, 2, MPI_INT, to, 2, MPI_INT, world, &r);
    finish(&r, o);
    o = tally_start_collective("ialltoallv", 2 * RANKS * INT, NONE, "0");
    MPI_Ialltoallv(from, equal, twos, MPI_INT, to, equal, twos, MPI_INT, world, &r);
    finish(&r, o);
    o = tally_start_collective("ialltoallw", 2 * RANKS * INT, NONE, "0");
    MPI_Ialltoallw(from, equal, byte_displacements, types, to, equal, byte_displacements, types,
                   world, &r);
    finish(&r, o);
    o = tally_start_collective("ireduce_scatter", sum * INT, NONE, "0");
    MPI_Ireduce_scatter(from, to, counts, MPI_INT, MPI_SUM, world, &r);
    finish(&r, o);
    o = tally_start_collective("ireduce_scatter_block", 2 * INT, NONE, "0");
    MPI_Ireduce_scatter_block(from, to, 2, MPI_INT, MPI_SUM, world, &r);
    finish(&r, o);
    o = tally_start_collective("iscan", 4 * INT, NONE, "0");
    MPI_Iscan(from, to, 4, MPI_INT, MPI_SUM, world, &r);
    finish(&r, o);
    o = tally_start_collective("iexscan", 5 * INT, NONE, "0");
    MPI_Iexscan(from, to, 5, MPI_INT, MPI_SUM, world, &r);
    finish(&r, o);

    /* Two different operations in one Waitall. */
    MPI_Request both[2];
    struct origin started[2];
    started[0] = tally_start_collective("ibarrier", 0, NONE, "0");
    MPI_Ibarrier(world, &both[0]);
    started[1] = tally_start_collective("ibcast", 3 * DOUBLE, 1, "0");
    MPI_Ibcast(out, 3, MPI_DOUBLE, 1, world, &both[1]);
    tally_completion("waitall", "wait", 2, started);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

/* A ring: each rank has two neighbours. */
static void neighbours(void)
{
    MPI_Comm ring;
    MPI_Request r;
    struct origin o;
    int size = RANKS, periodic = 1;
    int two[2] = {3, 4}, at[2] = {0, 8};
    MPI_Aint bytes_at[2] = {0, 8 * INT};
    MPI_Datatype ints[2] = {MPI_INT, MPI_INT};
    int expected[2] = {3, 3}, symmetric[2] = {3, 3};

    tally_call("cart_create", "topology", NONE, NONE, NONE, NONE, "0");
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    tally_communicator("@ring", "intra", "0", "0 1 2 3");

    tally_collective("neighbor_allgather", 2 * INT, NONE, "@ring");
    MPI_Neighbor_allgather(from, 2, MPI_INT, to, 2, MPI_INT, ring);
    tally_collective("neighbor_allgatherv", 3 * INT, NONE, "@ring");
    MPI_Neighbor_allgatherv(from, 3, MPI_INT, to, expected, at, MPI_INT, ring);
    tally_collective("neighbor_alltoall", 2 * INT, NONE, "@ring");
    MPI_Neighbor_alltoall(from, 2, MPI_INT, to, 2, MPI_INT, ring);
    tally_collective("neighbor_alltoallv", 6 * INT, NONE, "@ring");
    MPI_Neighbor_alltoallv(from, symmetric, at, MPI_INT, to, symmetric, at, MPI_INT, ring);
    int back[2] = {4, 3}; /* what the left neighbour sends to its right is received from the left */
    tally_collective("neighbor_alltoallw", 7 * INT, NONE, "@ring");
    MPI_Neighbor_alltoallw(from, two, bytes_at, ints, to, back, bytes_at, ints, ring);

    o = tally_start_collective("ineighbor_allgather", 2 * INT, NONE, "@ring");
    MPI_Ineighbor_allgather(from, 2, MPI_INT, to, 2, MPI_INT, ring, &r);
    finish(&r, o);
    o = tally_start_collective("ineighbor_allgatherv", 3 * INT, NONE, "@ring");
    MPI_Ineighbor_allgatherv(from, 3, MPI_INT, to, expected, at, MPI_INT, ring, &r);
    finish(&r, o);
    o = tally_start_collective("ineighbor_alltoall", 2 * INT, NONE, "@ring");
    MPI_Ineighbor_alltoall(from, 2, MPI_INT, to, 2, MPI_INT, ring, &r);
    finish(&r, o);
    o = tally_start_collective("ineighbor_alltoallv", 6 * INT, NONE, "@ring");
    MPI_Ineighbor_alltoallv(from, symmetric, at, MPI_INT, to, symmetric, at, MPI_INT, ring, &r);
    finish(&r, o);
    o = tally_start_collective("ineighbor_alltoallw", 7 * INT, NONE, "@ring");
    MPI_Ineighbor_alltoallw(from, two, bytes_at, ints, to, back, bytes_at, ints, ring, &r);
    finish(&r, o);

    free_communicator(&ring, "@ring");
}

/* The calls for which MPI_IN_PLACE stands for the send buffer: what is received tells the bytes. */
static void started_in_place(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request r;
    struct origin o;
    int twos[RANKS] = {0, 2, 4, 6};

    o = tally_start_collective("iallreduce", 2 * DOUBLE, NONE, "0");
    MPI_Iallreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE, MPI_SUM, world, &r);
    finish(&r, o);
    o = tally_start_collective("ireduce", 6 * DOUBLE, 2, "0");
    MPI_Ireduce(rank == 2 ? MPI_IN_PLACE : (void *)out, in, 6, MPI_DOUBLE, MPI_SUM, 2, world, &r);
    finish(&r, o);
    o = tally_start_collective("iscatter", 3 * INT, 1, "0");
    MPI_Iscatter(from, 3, MPI_INT, rank == 1 ? MPI_IN_PLACE : (void *)to, 3, MPI_INT, 1, world, &r);
    finish(&r, o);
    o = tally_start_collective("iallgather", 4 * INT, NONE, "0");
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 4, MPI_INT, world, &r);
    finish(&r, o);
    o = tally_start_collective("ialltoallv", 2 * RANKS * INT, NONE, "0");
    MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, to, equal, twos, MPI_INT, world,
                   &r);
    finish(&r, o);
    tally_collective("reduce_scatter", sum * INT, NONE, "0");
    MPI_Reduce_scatter(MPI_IN_PLACE, to, counts, MPI_INT, MPI_SUM, world);
    tally_collective("scan", 3 * INT, NONE, "0");
    MPI_Scan(MPI_IN_PLACE, to, 3, MPI_INT, MPI_SUM, world);
}

/* Between the even and the odd ranks. Of the sending group one is MPI_ROOT, the others are
 * MPI_PROC_NULL: they have no part in it. */
static void between_groups(void)
{
    MPI_Comm half, between;
    int even = rank % 2 == 0;
    const char *mine = even ? "@senders" : "@receivers";
    int root = !even ? 1 : rank == 2 ? MPI_ROOT : MPI_PROC_NULL;
    int said = !even ? 1 : rank == 2 ? ROOT : PROC_NULL;

    tally_call("comm_split", "communicator", NONE, NONE, NONE, NONE, "0");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    tally_communicator(mine, "intra", "0", even ? "0 2" : "1 3");
    tally_call("intercomm_create", "communicator", NONE, NONE, NONE, 77, mine);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, even ? 1 : 0, 77, &between);
    tally_communicator("@across", "inter", "-1", "0 2|1 3");

    tally_collective("barrier", 0, NONE, "@across");
    MPI_Barrier(between);
    tally_collective("bcast", said == PROC_NULL ? 0 : 3 * DOUBLE, said, "@across");
    MPI_Bcast(out, 3, MPI_DOUBLE, root, between);
    tally_collective("reduce", said == PROC_NULL ? 0 : 2 * DOUBLE, said, "@across");
    MPI_Reduce(out, in, 2, MPI_DOUBLE, MPI_SUM, root, between);
    tally_collective("allgather", 2 * INT, NONE, "@across");
    MPI_Allgather(from, 2, MPI_INT, to, 2, MPI_INT, between);
    int remote = rank / 2;
    tally_call("sendrecv", "point-to-point", INT, remote, NONE, 78, "@across");
    MPI_Sendrecv(from, 1, MPI_INT, remote, 78, to, 1, MPI_INT, remote, 78, between,
                 MPI_STATUS_IGNORE);
    free_communicator(&between, "@across");
    free_communicator(&half, mine);
}

void collectives(void)
{
    prepare_collectives();
    blocking_collectives();
    nonblocking_collectives();
    started_in_place();
    neighbours();
    between_groups();
}
