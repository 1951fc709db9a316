/* SPDX-License-Identifier: BSD-3-Clause */
/* What a test program did itself, region by region: to be compared with the profile of its run. */
#ifndef TALLY_H
#define TALLY_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TALLY_REGIONS = 2048, TALLY_LABEL = 256, TALLY_TEXT = 4096 };

/* Values mean the same under every MPI (PROFILE-FILE.md, section 0). */
enum { NONE = -1, ANY = -1, PROC_NULL = -2, ROOT = -3 };

/* Communicators are named, for their numbers are the job's: "0" COMM_WORLD, "1" COMM_SELF, "@NAME"
 * the program's own (tally_communicator). */
struct origin {
    const char *operation; /* NULL: no request (MPI_REQUEST_NULL) */
    long bytes;
    int peer, root, tag;
    const char *communicator;
};

/* What is said of a label: "call"; "local", a call that mpi-calls=all alone records;
 * "failed=CLASS", calls that returned an error, counted as calls as well; "or-unknown", completions
 * whose origin a profile may, but need not, know. Weak: a program of several files has one. */
#ifndef TALLY_STORAGE
#define TALLY_STORAGE __attribute__((weak))
#endif
TALLY_STORAGE struct tally {
    struct {
        char what[16];
        char label[TALLY_LABEL];
        long calls;
    } regions[TALLY_REGIONS];
    int count;
    int last;                       /* the region tallied last */
    char communicators[TALLY_TEXT]; /* lines of the file */
} tally;

static inline int tally_is(int region, const char *what, const char *label)
{
    return strcmp(tally.regions[region].label, label) == 0 &&
           strcmp(tally.regions[region].what, what) == 0;
}

/* Counts calls more of the region label. */
static inline void tally_add(const char *what, const char *label, long calls)
{
    int i = tally_is(tally.last, what, label) ? tally.last : 0;
    while (i < tally.count && !tally_is(i, what, label))
        i++;
    if (i == TALLY_REGIONS)
        abort();
    if (i == tally.count) {
        snprintf(tally.regions[i].what, sizeof tally.regions[i].what, "%s", what);
        snprintf(tally.regions[i].label, TALLY_LABEL, "%s", label);
        tally.count++;
    }
    tally.regions[i].calls += calls;
    tally.last = i;
}

static inline void tally_call_as(const char *what, const char *operation, const char *kind,
                                 long bytes, int peer, int root, int tag, const char *communicator)
{
    char label[TALLY_LABEL];
    snprintf(label, sizeof label, "mpi:%s kind=%s bytes=%ld peer=%d root=%d tag=%d comm=%s",
             operation, kind, bytes, peer, root, tag, communicator);
    tally_add(what, label, 1);
}

static inline void tally_call(const char *operation, const char *kind, long bytes, int peer,
                              int root, int tag, const char *communicator)
{
    tally_call_as("call", operation, kind, bytes, peer, root, tag, communicator);
}

/* A call that moves nothing and waits for nobody: recorded with mpi-calls=all. */
static inline void tally_local(const char *operation, const char *kind, const char *communicator)
{
    tally_call_as("local", operation, kind, NONE, NONE, NONE, NONE, communicator);
}

/* A point-to-point call on COMM_WORLD. */
static inline void tally_message(const char *operation, long bytes, int peer, int tag)
{
    tally_call(operation, "point-to-point", bytes, peer, NONE, tag, "0");
}

/* The same for one that makes a request: returns where that came from. */
static inline struct origin tally_start(const char *operation, long bytes, int peer, int tag)
{
    tally_message(operation, bytes, peer, tag);
    return (struct origin){operation, bytes, peer, NONE, tag, "0"};
}

static inline void tally_collective(const char *operation, long bytes, int root,
                                    const char *communicator)
{
    tally_call(operation, "collective", bytes, NONE, root, NONE, communicator);
}

static inline struct origin tally_start_collective(const char *operation, long bytes, int root,
                                                   const char *communicator)
{
    tally_collective(operation, bytes, root, communicator);
    return (struct origin){operation, bytes, NONE, root, NONE, communicator};
}

/* A call on requests, whose label says where these came from. */
static inline void tally_requests(const char *what, const char *operation, const char *kind,
                                  int count, const struct origin *origins)
{
    struct origin common = {"unknown", NONE, NONE, NONE, NONE, "-1"};
    char label[TALLY_LABEL];
    int seen = 0;
    for (int i = 0; i < count; i++) {
        const struct origin *o = &origins[i];
        if (!o->operation)
            continue;
        if (seen++ == 0) {
            common = *o;
            common.root = NONE;
            continue;
        }
        common.bytes = common.bytes < 0 || o->bytes < 0 ? -1L : common.bytes + o->bytes;
        if (strcmp(common.operation, o->operation) != 0)
            common.operation = "mixed";
        if (strcmp(common.communicator, o->communicator) != 0)
            common.communicator = "-1";
        common.peer = common.peer == o->peer ? common.peer : NONE;
        common.tag = common.tag == o->tag ? common.tag : NONE;
    }
    snprintf(label, sizeof label,
             "mpi:%s kind=%s bytes=%ld peer=%d root=%d tag=%d comm=%s request=%s", operation, kind,
             common.bytes, common.peer, common.root, common.tag, common.communicator,
             common.operation);
    tally_add(what, label, 1);
}

/* A completion call of the kind ("wait", or "poll" where nothing was finished) on count requests:
 * the sum of their bytes, and of the rest what they have in common, but for the root, which is the
 * collective's alone (PROFILE-FILE.md, section 7). */
static inline void tally_completion(const char *operation, const char *kind, int count,
                                    const struct origin *origins)
{
    tally_requests("call", operation, kind, count, origins);
}

/* A Testall, Testany or Testsome that finished nothing: it has no one request to tell of. */
static inline void tally_poll(const char *operation)
{
    tally_completion(operation, "poll", 0, NULL);
}

/* A completion call that finished the count requests whose indices are listed. */
static inline void tally_some(const char *operation, int count, const int *indices,
                              const struct origin *origins)
{
    struct origin finished[64];
    for (int i = 0; i < count; i++)
        finished[i] = origins[indices[i]];
    tally_completion(operation, "wait", count, finished);
}

/* The call tallied last fails: error_class is what MPI_Error_class says of it; 0 if an error
 * handler leaves it, so that it does not return. */
static inline void tally_failure(int error_class)
{
    char label[TALLY_LABEL], what[sizeof tally.regions[0].what];
    snprintf(label, sizeof label, "%s", tally.regions[tally.last].label);
    snprintf(what, sizeof what, "failed=%d", error_class);
    tally_add(what, label, 1);
}

/* The call tallied last returned code, an error. */
static inline void tally_failed(int code)
{
    int error_class;
    MPI_Error_class(code, &error_class);
    tally_failure(error_class);
    tally_local("error_class", "other", "-1");
}

static inline void tally_line(const char *line)
{
    size_t used = strlen(tally.communicators);
    if (used + strlen(line) >= sizeof tally.communicators)
        abort();
    strcpy(tally.communicators + used, line);
}

/* This rank has made a communicator, the one after those tallied before. kind is "intra" or
 * "inter", parent another one's name or "-1", members the world ranks in the communicator's order,
 * "0 2"; of an intercommunicator both groups, that with the lowest rank first, "0 2|1 3". */
static inline void tally_communicator(const char *name, const char *kind, const char *parent,
                                      const char *members)
{
    char line[256];
    snprintf(line, sizeof line, "\t%s\t", name);
    if (strstr(tally.communicators, line))
        abort(); /* each has a name of its own */
    snprintf(line, sizeof line, "communicator\t%s\t%s\t%s\t%s\n", name, kind, parent, members);
    tally_line(line);
}

/* The program has named a communicator. */
static inline void tally_name(const char *communicator, const char *name)
{
    char line[256];
    snprintf(line, sizeof line, "name\t%s\t%s\n", communicator, name);
    tally_line(line);
}

static inline void tally_print(FILE *file)
{
    for (int i = 0; i < tally.count; i++)
        fprintf(file, "%s\t%ld\t%s\n", tally.regions[i].what, tally.regions[i].calls,
                tally.regions[i].label);
    fputs(tally.communicators, file);
}

/* Writes the file tally.RANK of the working directory; it appears when it is complete. Its lines:
 *     WHAT CALLS LABEL
 *     communicator NAME KIND PARENT MEMBERS     in the order of creation
 *     name COMMUNICATOR NAME
 */
static inline void tally_write(int rank)
{
    char part[64], path[64];
    snprintf(part, sizeof part, "part.%d", rank);
    snprintf(path, sizeof path, "tally.%d", rank);
    FILE *file = fopen(part, "w");
    if (!file)
        abort();
    tally_print(file);
    if (fclose(file) != 0 || rename(part, path) != 0)
        abort();
}

/* Writes what this thread counted to the file lane.RANK.THREAD. With TALLY_STORAGE `static
 * __thread` each thread has a tally of its own; that of the main thread is in tally.RANK. */
static inline void tally_lane(int rank, int thread)
{
    char path[64];
    snprintf(path, sizeof path, "lane.%d.%d", rank, thread);
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    tally_print(file);
    if (fclose(file) != 0)
        abort();
}

/* Opens the connections between all ranks one by one, the lower rank first. MPICH over UCX (TCP)
 * otherwise often hangs in MPI_Finalize, with or without a profile: see tally_leave. */
static inline void tally_connect(int rank, int size)
{
    for (int low = 0; low < size; low++)
        for (int high = low + 1; high < size; high++) {
            int peer = rank == low ? high : low;
            if (rank != low && rank != high)
                continue;
            tally_message("send", 0, peer, 0);
            tally_message("recv", 0, peer, 0);
            if (rank == low)
                MPI_Send(NULL, 0, MPI_INT, peer, 0, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == high)
                MPI_Send(NULL, 0, MPI_INT, peer, 0, MPI_COMM_WORLD);
        }
}

/* Writes the tally and waits until every rank has: after that nobody is inside MPI any more.
 * A rank of MPICH over UCX that closes its connections while others still make progress goes on to
 * block in PMI, and never answers when the others close theirs. */
static inline void tally_leave(int rank, int size)
{
    char path[64];
    tally_write(rank);
    for (int other = 0; other < size; other++) {
        snprintf(path, sizeof path, "tally.%d", other);
        while (access(path, R_OK) != 0)
            usleep(1000);
    }
}

#endif
