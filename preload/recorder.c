/* SPDX-License-Identifier: BSD-3-Clause */
/* Records MPI calls: what stands between a wrapper and the trace. */
#define _GNU_SOURCE
#include "preload/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/dispatch.h"
#include "preload/glibc_compat.h"
#include "preload/identity.h"
#include "preload/likwid.h"
#include "preload/likwid_snapshot.h"
#include "preload/objects.h"
#include "preload/pages.h"
#include "preload/qmpi_way.h"
#include "preload/report.h"
#include "preload/request.h"
#include "schema/lock.h"
#include "schema/trace_statistics.h"

enum state { STATE_IDLE, STATE_STARTING, STATE_ON, STATE_OVER };

/* A killed rank's clock is known as well as the last sync point is young; one a second is free. */
enum { SYNC_NS = 1000000000 };

/* A poll that comes later after the one before it than this, and than a part of the run so far, is an
 * event of its own: the program does other work in between, and that time is not spent waiting. A
 * long spin, which may have to yield its processor, stays one event, or a few. */
enum { RUN_GAP_NS = 20000, RUN_GAP_PART = 8 };

/* Signatures that a run of polls keeps apart; what comes beyond is counted by function. */
enum { RUN_EXACT = 8 };

/* No table of addresses, which the loader would have to fill in, in every process there is. */
static __attribute__((cold)) const char *operation_name(uint32_t function)
{
    switch (function) {
#define NAME(function, operation, kind)                                                            \
    case FUNCTION_##function:                                                                      \
        return operation;
        MPI_FUNCTIONS(NAME)
#undef NAME
    }
    return "poll";
}

#define KIND(function, operation, kind) kind,
static const enum mpi_kind operation_kinds[FUNCTION_COUNT + 1] = {MPI_FUNCTIONS(KIND) KIND_POLL};
#undef KIND

__thread struct recorder_thread *recorder_thread;

uint32_t memo_generation = 1;

static struct {
    enum state state;
    struct trace_writer writer;
    long pid;                        /* of the process whose trace it is */
    uint64_t sync_ticks;             /* between two sync points */
    uint64_t run_gap;                /* ticks */
    bool each_poll;                  /* polls=all */
    uint32_t kinds;                  /* 1 << enum mpi_kind */
    uint64_t sessions_over;          /* ticks; 0: MPI_Finalize is to come */
    struct recorder_thread *threads; /* all that ever were */
    lock_t threads_lock;
    pthread_key_t thread_key;
    bool has_thread_key;
    struct trace_statistics_index counted;
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
    likwid_regions_prepare(identity_counters());
    clock_read(before);
    errno = error;
    return true;
}

bool recorder_is_open(void)
{
    return __atomic_load_n(&recorder.state, __ATOMIC_ACQUIRE) == STATE_ON;
}

void recorder_sessions_over(uint64_t ticks)
{
    __atomic_store_n(&recorder.sessions_over, ticks, __ATOMIC_RELEASE);
}

void recorder_cancel(void)
{
    likwid_regions_drop();
    __atomic_store_n(&recorder.state, STATE_IDLE, __ATOMIC_RELEASE);
}

/* Not so in the child of a clone(2) that no fork() of libc's has made, and told us of. */
static bool is_ours(void)
{
    return recorder_is_open() && syscall(SYS_getpid) == recorder.pid;
}

/* In the child of fork() nothing may touch the parent's trace, nor wait for its other threads. */
static void forked(void)
{
    struct recorder_thread *thread = recorder_thread;
    if (recorder.state == STATE_ON)
        trace_writer_forked(&recorder.writer, thread ? &thread->stream : NULL);
    request_forked();
    likwid_regions_drop();
    likwid_snapshot_drop();
    communicator_forked();
    recorder.threads_lock = recorder.counted.lock = 0;
    recorder.state = STATE_OVER;
    recorder_thread = NULL;
}

/* A thread ends: its records stay, its memory goes. The lock is held to the end, for the trace may be
 * about to be closed; in a child of fork() it may never come free. */
static void thread_ended(void *data)
{
    struct recorder_thread *thread = data;
    recorder_thread = NULL;
    if (!is_ours())
        return;
    uint64_t signals = lock_take_hold(&recorder.threads_lock);
    if (!recorder_is_open()) {
        lock_give_let(&recorder.threads_lock, signals);
        return;
    }
    struct recorder_thread **link = &recorder.threads;
    while (*link && *link != thread)
        link = &(*link)->next;
    if (*link)
        *link = thread->next;
    trace_stream_close(&thread->stream);
    lock_give_let(&recorder.threads_lock, signals);
    signature_table_release(&thread->signatures);
    pages_give(thread->scratch.pages, thread->scratch.size);
    pages_give(thread, sizeof *thread);
}

/* Where a trace is not mapped, a program that calls exit() before MPI_Finalize would lose its last
 * window. A program that knows sessions alone has no MPI_Finalize. */
__attribute__((destructor)) static void end_at_exit(void)
{
    if (!is_ours())
        return;
    likwid_regions_end();
    if (recorder.sessions_over) {
        recorder_finalising(recorder.sessions_over);
        recorder_close();
    } else if (recorder_thread) {
        recorder_flush(recorder_thread);
    }
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
    uint64_t signals = lock_take_hold(&recorder.threads_lock);
    thread->next = recorder.threads;
    recorder.threads = thread;
    lock_give_let(&recorder.threads_lock, signals);
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

void recorder_finalising(uint64_t ticks)
{
    trace_writer_finalised(&recorder.writer, ticks);
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
    uint64_t signals = lock_take_hold(&recorder.threads_lock);
    __atomic_store_n(&recorder.state, STATE_OVER, __ATOMIC_RELEASE);
    if (mine)
        trace_stream_close(&mine->stream);
    for (struct recorder_thread *thread = recorder.threads; thread; thread = thread->next) {
        if (thread != mine)
            trace_stream_flush(&thread->stream);
    }
    trace_writer_close(&recorder.writer);
    lock_give_let(&recorder.threads_lock, signals);
    errno = error;
}

bool recorder_is_internal(const void *caller, bool pmpi)
{
    switch (objects_class_of(caller)) {
    case OBJECT_MPI:
        return true;
    case OBJECT_OWN: /* it passed a call on to a function that ends in a jump to another */
        return !qmpi_way_passes_on(caller);
    case OBJECT_MPI_FORTRAN: /* the program called it, from inside a callback */
        return false;
    default: /* PMPI_ is how a tool that we pass calls to passes them on; programs use it as well */
        return pmpi && dispatch_is_behind(caller);
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

/* The id of an operation in the stream, which is told its name first. */
static uint32_t define_operation(struct recorder_thread *thread, uint32_t operation)
{
    uint32_t *known = &thread->operation_ids[operation];
    if (*known == 0) {
        uint32_t function = operation / 2;
        enum mpi_kind kind = operation % 2 ? KIND_POLL : operation_kinds[function];
        *known = trace_stream_operation(&thread->stream, kind, operation_name(function)) + 1;
    }
    return *known - 1;
}

static uint32_t define_signature(struct recorder_thread *thread, const struct signature_key *key)
{
    int error = errno;
    struct trace_signature signature = signature_of_key(key);
    signature.operation = define_operation(thread, signature.operation);
    if (signature.origin != ORIGIN_NONE && signature.origin < ORIGIN_MIXED)
        signature.origin = define_operation(thread, signature.origin - 1) + 1;
    uint32_t id = trace_stream_signature(&thread->stream, &signature);
    if (!signature_table_add(&thread->signatures, key, id)) { /* these lead to what it forgot */
        memset(thread->memos, 0, sizeof thread->memos);
        memset(thread->joins, 0, sizeof thread->joins);
    }
    errno = error;
    return id;
}

static uint32_t signature_id(struct recorder_thread *thread, const struct signature_key *key)
{
    uint32_t id = signature_table_find(&thread->signatures, key);
    return id != UINT32_MAX ? id : define_signature(thread, key);
}

static void *take_area(const struct trace_area *area)
{
    return trace_writer_area(&recorder.writer, area);
}

static void name_origin(uint32_t operation, struct trace_request_origin *origin)
{
    uint32_t function = (operation - 1) / 2;
    origin->kind = operation_kinds[function];
    strncpy(origin->name, operation_name(function), sizeof origin->name - 1);
}

/* How many ticks a second has, from two sync points. In integers: the program may look at the
 * floating-point exceptions that there were, or have asked to be stopped by them. */
static uint64_t ticks_per_second(const struct trace_sync *from, const struct trace_sync *to)
{
    int64_t ns = to->monotonic_ns - from->monotonic_ns;
    unsigned __int128 ticks = to->ticks - from->ticks;
    return ns > 0 ? (uint64_t)(ticks * SYNC_NS / (uint64_t)ns) : SYNC_NS;
}

static void write_init(struct recorder_thread *thread, enum mpi_function function, uint64_t start,
                       uint64_t end)
{
    struct trace_signature signature = {.operation = OPERATION(function),
                                        .bytes = -1,
                                        .peer = -1,
                                        .root = -1,
                                        .tag = -1,
                                        .communicator = -1};
    struct signature_key key = signature_key(&signature);
    recorder_event(thread, define_signature(thread, &key), start, end);
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
        likwid_regions_drop();
        report_once(REPORT_PROFILING, "%s: the program runs without profiling", err.text);
        errno = error;
        return;
    }
    trace_writer_sync(&recorder.writer, &now);
    recorder.pid = syscall(SYS_getpid);
    recorder.sync_ticks = ticks_per_second(before, &now);
    recorder.run_gap = recorder.sync_ticks / (SYNC_NS / RUN_GAP_NS);
    recorder.each_poll = world->each_poll;
    recorder.kinds = world->kinds;
    recorder.has_thread_key =
        pthread_key_create && pthread_key_create(&recorder.thread_key, thread_ended) == 0;
    pthread_atfork(NULL, NULL, forked);
    if (world->many_threads)
        request_use_threads();
    request_use_areas(&(struct request_areas){.take = take_area, .name = name_origin});

    struct recorder_thread *thread = new_thread(before->ticks);
    recorder_thread = thread;
    __atomic_store_n(&recorder.state, thread ? STATE_ON : STATE_OVER, __ATOMIC_RELEASE);
    if (thread) {
        if (world->record_init)
            write_init(thread, function, before->ticks, now.ticks);
        trace_writer_initialised(&recorder.writer, now.ticks);
        if (world->paused)
            trace_stream_pause(&thread->stream, true, now.ticks);
        likwid_begin(now.ticks, recorder.sync_ticks, take_area);
    }
    errno = error;
}

/* True if a call at this frame is not inside another one. The stack grows down: a frame that is not
 * below the one that seems to be running proves that the latter was left by longjmp or an
 * exception. */
static bool is_outermost(const struct recorder_thread *thread, const void *frame)
{
    return (uintptr_t)frame >= (uintptr_t)thread->frame;
}

/* The call in flight was left without coming back. When is not known: its event has no duration. */
static void write_left(struct recorder_thread *thread)
{
    const struct trace_slot *slot = thread->stream.slot;
    if (likwid_regions_mpi)
        likwid_regions_leave(&thread->counted_cpu);
    if (slot->signature == 0)
        return;
    trace_stream_failed(&thread->stream, TRACE_FAILED_LEFT);
    trace_stream_event(&thread->stream, slot->signature - 1, slot->start, slot->start);
}

bool call_enter(struct call *call, const void *caller, bool pmpi)
{
    struct recorder_thread *thread = recorder_thread;
    if (!thread && !(thread = thread_open()))
        return false;
    bool outermost = is_outermost(thread, call);
    if (!outermost && recorder_is_internal(caller, pmpi))
        return false;
    if (outermost && thread->frame)
        write_left(thread);
    call->thread = thread;
    call->outer = outermost ? NULL : thread->frame;
    thread->frame = call;
    return true;
}

static void begin(struct call *call, uint32_t signature)
{
    struct trace_slot *slot = call->thread->stream.slot;
    if (likwid_regions_mpi && !call->outer)
        likwid_regions_enter(&call->thread->counted_cpu);
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

void call_relabel(struct call *call, const struct trace_signature *signature)
{
    struct signature_key key = signature_key(signature);
    call->signature = signature_id(call->thread, &key);
}

void recorder_sync(struct recorder_thread *thread, uint64_t ticks)
{
    int error = errno;
    likwid_regions_look(ticks);
    thread->next_sync = ticks + recorder.sync_ticks;
    trace_stream_sync(&thread->stream);
    errno = error;
}

void call_drop(struct call *call)
{
    if (likwid_regions_mpi && !call->outer)
        likwid_regions_leave(&call->thread->counted_cpu);
    if (call->outer)
        trace_slot_show(call->thread->stream.slot, call->outer_signature, call->outer_start);
    else
        trace_slot_clear(call->thread->stream.slot, call->end);
    call->thread->frame = call->outer;
}

bool recorder_wants(enum mpi_function function)
{
    return recorder.kinds >> operation_kinds[function] & 1;
}

void recorder_event(struct recorder_thread *thread, uint32_t signature, uint64_t start,
                    uint64_t end)
{
    if (!trace_stream_event(&thread->stream, signature, start, end))
        recorder_count(thread, signature, start, end);
    if (__builtin_expect(end >= thread->next_sync, 0))
        recorder_sync(thread, end);
}

static struct counted_operation counted_operation(uint32_t operation)
{
    uint32_t function = operation / 2;
    return (struct counted_operation){
        .kind = operation % 2 ? KIND_POLL : operation_kinds[function],
        .name = operation_name(function)};
}

/* The place in the statistics where calls of a signature are counted; -1: there is none. */
static int find_place(const struct signature_key *key)
{
    struct trace_signature signature = signature_of_key(key);
    bool requested = signature.origin != ORIGIN_NONE && signature.origin < ORIGIN_MIXED;
    struct counted_operation operation = counted_operation(signature.operation),
                             origin = counted_operation(requested ? signature.origin - 1 : 0);
    return trace_statistics_place(recorder.writer.statistics, &recorder.counted, &signature,
                                  &operation, &origin);
}

void recorder_count(struct recorder_thread *thread, uint32_t signature, uint64_t start,
                    uint64_t end)
{
    struct signature_entry *entry = signature_table_entry(&thread->signatures, signature);
    if (!entry)
        return;
    if (entry->place == 0)
        entry->place = (uint32_t)(find_place(&entry->key) + 1);
    if (entry->place == 0)
        return;
    /* Counters of two processors may differ by a few ticks. */
    trace_statistics_add(recorder.writer.statistics, (int)entry->place - 1,
                         end > start ? end - start : 0);
}

void call_record(struct call *call)
{
    call_drop(call);
    recorder_event(call->thread, call->signature, call->start, call->end);
}

/* --- polls ------------------------------------------------------------------------------------ */

/* Where it is kept what two signatures have in common, since it was asked for. */
static struct recorder_join *join_at(struct recorder_thread *thread, uint32_t first,
                                     uint32_t second)
{
    return &thread->joins[(first * 7 + second) % RECORDER_JOINS];
}

static int32_t same_or(int32_t x, int32_t y, int32_t other)
{
    return x == y ? x : other;
}

static struct signature_key common_key(const struct signature_key *x, const struct signature_key *y)
{
    struct trace_signature a = signature_of_key(x), b = signature_of_key(y);
    struct trace_signature common = {
        .operation = a.operation == b.operation ? a.operation : OPERATION_ANY_POLL,
        .origin = a.origin == b.origin ? a.origin : ORIGIN_MIXED,
        .bytes = a.bytes == b.bytes ? a.bytes : -1,
        .peer = same_or(a.peer, b.peer, PEER_NONE),
        .root = same_or(a.root, b.root, PEER_NONE),
        .tag = same_or(a.tag, b.tag, -1),
        .communicator = same_or(a.communicator, b.communicator, -1),
    };
    return signature_key(&common);
}

/* A signature without its arguments. */
static struct signature_key bare_key(const struct signature_key *key)
{
    struct trace_signature of = signature_of_key(key);
    struct trace_signature bare = {.operation = of.operation,
                                   .origin = of.origin == ORIGIN_NONE ? ORIGIN_NONE : ORIGIN_MIXED,
                                   .bytes = -1,
                                   .peer = PEER_NONE,
                                   .root = PEER_NONE,
                                   .tag = -1,
                                   .communicator = -1};
    return signature_key(&bare);
}

/* The id of the signature that has what first and second have in common; second UINT32_MAX: what is
 * left of first without its arguments. UINT32_MAX if one of them is forgotten. */
static uint32_t join(struct recorder_thread *thread, uint32_t first, uint32_t second)
{
    struct recorder_join *known = join_at(thread, first, second);
    const struct signature_entry *x, *y;
    struct signature_key common;
    if (known->first == first && known->second == second && first != second)
        return known->common;
    x = signature_table_entry(&thread->signatures, first);
    y = signature_table_entry(&thread->signatures, second);
    if (!x || (!y && second != UINT32_MAX))
        return UINT32_MAX;
    common = y ? common_key(&x->key, &y->key) : bare_key(&x->key);
    *known = (struct recorder_join){first, second, signature_id(thread, &common)};
    return known->common;
}

/* Adds a poll to the run at the stream's end under a signature that is new to it. A definition that
 * is made for it is a record, and ends the run. */
static bool join_run(struct recorder_thread *thread, uint32_t signature, uint64_t start,
                     uint64_t end)
{
    struct trace_stream *stream = &thread->stream;
    if (stream->run.count >= RUN_EXACT) {
        signature = join(thread, signature, UINT32_MAX);
        if (signature != UINT32_MAX && trace_run_count(stream, signature, start, end))
            return true;
    }
    uint32_t common = thread->run_signature;
    if (signature != common && signature != UINT32_MAX)
        common = join(thread, common, signature);
    if (signature == UINT32_MAX || common == UINT32_MAX || !trace_run_goes_on(stream) ||
        !trace_run_join(stream, signature, common, start, end))
        return false;
    thread->run_signature = common;
    return true;
}

static bool run_goes_on(const struct recorder_thread *thread, const void *outer, uint64_t start)
{
    const struct trace_stream *stream = &thread->stream;
    if (!trace_run_goes_on(stream) || thread->run_outer != outer)
        return false;
    uint64_t gap = start - stream->previous_end;
    return gap <= recorder.run_gap ||
           gap <= (stream->previous_end - thread->run_start) / RUN_GAP_PART;
}

static void write_poll(struct recorder_thread *thread, uint32_t signature, const void *outer,
                       uint64_t start, uint64_t end)
{
    struct trace_stream *stream = &thread->stream;
    if (run_goes_on(thread, outer, start) &&
        (trace_run_count(stream, signature, start, end) ||
         join_run(thread, signature, start, end)))
        return;
    if (!trace_run_begin(stream, signature, start, end))
        recorder_count(thread, signature, start, end);
    thread->run_signature = signature;
    thread->run_outer = outer;
    thread->run_start = start;
}

void recorder_poll(struct recorder_thread *thread, uint32_t signature, const void *outer,
                   uint64_t start, uint64_t end)
{
    if (!(recorder.kinds >> KIND_POLL & 1))
        return;
    if (recorder.each_poll) {
        recorder_event(thread, signature, start, end);
        return;
    }
    write_poll(thread, signature, outer, start, end);
    if (__builtin_expect(end >= thread->next_sync, 0)) {
        /* A record of it would end the run. */
        int error = errno;
        likwid_regions_look(end);
        thread->next_sync = end + recorder.sync_ticks;
        trace_stream_sync_state(&thread->stream);
        errno = error;
    }
}

void call_record_poll(struct call *call, struct trace_signature *signature)
{
    signature->operation = OPERATION_POLL(signature->operation);
    call_relabel(call, signature);
    call_drop(call);
    recorder_poll(call->thread, call->signature, call->outer, call->start, call->end);
}

/* --- beside the calls ------------------------------------------------------------------------- */

void recorder_pause(bool paused)
{
    struct recorder_thread *thread = recorder_thread ? recorder_thread : thread_open();
    int error = errno;
    if (thread)
        trace_stream_pause(&thread->stream, paused, clock_ticks());
    errno = error;
}

void *call_scratch_take(const struct call *call, size_t size)
{
    struct recorder_scratch *scratch = &call->thread->scratch;
    /* An outermost call finds it taken only if one that had it was left by longjmp. */
    if (scratch->taken && call->outer)
        return pages_take(size);
    if (size > scratch->size) {
        void *pages = pages_take(2 * size);
        if (!pages)
            return NULL;
        pages_give(scratch->pages, scratch->size);
        *scratch = (struct recorder_scratch){.pages = pages, .size = 2 * size};
    }
    scratch->taken = true;
    return scratch->pages;
}

void call_scratch_give(const struct call *call, void *memory, size_t size)
{
    struct recorder_scratch *scratch = &call->thread->scratch;
    if (memory == scratch->pages)
        scratch->taken = false;
    else
        pages_give(memory, size);
}
