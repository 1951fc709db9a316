/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank and its sp-likwid-count say to one another.
 *
 * liblikwid ends, crashes or stops the process that calls it. So it is not let into a rank: another
 * process counts on the rank's CPUs, and the rank tells it when. They have one socket (packets),
 * which is sp-likwid-count's standard input: each request gets one reply, but for the first reply,
 * which comes unasked when LIKWID is ready. Who finds the socket closed is alone.
 */
#ifndef SCOPE_LIKWID_COUNT_H
#define SCOPE_LIKWID_COUNT_H

#include <stdint.h>

/* The regions, and where the answers are. */
#define LIKWID_COUNT_APP "app" /* the whole program, on all CPUs of the rank */
#define LIKWID_COUNT_MPI "mpi" /* in MPI calls, on the CPU of the calling thread */

enum likwid_count_verb {
    LIKWID_COUNT_BEGIN = 1, /* app begins; the path is where its results go */
    LIKWID_COUNT_ENTER,     /* mpi begins on the CPU */
    LIKWID_COUNT_LEAVE,     /* and ends there */
    LIKWID_COUNT_LOOK,      /* app ends and begins anew: the reply has its results so far */
    LIKWID_COUNT_CLOSE,     /* everything ends, and is written: the reply as above */
};

enum { LIKWID_COUNT_PATH = 4096, LIKWID_COUNT_REASON = 256, LIKWID_COUNT_EVENTS = 128 };
enum { LIKWID_COUNT_CPUS = 1024 }; /* that a reply can tell of; there may be more */

struct likwid_count_request {
    uint32_t verb;
    int32_t cpu;
    char path[LIKWID_COUNT_PATH]; /* ends in a zero byte; sent by LIKWID_COUNT_BEGIN alone */
};

/* What a region has on one CPU so far. */
struct likwid_count_result {
    char tag[8];
    int32_t cpu, group;
    int32_t calls, event_count;
    double seconds;
    double values[LIKWID_COUNT_EVENTS];
};

/* After LIKWID_COUNT_LOOK and LIKWID_COUNT_CLOSE each result is a packet; the reply comes last. */
struct likwid_count_reply {
    int32_t is_failed;
    char reason[LIKWID_COUNT_REASON]; /* ends in a zero byte */
};

#endif
