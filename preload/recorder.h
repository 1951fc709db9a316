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
    const void *frame;  /* of the outermost call that is running; NULL outside */
    uint64_t next_sync; /* ticks at which a sync point is due */
    uint32_t operation; /* of the call that is running */
    uint32_t communicator_generation;
    uint64_t communicator_handle; /* the last one asked for, while the generation is the same */
    struct communicator *communicator;
    struct signature_table signatures;
    uint32_t operation_ids[OPERATION_COUNT];        /* id in the stream + 1 */
    uint32_t communicators_defined[RECORDER_CACHE]; /* id + 1, by id modulo the size */
    struct recorder_thread *next;
};

/* One call that is being recorded; lives on the wrapper's stack. */
struct call {
    struct recorder_thread *thread;
    const void *outer_frame;
    uint64_t start, end; /* ticks */
    uint32_t outer_operation;
    uint32_t outer_signature; /* of the slot */
    uint32_t signature;
    int error; /* the program's errno as the MPI library left it */
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
bool recorder_is_internal(const struct recorder_thread *thread, const void *caller, bool pmpi,
                          uint32_t operation);
uint32_t recorder_define(struct recorder_thread *thread, const struct trace_signature *signature);

/* Writes a communicator's definition into the thread's stream. */
void recorder_define_communicator(struct recorder_thread *thread, const struct communicator *c);

/* Enters a call of the program; false if it is to be passed on unrecorded: nothing is open, or the
 * MPI library calls itself. frame is the wrapper's, caller its return address. */
static inline bool call_enter(struct call *call, const void *frame, const void *caller, bool pmpi,
                              uint32_t operation)
{
    struct recorder_thread *thread = recorder_thread;
    if (__builtin_expect(!thread, 0)) {
        thread = recorder_thread_open();
        if (!thread)
            return false;
    }
    /* The stack grows down. A frame that is not below the saved one proves that the saved call was
     * left by longjmp or an exception. */
    if (__builtin_expect((uintptr_t)frame < (uintptr_t)thread->frame, 0) &&
        recorder_is_internal(thread, caller, pmpi, operation))
        return false;
    call->thread = thread;
    call->outer_frame = thread->frame;
    call->outer_operation = thread->operation;
    thread->frame = frame;
    thread->operation = operation;
    return true;
}

/* The id of a signature in the thread's stream. */
static inline uint32_t call_signature(struct recorder_thread *thread,
                                      const struct trace_signature *signature)
{
    uint32_t id = signature_table_find(&thread->signatures, signature);
    return __builtin_expect(id != UINT32_MAX, 1) ? id : recorder_define(thread, signature);
}

/* Shows the call as being in flight and starts its clock. */
void call_begin(struct call *call, const struct trace_signature *signature);

/* Stops the clock. What follows is ours and no part of the call. */
void call_stop(struct call *call);

/* Gives the call another signature: more is known of it now. */
void call_relabel(struct call *call, const struct trace_signature *signature);

/* Writes the event and leaves the call. */
void call_record(struct call *call);

#endif
