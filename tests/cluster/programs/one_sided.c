/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows made in every way, what is moved through them, and all ways to synchronise. */
#include "conformance.h"

static const char *window = "0"; /* the communicator of the window at work */

static void moves(const char *operation, long bytes, int peer)
{
    tally_call(operation, "one-sided", bytes, peer, NONE, NONE, window);
}

static void synchronise(const char *operation)
{
    moves(operation, NONE, NONE);
}

static struct origin starts(const char *operation, long bytes, int peer)
{
    moves(operation, bytes, peer);
    return (struct origin){operation, bytes, peer, NONE, NONE, window};
}

static void makes(const char *operation, const char *communicator)
{
    tally_call(operation, "one-sided", NONE, NONE, NONE, NONE, communicator);
}

static void fence(MPI_Win win)
{
    synchronise("win_fence");
    MPI_Win_fence(0, win);
}

static void put(MPI_Win win, int count, int target)
{
    moves("put", (long)count * DOUBLE, target);
    MPI_Put(out, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, win);
}

static void free_window(MPI_Win *win)
{
    synchronise("win_free");
    MPI_Win_free(win);
}

/* Everything that moves data, between fences. */
static void within_fences(MPI_Win win)
{
    static long mine, other, result;
    int none = MPI_PROC_NULL;

    fence(win);
    put(win, 3, right);
    moves("put", 4 * DOUBLE, PROC_NULL);
    MPI_Put(out, 4, MPI_DOUBLE, none, 0, 4, MPI_DOUBLE, win);
    moves("get", 5 * DOUBLE, left);
    MPI_Get(in, 5, MPI_DOUBLE, left, 8, 5, MPI_DOUBLE, win);
    moves("accumulate", 2 * DOUBLE, right);
    MPI_Accumulate(out, 2, MPI_DOUBLE, right, 16, 2, MPI_DOUBLE, MPI_SUM, win);
    fence(win);
    moves("get_accumulate", 2 * DOUBLE, right);
    MPI_Get_accumulate(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, right, 16, 2, MPI_DOUBLE, MPI_SUM,
                       win);
    moves("fetch_and_op", DOUBLE, left);
    MPI_Fetch_and_op(out, in + 8, MPI_DOUBLE, left, 20, MPI_SUM, win);
    moves("compare_and_swap", sizeof(long), left);
    MPI_Compare_and_swap(&mine, &other, &result, MPI_LONG, left, 24, win);
    fence(win);
}

/* One target at a time, then all; and what makes requests. */
static void within_locks(MPI_Win win)
{
    MPI_Request request;
    struct origin started;

    moves("win_lock", NONE, right);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    put(win, 6, right);
    moves("win_flush", NONE, right);
    MPI_Win_flush(right, win);
    moves("win_flush_local", NONE, right);
    MPI_Win_flush_local(right, win);
    moves("win_unlock", NONE, right);
    MPI_Win_unlock(right, win);

    synchronise("win_lock_all");
    MPI_Win_lock_all(0, win);
    started = starts("rput", 2 * DOUBLE, right);
    MPI_Rput(out, 2, MPI_DOUBLE, right, 0, 2, MPI_DOUBLE, win, &request);
    finish(&request, started);
    started = starts("rget", 3 * DOUBLE, left);
    MPI_Rget(in, 3, MPI_DOUBLE, left, 8, 3, MPI_DOUBLE, win, &request);
    finish(&request, started);
    started = starts("raccumulate", 2 * DOUBLE, right);
    MPI_Raccumulate(out, 2, MPI_DOUBLE, right, 16, 2, MPI_DOUBLE, MPI_SUM, win, &request);
    finish(&request, started);
    started = starts("rget_accumulate", DOUBLE, right);
    MPI_Rget_accumulate(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, right, 16, 1, MPI_DOUBLE, MPI_SUM,
                        win, &request);
    finish(&request, started);
    synchronise("win_flush_all");
    MPI_Win_flush_all(win);
    synchronise("win_flush_local_all");
    MPI_Win_flush_local_all(win);
    synchronise("win_sync");
    MPI_Win_sync(win);
    synchronise("win_unlock_all");
    MPI_Win_unlock_all(win);
    barrier();
}

/* Exposed to the left neighbour, accessing the right one's. */
static void within_epochs(MPI_Win win)
{
    MPI_Group everybody, before, after;
    int flag;

    tally_local("win_get_group", "one-sided", window);
    MPI_Win_get_group(win, &everybody);
    tally_local("group_incl", "communicator", "-1");
    MPI_Group_incl(everybody, 1, &left, &before);
    tally_local("group_incl", "communicator", "-1");
    MPI_Group_incl(everybody, 1, &right, &after);
    for (int i = 0; i < 2; i++) {
        synchronise("win_post");
        MPI_Win_post(before, 0, win);
        synchronise("win_start");
        MPI_Win_start(after, 0, win);
        put(win, 7, right);
        synchronise("win_complete");
        MPI_Win_complete(win);
        if (i == 0) {
            synchronise("win_wait");
            MPI_Win_wait(win);
            continue;
        }
        do {
            MPI_Win_test(win, &flag);
            tally_call("win_test", flag ? "one-sided" : "poll", NONE, NONE, NONE, NONE, window);
        } while (!flag);
    }
    MPI_Group *all[] = {&everybody, &before, &after};
    for (int i = 0; i < 3; i++) {
        tally_local("group_free", "communicator", "-1");
        MPI_Group_free(all[i]);
    }
}

/* A window's memory that the program brings along, attached and detached, or shared in a host. */
static void made_in_other_ways(void)
{
    static double memory[64];
    MPI_Win win;
    MPI_Aint at[RANKS], mine;
    MPI_Comm host;
    void *base;
    const char *name = on_first_host ? "@memory1" : "@memory2";

    makes("win_create", "0");
    MPI_Win_create(memory, sizeof memory, DOUBLE, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    fence(win);
    put(win, 1, right);
    fence(win);
    free_window(&win);

    makes("win_create_dynamic", "0");
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    tally_local("win_attach", "one-sided", window);
    MPI_Win_attach(win, memory, sizeof memory);
    tally_local("get_address", "other", "-1");
    MPI_Get_address(memory, &mine);
    tally_collective("allgather", sizeof mine, NONE, "0");
    MPI_Allgather(&mine, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
    fence(win);
    moves("put", 2 * DOUBLE, right);
    MPI_Put(out, 2, MPI_DOUBLE, right, at[right], 2, MPI_DOUBLE, win);
    fence(win);
    tally_local("win_detach", "one-sided", window);
    MPI_Win_detach(win, memory);
    free_window(&win);

    tally_call("comm_split_type", "communicator", NONE, NONE, NONE, NONE, "0");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    tally_communicator(name, "intra", "0", host_members);
    window = name;
    makes("win_allocate_shared", name);
    MPI_Win_allocate_shared(4 * DOUBLE, DOUBLE, MPI_INFO_NULL, host, &base, &win);
    fence(win);
    put(win, 4, 1 - rank % 2);
    fence(win);
    free_window(&win);
    window = "0";
    free_communicator(&host, name);
}

void one_sided(void)
{
    MPI_Win win;
    void *base;

    makes("win_allocate", "0");
    MPI_Win_allocate(64 * DOUBLE, DOUBLE, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    within_fences(win);
    within_locks(win);
    within_epochs(win);
    free_window(&win);
    made_in_other_ways();
}
