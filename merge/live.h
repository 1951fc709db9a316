/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of a world do at this moment, as far as their traces tell: nothing is asked of the
 * ranks themselves, and nothing is written.
 *
 * A trace is not read as a whole: the slots tell which calls are in flight, the streams up to their
 * signatures what these are, and the ends of the streams how long a thread is outside MPI.
 */
#ifndef SCOPE_LIVE_H
#define SCOPE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/flight.h"
#include "merge/outstanding.h"
#include "merge/rank.h"
#include "merge/run.h"
#include "schema/error.h"

enum live_state {
    LIVE_CALL,       /* in a call */
    LIVE_POLLS,      /* asks again and again whether something has come, and nothing has */
    LIVE_OUTSIDE,    /* of MPI */
    LIVE_PAUSED,     /* not recorded: the program said so (MPI_Pcontrol) */
    LIVE_DEAD,       /* it ended without coming back from MPI_Finalize */
    LIVE_ENDED,      /* MPI_Finalize is over */
    LIVE_UNREADABLE, /* the trace tells nothing */
};

struct live_thread {
    uint32_t number; /* of the rank's threads that called MPI; 0 is the one of MPI_Init */
    enum live_state state;
    struct flight call; /* that it is in; LIVE_OUTSIDE: the last one; operation NULL: not known */
    const char *end;    /* LIVE_DEAD: how, as of rank_end_clause; else NULL */
    uint64_t polls;     /* LIVE_POLLS, or a rank that died in such: how many */
    int64_t age_ns;     /* of the state; -1: not known */
    int64_t call_ns;    /* LIVE_DEAD: how long it had been in its call, or outside; -1: not known */
};

struct live_rank {
    uint32_t number;
    char host[sizeof((struct trace_header *)0)->host];
    struct live_thread *threads; /* all that are in a call; else the one that was last, alone */
    size_t thread_count;         /* not 0; of a dead rank 1 */
    struct outstanding *outstanding; /* requests, where a thread waits for any, or the rank is dead;
                                        NULL: nothing is known */
    char *outstanding_text;          /* likewise, in words, as of outstanding_text */
    uint32_t stopped;            /* enum trace_stop: what came since is not known */
    int64_t behind_ns;           /* how old is what a buffered trace tells; -1: it is mapped */
    int64_t ahead_ns;            /* how far its host's clock is ahead of ours, at least; or 0 */
    struct error problem;        /* LIVE_UNREADABLE */
};

struct live {
    char job[sizeof((struct trace_header *)0)->job];
    const char *world;
    uint32_t world_size;
    struct live_rank *ranks; /* that have a trace, by number */
    size_t rank_count, host_count;
    int64_t realtime_ns; /* when it was looked at */
    struct vocabulary vocabulary;
};

/* Looks at all ranks of a world of the run. What cannot be read is in *live, too. now_ns:
 * CLOCK_REALTIME to count ages from; 0: that of each look. Returns 0, or -1 and err if memory is
 * out. *live is to be released in both cases; it points into world. */
int live_read(struct live *live, const struct run *run, const struct run_world *world,
              int64_t now_ns, struct error *err);

void live_release(struct live *live);

#endif
