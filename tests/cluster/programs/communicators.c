/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators made and freed in every way. */
#include "conformance.h"

static int from[64], to[64];

/* Tallies the making of name out of parent, and a barrier on it. */
static void made(const char *name, const char *parent, const char *members, MPI_Comm made)
{
    tally_communicator(name, "intra", parent, members);
    tally_collective("barrier", 0, NONE, name);
    MPI_Barrier(made);
}

static void makes(const char *operation, const char *kind, int tag, const char *parent)
{
    tally_call(operation, kind, NONE, NONE, NONE, tag, parent);
}

static void communicator(const char *operation, const char *parent)
{
    makes(operation, "communicator", NONE, parent);
}

/* A copy, its halves, what has no part of rank 3, and what has ranks 2 and 1 alone. */
static void split_and_created(void)
{
    MPI_Comm copy, half, three, pair;
    MPI_Group world, two;
    int members[2] = {2, 1};
    int even = rank % 2 == 0;
    const char *mine = even ? "@even" : "@odd";

    communicator("comm_dup", "0");
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    made("@copy", "0", "0 1 2 3", copy);
    tally_local("comm_set_name", "communicator", "@copy");
    MPI_Comm_set_name(copy, "a copy of everything");
    tally_name("@copy", "a copy of everything");
    tally_call("sendrecv", "point-to-point", INT, right, NONE, 70, "@copy");
    MPI_Sendrecv(from, 1, MPI_INT, right, 70, to, 1, MPI_INT, left, 70, copy, MPI_STATUS_IGNORE);

    communicator("comm_split", "@copy");
    MPI_Comm_split(copy, rank % 2, -rank, &half); /* rank 2 is 0 of its half */
    made(mine, "@copy", even ? "2 0" : "3 1", half);
    int other = rank < 2 ? 0 : 1;
    tally_call("sendrecv", "point-to-point", INT, other, NONE, 71, mine);
    MPI_Sendrecv(from, 1, MPI_INT, other, 71, to, 1, MPI_INT, other, 71, half, MPI_STATUS_IGNORE);

    communicator("comm_split", "0");
    MPI_Comm_split(MPI_COMM_WORLD, rank == 3 ? MPI_UNDEFINED : 0, 0, &three);
    if (three != MPI_COMM_NULL)
        made("@three", "0", "0 1 2", three);

    tally_local("comm_group", "communicator", "0");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    tally_local("group_incl", "communicator", "-1");
    MPI_Group_incl(world, 2, members, &two);
    communicator("comm_create", "0");
    MPI_Comm_create(MPI_COMM_WORLD, two, &pair);
    if (pair != MPI_COMM_NULL) {
        made("@pair", "0", "2 1", pair);
        free_communicator(&pair, "@pair");
        /* Only they call this. */
        makes("comm_create_group", "communicator", 72, "0");
        MPI_Comm_create_group(MPI_COMM_WORLD, two, 72, &pair);
        made("@group", "0", "2 1", pair);
        free_communicator(&pair, "@group");
    }
    tally_local("group_free", "communicator", "-1");
    MPI_Group_free(&two);
    tally_local("group_free", "communicator", "-1");
    MPI_Group_free(&world);

    if (three != MPI_COMM_NULL)
        free_communicator(&three, "@three");
    free_communicator(&half, mine);
    free_communicator(&copy, "@copy");
}

/* Two halves, the intercommunicator between them, and both as one, the odd ranks first. */
static void joined(void)
{
    MPI_Comm half, between, all;
    int even = rank % 2 == 0;
    const char *mine = even ? "@even2" : "@odd2";

    communicator("comm_split", "0");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    made(mine, "0", even ? "0 2" : "1 3", half);
    makes("intercomm_create", "communicator", 73, mine);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, even ? 1 : 0, 73, &between);
    tally_communicator("@between", "inter", "-1", "0 2|1 3");
    tally_collective("barrier", 0, NONE, "@between");
    MPI_Barrier(between);
    communicator("intercomm_merge", "@between");
    MPI_Intercomm_merge(between, even, &all);
    made("@all", "@between", "1 3 0 2", all);
    int next = (rank + 1) % 4 / 2 + (even ? 0 : 2); /* of the other parity, by its rank in @all */
    int next_left = (rank + 3) % 4 / 2 + (even ? 0 : 2);
    tally_call("sendrecv", "point-to-point", INT, next, NONE, 74, "@all");
    MPI_Sendrecv(from, 1, MPI_INT, next, 74, to, 1, MPI_INT, next_left, 74, all, MPI_STATUS_IGNORE);

    /* A copy of an intercommunicator is one. */
    MPI_Comm copy;
    communicator("comm_dup", "@between");
    MPI_Comm_dup(between, &copy);
    tally_communicator("@between2", "inter", "@between", "0 2|1 3");
    tally_collective("barrier", 0, NONE, "@between2");
    MPI_Barrier(copy);
    free_communicator(&copy, "@between2");

    free_communicator(&all, "@all");
    free_communicator(&between, "@between");
    free_communicator(&half, mine);
}

/* Groups that do not overlap call at the same time, with the same tag, and one of them twice. */
static void pairs(void)
{
    MPI_Comm pair;
    MPI_Group world, two;
    int range[1][3] = {{rank / 2 * 2, rank / 2 * 2 + 1, 1}};
    const char *members = rank < 2 ? "0 1" : "2 3";
    static const char *const names[2][2] = {{"@low1", "@low2"}, {"@high1", "@high2"}};

    tally_local("comm_group", "communicator", "0");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    tally_local("group_range_incl", "communicator", "-1");
    MPI_Group_range_incl(world, 1, range, &two);
    for (int i = 0; i < (rank < 2 ? 2 : 1); i++) {
        const char *name = names[rank / 2][i];
        makes("comm_create_group", "communicator", 75, "0");
        MPI_Comm_create_group(MPI_COMM_WORLD, two, 75, &pair);
        made(name, "0", members, pair);
        free_communicator(&pair, name);
    }
    tally_local("group_free", "communicator", "-1");
    MPI_Group_free(&two);
    tally_local("group_free", "communicator", "-1");
    MPI_Group_free(&world);
}

/* What is made of an intercommunicator: by colour, one with rank 0 on the one side and 3 on the
 * other; by groups, one with all but rank 2. */
static void of_an_intercommunicator(void)
{
    MPI_Comm half, between, part;
    MPI_Group mine, some;
    int even = rank % 2 == 0;
    const char *name = even ? "@even3" : "@odd3";

    communicator("comm_split", "0");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    tally_communicator(name, "intra", "0", even ? "0 2" : "1 3");
    makes("intercomm_create", "communicator", 76, name);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, even ? 1 : 0, 76, &between);
    tally_communicator("@between3", "inter", "-1", "0 2|1 3");

    communicator("comm_split", "@between3");
    MPI_Comm_split(between, rank == 0 || rank == 3 ? 0 : 1, 0, &part);
    const char *parted = rank == 0 || rank == 3 ? "@part03" : "@part21";
    tally_communicator(parted, "inter", "@between3", rank == 0 || rank == 3 ? "0|3" : "1|2");
    /* No barrier: MPICH 5 hangs in it. */
    tally_call("sendrecv", "point-to-point", DOUBLE, 0, NONE, 77, parted);
    MPI_Sendrecv(out, 1, MPI_DOUBLE, 0, 77, in, 1, MPI_DOUBLE, 0, 77, part, MPI_STATUS_IGNORE);
    free_communicator(&part, parted);

    tally_local("comm_group", "communicator", "@between3");
    MPI_Comm_group(between, &mine);
    int all_but_last[2] = {0, 1};
    tally_local("group_incl", "communicator", "-1");
    MPI_Group_incl(mine, even ? 1 : 2, all_but_last, &some);
    communicator("comm_create", "@between3");
    MPI_Comm_create(between, some, &part);
    if (part != MPI_COMM_NULL) {
        tally_communicator("@three3", "inter", "@between3", "0|1 3");
        tally_collective("barrier", 0, NONE, "@three3");
        MPI_Barrier(part);
        free_communicator(&part, "@three3");
    }
    tally_local("group_free", "communicator", "-1");
    MPI_Group_free(&some);
    tally_local("group_free", "communicator", "-1");
    MPI_Group_free(&mine);
    free_communicator(&between, "@between3");
    free_communicator(&half, name);
}

/* By host, started, with hints, and disconnected. */
static void others(void)
{
    MPI_Comm host, copy;
    MPI_Request request;
    const char *mine = on_first_host ? "@host1" : "@host2";
    struct origin started = {"comm_idup", NONE, NONE, NONE, NONE, "0"};

    communicator("comm_split_type", "0");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    made(mine, "0", host_members, host);
    free_communicator(&host, mine);

    communicator("comm_idup", "0");
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    finish(&request, started);
    made("@idup", "0", "0 1 2 3", copy);
    communicator("comm_disconnect", "@idup");
    MPI_Comm_disconnect(&copy);

    communicator("comm_dup_with_info", "0");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &copy);
    made("@info", "0", "0 1 2 3", copy);
    free_communicator(&copy, "@info");

    communicator("comm_dup", "1");
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    char name[] = "@self0", members[] = "0";
    name[5] = members[0] = '0' + rank;
    made(name, "1", members, copy);
    free_communicator(&copy, name);
}

/* A grid and its rows, and graphs. */
static void topologies(void)
{
    MPI_Comm grid, row, graph;
    int size[2] = {2, 2}, periodic[2] = {1, 0}, keep[2] = {0, 1};
    int ends[RANKS] = {1, 2, 3, 4}, edges[RANKS] = {1, 2, 3, 0}, one = 1, weight = 1;
    const char *mine = rank < 2 ? "@row0" : "@row1";

    makes("cart_create", "topology", NONE, "0");
    MPI_Cart_create(MPI_COMM_WORLD, 2, size, periodic, 0, &grid);
    made("@grid", "0", "0 1 2 3", grid);
    makes("cart_sub", "topology", NONE, "@grid");
    MPI_Cart_sub(grid, keep, &row);
    made(mine, "@grid", rank < 2 ? "0 1" : "2 3", row);
    free_communicator(&row, mine);
    free_communicator(&grid, "@grid");

    /* Two of four ranks have a place in it. */
    makes("cart_create", "topology", NONE, "0");
    MPI_Cart_create(MPI_COMM_WORLD, 1, size, periodic, 0, &grid);
    if (grid != MPI_COMM_NULL) {
        made("@line", "0", "0 1", grid);
        free_communicator(&grid, "@line");
    }

    makes("graph_create", "topology", NONE, "0");
    MPI_Graph_create(MPI_COMM_WORLD, RANKS, ends, edges, 0, &graph);
    made("@graph", "0", "0 1 2 3", graph);
    free_communicator(&graph, "@graph");
    makes("dist_graph_create", "topology", NONE, "0");
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &right, &weight, MPI_INFO_NULL, 0,
                          &graph);
    made("@dist", "0", "0 1 2 3", graph);
    free_communicator(&graph, "@dist");
    makes("dist_graph_create_adjacent", "topology", NONE, "0");
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &weight, 1, &right, &weight,
                                   MPI_INFO_NULL, 0, &graph);
    made("@adjacent", "0", "0 1 2 3", graph);
    tally_collective("neighbor_alltoall", 2 * INT, NONE, "@adjacent");
    MPI_Neighbor_alltoall(from, 2, MPI_INT, to, 2, MPI_INT, graph);
    free_communicator(&graph, "@adjacent");
}

void communicators(void)
{
    split_and_created();
    joined();
    pairs();
    of_an_intercommunicator();
    others();
    topologies();
}
