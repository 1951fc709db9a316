/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank's trace, as the first pass over it leaves it. */
#ifndef SCOPE_RANK_H
#define SCOPE_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/clock.h"
#include "merge/communicators.h"
#include "merge/lane.h"
#include "merge/names.h"
#include "merge/outstanding.h"
#include "merge/rank_end.h"
#include "merge/tally.h"
#include "schema/error.h"
#include "schema/mpi_kind.h"
#include "schema/profile_row.h"
#include "schema/trace_reader.h"

enum rank_state {
    RANK_COMPLETE,
    RANK_CUT_OFF,    /* the rank ended without MPI_Finalize: what it had recorded is there */
    RANK_STOPPED,    /* no room for some events */
    RANK_DAMAGED,    /* part of the trace cannot be read */
    RANK_UNREADABLE, /* nothing of it */
    RANK_MISSING,    /* the world had such a rank, the run directory has no trace of it */
};

/* How often a call with given arguments was made by one thread. */
struct call {
    uint32_t operation; /* number of its name in the vocabulary, before joining in the rank's */
    uint32_t request;   /* likewise; CALL_NO_REQUEST */
    enum mpi_kind kind;
    int32_t peer, root, tag, communicator; /* communicator: the rank's own id */
    int64_t bytes;
    uint64_t count; /* events */
    bool is_polled; /* some run of polls counts it */

    uint32_t region, row; /* of the profile, set when rows are planned */
    uint64_t polls;       /* second pass: polls that found nothing, and the time in them */
    int64_t polls_ns;
};
#define CALL_NO_REQUEST UINT32_MAX

/* A call that a thread did not come back from, or polls that it did not stop. */
struct last_call {
    size_t thread;  /* number */
    uint32_t call;  /* number of the thread's calls */
    uint64_t start; /* ticks, of the first poll */
    uint64_t polls; /* how many; 0: a call */
    uint64_t end;   /* ticks, of the last poll */
};

struct thread {
    struct call *calls; /* by id of the signature in the stream */
    size_t call_count, call_room;
    struct lane lane;
    uint64_t events;
    uint64_t first_ticks, last_ticks; /* of its events; valid if events > 0 */
    int32_t thread_id;
    struct last_call polls; /* at the end of its events; polls: 0 if there are none */

    bool has_failed; /* second pass: the next call did, with an error of this class */
    int32_t error_class;
};

/* What a rank's trace says of a communicator: what it is, or its name. */
struct told_communicator {
    struct trace_communicator is;
    struct trace_rank_run *runs; /* of it; owned */
    char *name;                  /* NULL: no name is told */
};

struct unrecorded;
struct traffic;

struct rank {
    char *file; /* name in the world's directory */
    const char *job; /* that the run is of, and its traces; NULL: not known */
    const struct trace_part *part; /* where it is, if in a container; NULL: in the directory */
    struct trace_header header;
    struct trace_state state_page;
    enum rank_state state;
    struct error problem; /* of the trace, first one met; "" if there is none */

    struct clock clock;
    struct thread *threads; /* by stream number */
    size_t thread_count, thread_room;
    uint64_t events, dropped, bytes;
    struct names operations;             /* of its calls, until it joins the others */
    struct told_communicator *told;      /* likewise what it says of communicators */
    size_t told_count, told_room;
    uint64_t told_bytes; /* of what they point to */
    struct unrecorded *unrecorded;       /* calls without an event; NULL: none */
    struct traffic *traffic;             /* when it sent and received; NULL: nobody asked */
    uint64_t session_start, session_end; /* ticks */
    uint64_t first_ticks, last_ticks;    /* of anything that is known of the rank */
    struct last_call *last_calls;        /* of threads that are still in MPI where the trace ends */
    size_t last_call_count;
    uint64_t outside_since; /* ticks, of the last thread that left MPI; 0: not known */

    struct outstanding *outstanding; /* of a rank that did not come to its end; NULL: nothing */

    int host;          /* in the merge's hosts */
    int64_t offset_ns; /* from the host's CLOCK_MONOTONIC to the file's timeline */

    struct rank_end end; /* these two are known once hosts are aligned */
    char end_text[RANK_END_TEXT];
    char *in_flight; /* the last calls as of last_calls_text, once communicators are settled */
    char *outstanding_text; /* likewise, as of outstanding_text */

    /* The second pass adds these. */
    struct tally failures; /* by region of the fold and error class */
    struct profile_pause *pauses;
    size_t pause_count, pause_room;
    uint64_t lost;     /* calls that were there in the first pass and no more */
    char *reopening;   /* why the trace could not be opened again; NULL: it could */
    int64_t paused_ns; /* also in pauses that are too many to be kept */
};

/* What the ranks of a world have in common while their traces are read. */
struct vocabulary {
    struct names operations;
    struct communicators communicators;
};

/* First pass: reads dirfd/rank->file. Only rank->file is set before. A trace of which something can
 * be used gets a state up to RANK_DAMAGED, others RANK_UNREADABLE, with rank->problem telling why.
 * traffic_times: how many times of messages may be kept for rank->traffic; 0: it is not wanted.
 * memory: what rank_memory may come to. Touches nothing but the rank. Returns 0, or -1 and err if
 * that is not enough, or memory is out. */
int rank_scan(struct rank *rank, int dirfd, size_t traffic_times, uint64_t memory,
              struct error *err);

/* Bytes that its calls, times and communicators take; those of its messages are bounded already. */
uint64_t rank_memory(const struct rank *rank);

/* Adds what the rank knows to what all have in common; ranks do so in their order. Returns 0, or -1
 * and err if memory is out. */
int rank_join(struct rank *rank, struct vocabulary *vocabulary, struct error *err);

/* The rank's number: its trace's name tells it, whatever is in the trace. */
uint32_t rank_number(const struct rank *rank);

void rank_forget_traffic(struct rank *rank);

/* The name a rank's trace has: rank-000017.sptrace. */
void rank_file_name(uint32_t number, char *name, size_t size);

/* The word for a state as it stands in files and messages. */
const char *rank_state_word(enum rank_state state);

/* Whether anything of the trace can be merged. */
static inline bool rank_is_usable(const struct rank *rank)
{
    return rank->state <= RANK_DAMAGED;
}

/* The time of ticks on the file's timeline. */
int64_t rank_ns(const struct rank *rank, uint64_t ticks, size_t *hint);

/* Whether its trace was written a window at a time: what it did last is not known then. */
static inline bool rank_is_buffered(const struct rank *rank)
{
    return rank->header.flags & TRACE_BUFFERED;
}

/* The sum of two numbers of dropped calls, which a hostile trace may make as large as it likes; it
 * stays within an int64_t. */
uint64_t rank_add_dropped(uint64_t left, uint64_t right);

void rank_release(struct rank *rank);

#endif
