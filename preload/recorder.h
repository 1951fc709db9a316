/* SPDX-License-Identifier: BSD-3-Clause */
/* Records MPI calls: what stands between a wrapper and the trace.
 *
 * A wrapper enters a call (is it the program's own?), begins it, calls the MPI library, stops the
 * clock and records. A call that its thread has made before takes a shorter way through its memo:
 * recorder_repeat, call_repeated. On both there is no lock, no allocation and no system call but
 * where a window or a table is full.
 */
#ifndef SCOPE_RECORDER_H
#define SCOPE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/clock.h"
#include "preload/communicator.h"
#include "preload/likwid_regions.h"
#include "preload/memo.h"
#include "preload/mpi_names.h"
#include "preload/signature_table.h"
#include "schema/trace_writer.h"

/* Number of an operation in a signature before it is written: two per function, the call and the
 * poll that found nothing. */
#define OPERATION(function) (2 * (uint32_t)(function))
#define OPERATION_POLL(operation) ((operation) | 1)
enum {
    OPERATION_ANY_POLL = 2 * FUNCTION_COUNT, /* of a run of polls by several functions */
    OPERATION_COUNT
};

enum { RECORDER_CACHE = 64, RECORDER_JOINS = 16 };

/* Memory that calls of one thread use one after another. */
struct recorder_scratch {
    void *pages;
    size_t size;
    bool taken;
};

/* What two signatures of polls have in common. */
struct recorder_join {
    uint32_t first, second, common; /* ids; first == second: free */
};

/* What belongs to one thread. */
struct recorder_thread {
    struct trace_stream stream;
    const void *frame;  /* where on the stack the running call is, never followed; NULL outside */
    uint64_t next_sync; /* ticks at which a sync point is due */
    int32_t counted_cpu; /* of LIKWID's region of MPI calls, while it is in it: see there */
    const void *run_outer;  /* the call that the run of polls at the stream's end is nested in */
    uint32_t run_signature; /* id of what its polls have in common */
    uint64_t run_start;     /* ticks */
    uint32_t communicator_generation;
    uint64_t communicator_handle; /* the last one asked for, while the generation is the same */
    struct communicator *communicator;
    struct signature_table signatures;
    uint32_t operation_ids[OPERATION_COUNT];        /* id in the stream + 1 */
    uint32_t communicators_defined[RECORDER_CACHE]; /* id + 1, by id modulo the size */
    struct recorder_join joins[RECORDER_JOINS];
    struct recorder_scratch scratch;
    struct recorder_thread *next;
    struct memo memos[MEMOS];
};

/* One call that is being recorded. It lives on the wrapper's stack, and its address tells how deep.
 */
struct call {
    struct recorder_thread *thread;
    const void *outer;    /* frame of the call that this one is nested in; NULL mostly */
    uint64_t start, end;  /* ticks */
    uint64_t outer_start; /* what the slot showed before, where there is an outer call */
    uint32_t outer_signature;
    uint32_t signature;
};

/* The calling thread's; NULL where nothing is recorded (yet). */
extern __thread struct recorder_thread *recorder_thread __attribute__((tls_model("initial-exec")));

/* True if this process was asked to record: told from the environment, once. */
bool recorder_wanted(void);

/* What MPI says of itself when it is up. */
struct recorder_world {
    uint32_t rank, size;
    int thread_level;
    enum trace_family family;
    bool many_threads; /* MPI_THREAD_MULTIPLE */
    bool record_init;  /* whether MPI_Init itself is wanted */
    bool each_poll;    /* polls=all: no runs */
    uint32_t kinds;    /* 1 << enum mpi_kind: what the labels of events may have */
    bool paused;       /* start=paused */
};

/* Before MPI_Init: true if this call will be followed by recorder_open. Takes the first sync point.
 */
bool recorder_prepare(struct trace_sync *before);

/* After MPI_Init, which was function and began at before: creates the trace. Without success the
 * program runs on, unrecorded, and one line says why. */
void recorder_open(const struct recorder_world *world, enum mpi_function function,
                   const struct trace_sync *before);

/* MPI_Init failed: it may be tried again. */
void recorder_cancel(void);

/* True between recorder_open and recorder_close. */
bool recorder_is_open(void);

/* The last session ended, in a call that began at ticks: if none begins any more, so did the rank's
 * use of MPI. 0: one began. */
void recorder_sessions_over(uint64_t ticks);

/* Around MPI_Finalize, which begins at ticks. */
void recorder_finalising(uint64_t ticks);
void recorder_close(void);

/* Before a call that will not come back, or when the program asks: puts what is in memory on disk. */
void recorder_flush(struct recorder_thread *thread);

/* Writes down that recording pauses or goes on. */
void recorder_pause(bool paused);


/* Writes a communicator's definition into the thread's stream. */
void recorder_define_communicator(struct recorder_thread *thread, const struct communicator *c);

/* True if a call within another one is not the program's: caller is the MPI library's, or a tool's
 * that passes on what it was called with. pmpi: under its PMPI_ name. */
bool recorder_is_internal(const void *caller, bool pmpi);

/* Enters a call of the program; false if it is to be passed on unrecorded: nothing is open, or the
 * MPI library calls itself. */
bool call_enter(struct call *call, const void *caller, bool pmpi);

/* Shows the call as being in flight and starts its clock. */
void call_begin(struct call *call, const struct trace_signature *signature);

/* Shows which requests the call, which has begun, is to complete: an array of size bytes. */
static inline void call_show_requests(const struct call *call, const void *array, size_t size)
{
    trace_slot_show_requests(call->thread->stream.slot, array, size, call->start);
}

/* Stops the clock. What follows until call_record is ours and no part of the call. */
static inline void call_stop(struct call *call)
{
    call->end = clock_ticks();
}

/* Gives the call another signature: more is known of it now. */
void call_relabel(struct call *call, const struct trace_signature *signature);

/* Writes the event and leaves the call. */
void call_record(struct call *call);

/* The same for a call that found nothing: signature becomes the poll's, and polls that follow one
 * another closely are one event. */
void call_record_poll(struct call *call, struct trace_signature *signature);

/* Leaves a call that shows as being in flight without an event. */
void call_drop(struct call *call);

/* True if calls of a function that found what they looked for are wanted. Of a function that polls
 * perhaps only the polls are, or all but them, which recorder_poll and its like drop themselves. */
bool recorder_wants(enum mpi_function function);

/* size bytes for the time of a call: the thread's own if they are free, else fresh pages. NULL when
 * memory is out. */
void *call_scratch_take(const struct call *call, size_t size);
void call_scratch_give(const struct call *call, void *memory, size_t size);

/* The end of a call that is not recorded. */
static inline void call_leave(struct call *call)
{
    call->thread->frame = call->outer;
}

/* Lets the next call with these words, all that tells its signature, go the short way, which reads
 * the counter: where that is not the clock, or LIKWID is told of each, all calls go the long way. */
static inline void call_remember(const struct call *call, const uint64_t *word, size_t count,
                                 uint32_t origin)
{
    struct memo *memo = memo_at(call->thread->memos, word, count);
    if (!clock_is_counter() || likwid_regions_mpi)
        return;
    for (size_t i = 0; i < count; i++)
        memo->word[i] = word[i];
    memo->signature = call->signature;
    memo->origin = origin;
}

/* The memo of a call while no other runs, or NULL: the call then goes the long way. */
static inline __attribute__((always_inline)) const struct memo *
recorder_repeat(const uint64_t *word, size_t count)
{
    struct recorder_thread *thread = recorder_thread;
    if (__builtin_expect(!thread, 0))
        return NULL;
    const struct memo *memo = memo_at(thread->memos, word, count);
    bool repeats = !thread->frame && memo_is(memo, word, count);
    return __builtin_expect(repeats, 1) ? memo : NULL;
}

/* Begins a call that has a memo: it is in flight since start. frame: an address in the wrapper's
 * frame. */
static inline __attribute__((always_inline)) void
call_repeat_since(const void *frame, uint32_t signature, uint64_t start)
{
    struct recorder_thread *thread = recorder_thread;
    thread->frame = frame;
    trace_slot_show(thread->stream.slot, signature + 1, start);
    trace_stream_announce(&thread->stream, signature, start);
}

/* The same, now; returns its start in ticks. */
static inline __attribute__((always_inline)) uint64_t call_repeat(const void *frame,
                                                                  const struct memo *memo)
{
    uint32_t signature = memo->signature;
    uint64_t start = clock_counter();
    call_repeat_since(frame, signature, start);
    return start;
}

/* Both for a call that may find nothing; signature: of the memo, what it is then. */
static inline __attribute__((always_inline)) void
call_repeat_poll_since(const void *frame, uint32_t signature, uint64_t start)
{
    struct recorder_thread *thread = recorder_thread;
    thread->frame = frame;
    trace_slot_show(thread->stream.slot, signature + 1, start);
}

static inline __attribute__((always_inline)) uint64_t call_repeat_poll(const void *frame,
                                                                       uint32_t signature)
{
    uint64_t start = clock_counter();
    call_repeat_poll_since(frame, signature, start);
    return start;
}

/* It is over, but not written yet: by recorder_poll, or by recorder_event if it found something.
 * NULL in a child of fork() that came back out of the call. */
static inline __attribute__((always_inline)) struct recorder_thread *
call_repeated_poll(uint64_t end)
{
    struct recorder_thread *thread = recorder_thread;
    if (__builtin_expect(thread != NULL, 1)) {
        trace_slot_clear(thread->stream.slot, end);
        thread->frame = NULL;
    }
    return thread;
}

/* Writes a poll that found nothing; outer: the call that it is nested in, or NULL. Polls that follow
 * one another closely become one event. */
void recorder_poll(struct recorder_thread *thread, uint32_t signature, const void *outer,
                   uint64_t start, uint64_t end);

/* Writes an event, or counts the call where there is no room for any. */
void recorder_event(struct recorder_thread *thread, uint32_t signature, uint64_t start,
                    uint64_t end);

/* Counts a call whose event was dropped. errno is kept. */
void recorder_count(struct recorder_thread *thread, uint32_t signature, uint64_t start,
                    uint64_t end);

/* Writes a sync point, which is due. errno is kept. */
void recorder_sync(struct recorder_thread *thread, uint64_t ticks);

/* Ends a call that has a memo: writes the event. */
static inline __attribute__((always_inline)) void call_repeated(uint64_t start, uint64_t end)
{
    struct recorder_thread *thread = recorder_thread;
    if (__builtin_expect(!thread, 0)) /* a child of fork() came back out of the call */
        return;
    uint32_t signature = thread->stream.slot->signature - 1;
    trace_slot_clear(thread->stream.slot, end);
    thread->frame = NULL;
    if (__builtin_expect(!trace_stream_finish(&thread->stream, signature, start, end), 0))
        recorder_count(thread, signature, start, end);
    if (__builtin_expect(end >= thread->next_sync, 0))
        recorder_sync(thread, end);
}

#endif
