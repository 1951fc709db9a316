/* SPDX-License-Identifier: BSD-3-Clause */
/* Records MPI calls: what stands between a wrapper and the trace. */
#define _GNU_SOURCE
#include "preload/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/dispatch.h"
#include "preload/glibc_compat.h"
#include "preload/identity.h"
#include "preload/objects.h"
#include "preload/pages.h"
#include "preload/report.h"
#include "preload/request.h"
#include "schema/lock.h"

enum state { STATE_IDLE, STATE_STARTING, STATE_ON, STATE_OVER };

/* A killed rank's clock is known as well as the last sync point is young; one a second is free. */
enum { SYNC_NS = 1000000000 };

#define NAME(function, operation, kind) operation,
static const char *const operation_names[FUNCTION_COUNT] = {MPI_FUNCTIONS(NAME)};
#undef NAME
#define KIND(function, operation, kind) kind,
static const enum mpi_kind operation_kinds[FUNCTION_COUNT] = {MPI_FUNCTIONS(KIND)};
#undef KIND

__thread struct recorder_thread *recorder_thread;

uint32_t memo_generation = 1;

static struct {
    enum state state;
    struct trace_writer writer;
    uint64_t sync_ticks;             /* between two sync points */
    struct recorder_thread *threads; /* all that ever were */
    lock_t threads_lock;
    pthread_key_t thread_key;
    bool has_thread_key;
} recorder;

bool recorder_wanted(void)
{
    static int wanted; /* 1: no, 2: yes */
    if (!wanted)
        wanted = identity_wanted() ? 2 : 1;
    return wanted == 2;
}

bool recorder_prepare(struct trace_sync *before)
{
    enum state idle = STATE_IDLE;
    if (!__atomic_compare_exchange_n(&recorder.state, &idle, STATE_STARTING, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return false;
    int error = errno;
    clock_choose();
    clock_read(before);
    errno = error;
    return true;
}

void recorder_cancel(void)
{
    __atomic_store_n(&recorder.state, STATE_IDLE, __ATOMIC_RELEASE);
}

/* In the child of fork() nothing may touch the parent's trace. */
static void forked(void)
{
    if (recorder.state == STATE_ON)
        trace_writer_abandon(&recorder.writer);
    recorder.state = STATE_OVER;
    recorder_thread = NULL;
}

/* A thread ends: its records stay, its memory goes. */
static void thread_ended(void *data)
{
    struct recorder_thread *thread = data;
    if (__atomic_load_n(&recorder.state, __ATOMIC_ACQUIRE) != STATE_ON)
        return;
    recorder_thread = NULL;
    lock_take(&recorder.threads_lock);
    struct recorder_thread **link = &recorder.threads;
    while (*link && *link != thread)
        link = &(*link)->next;
    if (*link)
        *link = thread->next;
    lock_give(&recorder.threads_lock);
    trace_stream_close(&thread->stream);
    signature_table_release(&thread->signatures);
    pages_give(thread, sizeof *thread);
}

/* Where a trace is not mapped, a program that calls exit() before MPI_Finalize would lose its last
 * window. */
__attribute__((destructor)) static void flush_at_exit(void)
{
    if (__atomic_load_n(&recorder.state, __ATOMIC_ACQUIRE) == STATE_ON && recorder_thread)
        recorder_flush(recorder_thread);
}

static struct recorder_thread *new_thread(uint64_t ticks)
{
    struct recorder_thread *thread = pages_take(sizeof *thread);
    if (!thread)
        return NULL;
    if (!signature_table_init(&thread->signatures)) {
        pages_give(thread, sizeof *thread);
        return NULL;
    }
    trace_stream_open(&thread->stream, &recorder.writer, ticks);
    thread->next_sync = ticks + recorder.sync_ticks;
    lock_take(&recorder.threads_lock);
    thread->next = recorder.threads;
    recorder.threads = thread;
    lock_give(&recorder.threads_lock);
    if (recorder.has_thread_key)
        pthread_setspecific(recorder.thread_key, thread);
    return thread;
}

static struct recorder_thread *thread_open(void)
{
    int error = errno;
    if (__atomic_load_n(&recorder.state, __ATOMIC_ACQUIRE) == STATE_ON)
        recorder_thread = new_thread(clock_ticks());
    errno = error;
    return recorder_thread;
}

void recorder_finalising(struct call *call)
{
    trace_writer_finalised(&recorder.writer, call->start);
}

void recorder_flush(struct recorder_thread *thread)
{
    int error = errno;
    struct trace_sync now;
    clock_read(&now);
    trace_writer_sync(&recorder.writer, &now);
    trace_stream_flush(&thread->stream);
    errno = error;
}

/* Other threads' streams are left as they are, for a thread may still be in its last call; they are
 * complete in a mapped trace and written out in one that is not. */
void recorder_close(void)
{
    int error = errno;
    struct recorder_thread *mine = recorder_thread;
    recorder_thread = NULL;
    if (mine)
        trace_stream_close(&mine->stream);
    __atomic_store_n(&recorder.state, STATE_OVER, __ATOMIC_RELEASE);
    lock_take(&recorder.threads_lock);
    for (struct recorder_thread *thread = recorder.threads; thread; thread = thread->next) {
        if (thread != mine)
            trace_stream_flush(&thread->stream);
    }
    lock_give(&recorder.threads_lock);
    trace_writer_close(&recorder.writer);
    errno = error;
}

static bool is_internal(const void *caller, bool pmpi)
{
    switch (objects_class_of(caller)) {
    case OBJECT_MPI:
        return true;
    case OBJECT_MPI_FORTRAN: /* the program called it, from inside a callback */
        return false;
    default: /* PMPI_ is how a tool that we pass calls to passes them on; programs use it as well */
        return pmpi && objects_holds_any(caller, dispatch_next_table, ENTRY_COUNT);
    }
}

void recorder_define_communicator(struct recorder_thread *thread, const struct communicator *c)
{
    uint32_t *defined = &thread->communicators_defined[c->facts.id % RECORDER_CACHE];
    if (*defined == c->facts.id + 1)
        return;
    *defined = c->facts.id + 1;
    trace_stream_communicator(&thread->stream, &c->facts);
}

/* The id of an operation in the stream, which is told its name first; UINT32_MAX without room. */
static uint32_t define_operation(struct recorder_thread *thread, uint32_t operation)
{
    uint32_t *known = &thread->operation_ids[operation];
    if (*known == 0) {
        uint32_t function = operation / 2;
        enum mpi_kind kind = operation % 2 ? KIND_POLL : operation_kinds[function];
        uint32_t id = trace_stream_operation(&thread->stream, kind, operation_names[function]);
        if (id == UINT32_MAX)
            return id;
        *known = id + 1;
    }
    return *known - 1;
}

static uint32_t define_signature(struct recorder_thread *thread, const struct signature_key *key)
{
    int error = errno;
    struct trace_signature signature = signature_of_key(key);
    uint32_t id = UINT32_MAX;

    signature.operation = define_operation(thread, signature.operation);
    if (signature.operation == UINT32_MAX)
        goto done;
    if (signature.origin != ORIGIN_NONE && signature.origin < ORIGIN_MIXED) {
        uint32_t origin = define_operation(thread, signature.origin - 1);
        if (origin == UINT32_MAX)
            goto done;
        signature.origin = origin + 1;
    }
    id = trace_stream_signature(&thread->stream, &signature);
    if (id != UINT32_MAX)
        signature_table_add(&thread->signatures, key, id);
done:
    errno = error;
    return id;
}

static uint32_t signature_id(struct recorder_thread *thread, const struct signature_key *key)
{
    uint32_t id = signature_table_find(&thread->signatures, key);
    return id != UINT32_MAX ? id : define_signature(thread, key);
}

/* How many ticks a second has, from two sync points. */
static uint64_t ticks_per_second(const struct trace_sync *from, const struct trace_sync *to)
{
    double ns = (double)(to->monotonic_ns - from->monotonic_ns);
    return ns > 0 ? (uint64_t)((double)(to->ticks - from->ticks) * SYNC_NS / ns) : SYNC_NS;
}

void recorder_open(const struct recorder_world *world, enum mpi_function function,
                   const struct trace_sync *before)
{
    struct trace_sync now;
    struct error err;
    int error = errno;

    clock_read(&now);
    if (identity_create_trace(&recorder.writer, world, before, clock_read, &err) < 0) {
        __atomic_store_n(&recorder.state, STATE_OVER, __ATOMIC_RELEASE);
        report_once("%s: the program runs without profiling", err.text);
        errno = error;
        return;
    }
    trace_writer_sync(&recorder.writer, &now);
    recorder.sync_ticks = ticks_per_second(before, &now);
    recorder.has_thread_key =
        pthread_key_create && pthread_key_create(&recorder.thread_key, thread_ended) == 0;
    pthread_atfork(NULL, NULL, forked);
    if (world->many_threads)
        request_use_threads();

    struct recorder_thread *thread = new_thread(before->ticks);
    recorder_thread = thread;
    __atomic_store_n(&recorder.state, thread ? STATE_ON : STATE_OVER, __ATOMIC_RELEASE);
    if (thread) {
        struct trace_signature signature = {.operation = OPERATION(function),
                                            .bytes = -1,
                                            .peer = -1,
                                            .root = -1,
                                            .tag = -1,
                                            .communicator = -1};
        struct signature_key key = signature_key(&signature);
        uint32_t id = define_signature(thread, &key);
        if (id != UINT32_MAX)
            trace_stream_event(&thread->stream, id, before->ticks, now.ticks);
        trace_writer_initialised(&recorder.writer, now.ticks);
    }
    errno = error;
}

bool call_enter(struct call *call, const void *caller, bool pmpi)
{
    struct recorder_thread *thread = recorder_thread;
    if (!thread && !(thread = thread_open()))
        return false;
    bool outermost = recorder_is_outermost(thread, call);
    if (!outermost && is_internal(caller, pmpi))
        return false;
    call->thread = thread;
    call->outer = outermost ? NULL : thread->frame;
    thread->frame = call;
    return true;
}

static void begin(struct call *call, uint32_t signature)
{
    struct trace_slot *slot = call->thread->stream.slot;
    call->signature = signature;
    call->outer_signature = call->outer ? slot->signature : 0;
    call->outer_start = call->outer ? slot->start : 0;
    call->start = clock_ticks();
    trace_slot_show(slot, signature + 1, call->start);
}

void call_begin(struct call *call, const struct trace_signature *signature)
{
    struct signature_key key = signature_key(signature);
    begin(call, signature_id(call->thread, &key));
}

bool call_begin_again(struct call *call, const uint64_t *word, size_t count)
{
    const struct memo *memo = memo_at(call->thread->memos, word, count);
    if (!memo_is(memo, word, count))
        return false;
    begin(call, memo->signature);
    return true;
}

void call_relabel(struct call *call, const struct trace_signature *signature)
{
    struct signature_key key = signature_key(signature);
    call->signature = signature_id(call->thread, &key);
}

void recorder_sync(struct recorder_thread *thread, uint64_t ticks)
{
    int error = errno;
    thread->next_sync = ticks + recorder.sync_ticks;
    trace_stream_sync(&thread->stream);
    errno = error;
}

void call_record(struct call *call)
{
    struct recorder_thread *thread = call->thread;
    trace_slot_show(thread->stream.slot, call->outer_signature, call->outer_start);
    thread->frame = call->outer;
    if (call->signature != UINT32_MAX)
        trace_stream_event(&thread->stream, call->signature, call->start, call->end);
    else
        thread->stream.slot->dropped++;
    if (__builtin_expect(call->end >= thread->next_sync, 0))
        recorder_sync(thread, call->end);
}
