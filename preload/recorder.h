/* SPDX-License-Identifier: BSD-3-Clause */
/* Records MPI calls: what stands between a wrapper and the trace.
 *
 * A wrapper enters a call (is it the program's own?), begins it, calls the MPI library, stops the
 * clock and records. On this path there is no lock, no allocation and no system call but where a
 * window or a table is full.
 */
#ifndef SCOPE_RECORDER_H
#define SCOPE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/clock.h"
#include "preload/communicator.h"
#include "preload/mpi_names.h"
#include "preload/signature_table.h"
#include "schema/trace_writer.h"

/* Number of an operation in a signature before it is written: two per function, the call and the
 * poll that found nothing. */
#define OPERATION(function) (2 * (uint32_t)(function))
#define OPERATION_POLL(operation) ((operation) | 1)
enum { OPERATION_COUNT = 2 * FUNCTION_COUNT };

enum { RECORDER_CACHE = 64 };

/* What belongs to one thread. */
struct recorder_thread {
    struct trace_stream stream;
    const struct call *call; /* the call that is running, never followed; NULL outside */
    uint64_t next_sync;      /* ticks at which a sync point is due */
    uint32_t operation;      /* of that call */
    uint32_t communicator_generation;
    uint64_t communicator_handle; /* the last one asked for, while the generation is the same */
    struct communicator *communicator;
    struct signature_table signatures;
    uint32_t operation_ids[OPERATION_COUNT];        /* id in the stream + 1 */
    uint32_t communicators_defined[RECORDER_CACHE]; /* id + 1, by id modulo the size */
    struct recorder_thread *next;
};

/* One call that is being recorded. It lives on the wrapper's stack, and its address tells how deep.
 */
struct call {
    struct recorder_thread *thread;
    const struct call *outer; /* the call that this one is nested in, never followed; NULL mostly */
    uint64_t start, end;      /* ticks */
    uint64_t outer_start;     /* what the slot showed before, where there is an outer call */
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

/* Around MPI_Finalize. */
void recorder_finalising(struct call *call);
void recorder_close(void);

/* Before a call that will not come back: puts what is in memory on disk. */
void recorder_flush(struct recorder_thread *thread);

/* The slow parts of what follows. */
struct recorder_thread *recorder_thread_open(void);
bool recorder_is_internal(const void *caller, bool pmpi);
uint32_t recorder_define(struct recorder_thread *thread, const struct signature_key *key);

/* Writes a communicator's definition into the thread's stream. */
void recorder_define_communicator(struct recorder_thread *thread, const struct communicator *c);

/* Enters a call of the program; false if it is to be passed on unrecorded: nothing is open, or the
 * MPI library calls itself. caller is the wrapper's return address. */
static inline __attribute__((always_inline)) bool call_enter(struct call *call, const void *caller,
                                                             bool pmpi)
{
    struct recorder_thread *thread = recorder_thread;
    if (__builtin_expect(!thread, 0)) {
        thread = recorder_thread_open();
        if (!thread)
            return false;
    }
    /* The stack grows down. A call that is not below the one that seems to be running proves that
     * the latter was left by longjmp or an exception. */
    if (__builtin_expect((uintptr_t)call < (uintptr_t)thread->call, 0) &&
        recorder_is_internal(caller, pmpi))
        return false;
    call->thread = thread;
    call->outer = thread->call;
    thread->call = call;
    return true;
}

void call_begin_words(struct call *call, uint64_t word0, uint64_t word1, uint64_t word2,
                      uint64_t word3);

/* Shows the call as being in flight and starts its clock. */
static inline __attribute__((always_inline)) void
call_begin(struct call *call, const struct trace_signature *signature)
{
    struct signature_key key = signature_key(signature);
    call_begin_words(call, key.word[0], key.word[1], key.word[2], key.word[3]);
}

/* Stops the clock. What follows until call_record is ours and no part of the call. */
static inline __attribute__((always_inline)) void call_stop(struct call *call)
{
    call->end = clock_ticks();
}

/* Gives the call another signature: more is known of it now. */
void call_relabel(struct call *call, const struct trace_signature *signature);

/* Writes the event and leaves the call. */
void call_record(struct call *call);

/* call_stop and call_record in one. */
void call_end(struct call *call);

#endif
