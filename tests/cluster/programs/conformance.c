/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the MPI calls of the groups that are named, or of all, on four ranks, and tallies each by
 * its region label. Ranks 0 and 1 are on one host, 2 and 3 on another; with "one_host" as the first
 * argument all four are on one. */
#include "conformance.h"

int rank, left, right;
double out[256], in[256];
bool on_first_host;
const char *host_members;

static const struct {
    const char *name;
    void (*make_calls)(void);
} groups[] = {
    {"point_to_point", point_to_point}, {"completion", completion},
    {"collectives", collectives},       {"one_sided", one_sided},
    {"io", io},                         {"communicators", communicators},
    {"errors", errors},                 {"callbacks", callbacks},
    {"unwinding", unwinding},           {"local_queries", local_queries},
#if HAS_MPI4
    {"mpi4", mpi4},
#endif
};

static int is_named(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return 1;
    return count == 0;
}

int main(int argc, char **argv)
{
    int size;
    bool one_host = argc > 1 && strcmp(argv[1], "one_host") == 0;

    MPI_Init(&argc, &argv);
    tally_call("init", "other", NONE, NONE, NONE, NONE, "-1");
    tally_local("comm_rank", "communicator", "0");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    tally_local("comm_size", "communicator", "0");
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != RANKS) {
        fprintf(stderr, "conformance: needs %d ranks\n", RANKS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    left = (rank + RANKS - 1) % RANKS;
    right = (rank + 1) % RANKS;
    on_first_host = one_host || rank < 2;
    host_members = one_host ? "0 1 2 3" : rank < 2 ? "0 1" : "2 3";

    tally_connect(rank, size);
    for (unsigned i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (is_named(groups[i].name, argc - 1 - one_host, argv + 1 + one_host))
            groups[i].make_calls();

    tally_call("finalize", "other", NONE, NONE, NONE, NONE, "-1");
    tally_leave(rank, size);
    MPI_Finalize();
    return 0;
}
