/* SPDX-License-Identifier: BSD-3-Clause */
/* What the groups of conformance.c share: four ranks in a ring, and data to send. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <stdbool.h>

#include "tally.h"

/* Open MPI 5 says that it is MPI 3.1, but has all of MPI 4.0 save the large counts. */
#define HAS_LARGE_COUNTS (MPI_VERSION >= 4)
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI4 1
#else
#define HAS_MPI4 0
#endif

enum { RANKS = 4, INT = sizeof(int), DOUBLE = sizeof(double) };

extern int rank;
extern int left, right; /* neighbours in the ring */
extern double out[256], in[256];
extern bool on_first_host;       /* two ranks on each of two hosts, or all on one */
extern const char *host_members; /* the ranks on this rank's host */

/* The groups. Each leaves MPI as it found it. */
void point_to_point(void);
void completion(void);
void collectives(void);
void one_sided(void);
void io(void);
void communicators(void);
void errors(void);
void callbacks(void);
void unwinding(void);
void local_queries(void);
void mpi4(void);

/* Whatever a rank does first, its partner does second: no call relies on buffering. */
static inline int goes_first(void)
{
    return rank % 2 == 0;
}

static inline void barrier(void)
{
    tally_collective("barrier", 0, NONE, "0");
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline void receive(int count, int source, int tag)
{
    tally_message("recv", (long)count * DOUBLE, source, tag);
    MPI_Recv(in, count, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Waits for the one request that was started. */
static inline void finish(MPI_Request *request, struct origin started)
{
    tally_completion("wait", "wait", 1, &started);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static inline void free_communicator(MPI_Comm *communicator, const char *name)
{
    tally_call("comm_free", "communicator", NONE, NONE, NONE, NONE, name);
    MPI_Comm_free(communicator);
}

/* The error handler of COMM_WORLD becomes handler. */
static inline void set_errhandler(MPI_Errhandler handler)
{
    tally_local("comm_set_errhandler", "other", "0");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
}

#endif
