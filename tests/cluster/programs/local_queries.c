/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that only ask or change something locally: mpi-calls=all records each, mpi-calls none. */
#include "conformance.h"

static void other(const char *operation)
{
    tally_local(operation, "other", "-1");
}

static void of_group(const char *operation)
{
    tally_local(operation, "communicator", "-1");
}

static void of_communicator(const char *operation)
{
    tally_local(operation, "communicator", "0");
}

static void groups(void)
{
    MPI_Group world, one, rest, made;
    int size, place, first = 0, result, range[1][3] = {{0, 2, 2}};

    of_communicator("comm_group");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    of_group("group_size");
    MPI_Group_size(world, &size);
    of_group("group_rank");
    MPI_Group_rank(world, &place);
    of_group("group_incl");
    MPI_Group_incl(world, 1, &first, &one);
    of_group("group_excl");
    MPI_Group_excl(world, 1, &first, &rest);
    MPI_Group *const results[] = {&made};
    of_group("group_union");
    MPI_Group_union(one, rest, results[0]);
    of_group("group_compare");
    MPI_Group_compare(world, made, &result);
    of_group("group_free");
    MPI_Group_free(&made);
    of_group("group_intersection");
    MPI_Group_intersection(world, rest, &made);
    of_group("group_free");
    MPI_Group_free(&made);
    of_group("group_difference");
    MPI_Group_difference(world, rest, &made);
    of_group("group_free");
    MPI_Group_free(&made);
    of_group("group_range_incl");
    MPI_Group_range_incl(world, 1, range, &made);
    of_group("group_translate_ranks");
    MPI_Group_translate_ranks(made, 1, &first, world, &place);
    of_group("group_free");
    MPI_Group_free(&made);
    of_group("group_free");
    MPI_Group_free(&one);
    of_group("group_free");
    MPI_Group_free(&rest);
    of_group("group_free");
    MPI_Group_free(&world);
}

static void named_communicators(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, result, inter;

    of_communicator("comm_compare");
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result);
    of_communicator("comm_get_name");
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    of_communicator("comm_test_inter");
    MPI_Comm_test_inter(MPI_COMM_WORLD, &inter);
}

static void topology(const char *operation, const char *communicator)
{
    tally_local(operation, "topology", communicator);
}

static void topologies(void)
{
    MPI_Comm grid;
    int size[2] = {0, 0}, periodic[2] = {1, 1}, at[2], dimensions, status, before, after;

    topology("dims_create", "-1");
    MPI_Dims_create(RANKS, 2, size);
    tally_call("cart_create", "topology", NONE, NONE, NONE, NONE, "0");
    MPI_Cart_create(MPI_COMM_WORLD, 2, size, periodic, 0, &grid);
    tally_communicator("@asked", "intra", "0", "0 1 2 3");
    topology("cartdim_get", "@asked");
    MPI_Cartdim_get(grid, &dimensions);
    topology("cart_coords", "@asked");
    MPI_Cart_coords(grid, rank, 2, at);
    topology("cart_rank", "@asked");
    MPI_Cart_rank(grid, at, &status);
    topology("cart_shift", "@asked");
    MPI_Cart_shift(grid, 0, 1, &before, &after);
    topology("cart_get", "@asked");
    MPI_Cart_get(grid, 2, size, periodic, at);
    topology("topo_test", "@asked");
    MPI_Topo_test(grid, &status);
    free_communicator(&grid, "@asked");
}

static void datatypes(void)
{
    MPI_Datatype made;
    MPI_Aint lower, extent, at[2] = {0, 16};
    int size, lengths[2] = {1, 2}, places[2] = {0, 4}, count;
    MPI_Count large;
    MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE};

    other("type_size");
    MPI_Type_size(MPI_DOUBLE, &size);
    other("type_get_extent");
    MPI_Type_get_extent(MPI_INT, &lower, &extent);
    other("type_size_x");
    MPI_Type_size_x(MPI_INT, &large);
    other("type_create_struct");
    MPI_Type_create_struct(2, lengths, at, parts, &made);
    other("type_commit");
    MPI_Type_commit(&made);
    other("type_set_name");
    MPI_Type_set_name(made, "pair");
    other("type_free");
    MPI_Type_free(&made);
    other("type_indexed");
    MPI_Type_indexed(2, lengths, places, MPI_INT, &made);
    other("type_free");
    MPI_Type_free(&made);
    other("type_create_resized");
    MPI_Type_create_resized(MPI_INT, 0, 64, &made);
    other("type_dup");
    MPI_Datatype same;
    MPI_Type_dup(made, &same);
    other("type_free");
    MPI_Type_free(&made);
    other("type_free");
    MPI_Type_free(&same);

    char packed[64];
    int position = 0;
    tally_call_as("local", "pack_size", "other", 2 * INT, NONE, NONE, NONE, "0");
    MPI_Pack_size(2, MPI_INT, MPI_COMM_WORLD, &count);
    tally_call_as("local", "pack", "other", 2 * INT, NONE, NONE, NONE, "0");
    MPI_Pack(lengths, 2, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
    position = 0;
    tally_call_as("local", "unpack", "other", 2 * INT, NONE, NONE, NONE, "0");
    MPI_Unpack(packed, sizeof packed, &position, lengths, 2, MPI_INT, MPI_COMM_WORLD);
}

static void odds_and_ends(void)
{
    MPI_Info info;
    MPI_Status status;
    char value[16], text[MPI_MAX_PROCESSOR_NAME], error[MPI_MAX_ERROR_STRING];
    int flag, count, length, level;
    void *memory;

    other("info_create");
    MPI_Info_create(&info);
    other("info_set");
    MPI_Info_set(info, "key", "value");
    other("info_get");
    MPI_Info_get(info, "key", 15, value, &flag);
    other("info_get_nkeys");
    MPI_Info_get_nkeys(info, &count);
    other("info_delete");
    MPI_Info_delete(info, "key");
    other("info_free");
    MPI_Info_free(&info);
    other("alloc_mem");
    MPI_Alloc_mem(64, MPI_INFO_NULL, &memory);
    other("free_mem");
    MPI_Free_mem(memory);
    other("get_processor_name");
    MPI_Get_processor_name(text, &length);
    other("query_thread");
    MPI_Query_thread(&level);
    other("is_thread_main");
    MPI_Is_thread_main(&flag);
    other("error_string");
    MPI_Error_string(MPI_ERR_RANK, error, &length);
    tally_call("sendrecv", "point-to-point", INT, right, NONE, 1, "0");
    MPI_Sendrecv(&length, 1, MPI_INT, right, 1, &level, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                 &status);
    other("get_count");
    MPI_Get_count(&status, MPI_INT, &count);
    other("get_elements");
    MPI_Get_elements(&status, MPI_INT, &count);
}

/* Never recorded, for they tell nothing and are called very often. */
static void never_recorded(void)
{
    int flag;
    double now = MPI_Wtime();
    now += MPI_Wtick();
    MPI_Initialized(&flag);
    MPI_Finalized(&flag);
#ifdef MPI_ABI_VERSION
    MPI_Comm same = MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD));
#else
    MPI_Comm same = MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD));
#endif
    if (same != MPI_COMM_WORLD || now < 0 || flag)
        MPI_Abort(MPI_COMM_WORLD, 2);
}

void local_queries(void)
{
    groups();
    named_communicators();
    topologies();
    datatypes();
    odds_and_ends();
    never_recorded();
}
