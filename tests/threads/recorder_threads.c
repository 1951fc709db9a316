/* SPDX-License-Identifier: BSD-3-Clause */
/* recorder_threads DIRECTORY [WHAT]: the recorder without MPI under many threads, to be run under
 * ThreadSanitizer. The trace goes to DIRECTORY; each thread's part of it is compared with what that
 * thread did.
 *
 * Eight threads record calls of every kind and finish the requests of their neighbours, while short
 * ones come and go. Then one more calls MPI_Finalize: half of the eight end meanwhile, half after.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/communicator.h"
#include "preload/dispatch.h"
#include "preload/qmpi_way.h"
#include "preload/recorder.h"
#include "preload/request.h"
#include "preload/symbol.h"
#include "schema/trace_reader.h"

enum { WORKERS = 8, VISITORS = 24, LANES = 1 + WORKERS + VISITORS, MAIN = 0 };
enum { ROUNDS = 3000, VISITS = 50, COMMUNICATOR_EVERY = 25, POLLS = 7, IN_FLIGHT = 16 };
enum { WORLD_HANDLE = 1, SHARED_HANDLE = 2, FIRST_HANDLE = 1000, WAIT_BYTES = 24 };

/* What a lane did; its number is the communicator of all of its signatures. */
enum did { SENDS, REDUCTIONS, STARTS, WAITS, POLLED, COMMUNICATORS, KINDS_OF_CALL };
static const char *const names[KINDS_OF_CALL] = {"send", "allreduce", "isend",
                                                 "wait", "test",      "comm_dup"};

struct lane {
    int number;
    uint64_t did[KINDS_OF_CALL];
    struct lane *giver;         /* whose requests this lane finishes */
    int slots[IN_FLIGHT];       /* where the program keeps its requests */
    unsigned started, finished; /* how many of them; the second is counted by the taker */
    pthread_t thread;
};

static struct lane lanes[LANES];
static pthread_barrier_t begun, recorded, closed;
static int faults;

/* What the recorder needs of the dispatch: there is no MPI library, and there are no tools. */
bool dispatch_is_behind(const void *address)
{
    (void)address;
    return false;
}

bool qmpi_way_passes_on(const void *address)
{
    (void)address;
    return false;
}

const char *dispatch_mpi_version(void)
{
    return "none";
}

void *symbol_find(void *handle, const char *name)
{
    (void)handle, (void)name;
    return NULL;
}

static void fault(const char *what, int lane)
{
    printf("# lane %d: %s\n", lane, what);
    __atomic_add_fetch(&faults, 1, __ATOMIC_RELAXED);
}

static struct trace_signature signature_of(const struct lane *lane, enum mpi_function function)
{
    return (struct trace_signature){.operation = OPERATION(function),
                                    .bytes = 8,
                                    .peer = 1,
                                    .root = PEER_NONE,
                                    .tag = -1,
                                    .communicator = lane->number};
}

/* --- calls, as the wrappers make them --------------------------------------------------------- */

static bool enter(struct lane *lane, struct call *call)
{
    /* The recorder is linked into the program and would take that for its own object. */
    const void *caller = (const void *)getenv;
    if (call_enter(call, caller, false))
        return true;
    fault("a call was not entered", lane->number);
    return false;
}

/* Most are repeated and go the short way. */
static void send(struct lane *lane, int tag)
{
    const uint64_t word[] = {memo_function(FUNCTION_MPI_Send), memo_pair(tag, lane->number)};
    struct trace_signature signature = signature_of(lane, FUNCTION_MPI_Send);
    const struct memo *memo = recorder_repeat(word, 2);
    struct call call;

    lane->did[SENDS]++;
    if (memo) {
        uint64_t start = call_repeat(__builtin_frame_address(0), memo);
        call_repeated(start, clock_counter());
        return;
    }
    if (!enter(lane, &call))
        return;
    signature.tag = tag;
    call_begin(&call, &signature);
    call_stop(&call);
    call_remember(&call, word, 2, 0);
    call_record(&call);
}

/* With a send in its operation's callback. */
static void allreduce(struct lane *lane)
{
    struct trace_signature signature = signature_of(lane, FUNCTION_MPI_Allreduce);
    struct call call;

    lane->did[REDUCTIONS]++;
    if (!enter(lane, &call))
        return;
    call_begin(&call, &signature);
    send(lane, 99);
    call_stop(&call);
    call_record(&call);
}

static uint64_t handle_of(const struct lane *lane, unsigned number)
{
    return number % 3 == 0 ? SHARED_HANDLE : FIRST_HANDLE + (uint64_t)lane->number * IN_FLIGHT +
                                                 number % IN_FLIGHT;
}

static void start(struct lane *lane)
{
    struct trace_signature signature = signature_of(lane, FUNCTION_MPI_Isend);
    unsigned number = lane->started;
    struct call call;

    lane->did[STARTS]++;
    signature.tag = (int)(number % IN_FLIGHT);
    struct request_origin origin = {.bytes = WAIT_BYTES,
                                    .peer = lane->number,
                                    .tag = signature.tag,
                                    .operation = signature.operation + 1};
    if (!enter(lane, &call))
        return;
    call_begin(&call, &signature);
    call_stop(&call);
    request_started(handle_of(lane, number), &lane->slots[number % IN_FLIGHT],
                    request_origin_id(&origin));
    call_record(&call);
    __atomic_store_n(&lane->started, number + 1, __ATOMIC_RELEASE);
}

/* Finishes a request of the giver's, which the program has handed over. */
static void wait_one(struct lane *lane)
{
    struct lane *giver = lane->giver;
    struct trace_signature signature = signature_of(lane, FUNCTION_MPI_Wait);
    unsigned number = giver->finished;
    uint64_t handle = handle_of(giver, number);
    const void *address = &giver->slots[number % IN_FLIGHT];
    struct call call;

    lane->did[WAITS]++;
    if (!enter(lane, &call))
        return;
    const struct request_origin *origin = request_origin(request_look(handle, address));
    if (origin->bytes != WAIT_BYTES || origin->peer != giver->number ||
        origin->tag != (int)(number % IN_FLIGHT))
        fault("a request has the origin of another one", lane->number);
    signature.bytes = origin->bytes;
    signature.origin = origin->operation;
    call_begin(&call, &signature);
    call_stop(&call);
    request_finished(handle, address);
    call_record(&call);
    __atomic_store_n(&giver->finished, number + 1, __ATOMIC_RELEASE);
}

static void poll(struct lane *lane)
{
    struct trace_signature signature = signature_of(lane, FUNCTION_MPI_Test);
    struct call call;

    lane->did[POLLED]++;
    if (!enter(lane, &call))
        return;
    call_begin(&call, &signature);
    call_stop(&call);
    call_record_poll(&call, &signature);
}

/* Makes a communicator, uses it and frees it. */
static void communicator(struct lane *lane)
{
    struct trace_signature signature = signature_of(lane, FUNCTION_MPI_Comm_dup);
    uint64_t handle = FIRST_HANDLE + (uint64_t)lane->number;
    struct communicator_answer answer = {.rank = 0, .size = 1, .peers = 1};
    struct communicator *world = communicator_find(WORLD_HANDLE);
    struct call call;

    lane->did[COMMUNICATORS]++;
    if (!enter(lane, &call))
        return;
    call_begin(&call, &signature);
    call_stop(&call);
    struct communicator *made =
        communicator_add(handle, world, communicator_count_creation(world), &answer);
    if (!made || communicator_find(handle) != made)
        fault("a communicator is not found", lane->number);
    else
        recorder_define_communicator(call.thread, made);
    communicator_forget(handle);
    call_record(&call);
}

/* --- threads ---------------------------------------------------------------------------------- */

static bool may_start(const struct lane *lane)
{
    return lane->started - __atomic_load_n(&lane->finished, __ATOMIC_ACQUIRE) < IN_FLIGHT;
}

static bool may_wait(const struct lane *lane)
{
    const struct lane *giver = lane->giver;
    return __atomic_load_n(&giver->started, __ATOMIC_ACQUIRE) != giver->finished;
}

static void work(struct lane *lane)
{
    unsigned waited = 0;
    for (unsigned round = 0; waited < ROUNDS || lane->started < ROUNDS; round++) {
        if (lane->started < ROUNDS && may_start(lane))
            start(lane);
        if (waited < ROUNDS && may_wait(lane)) {
            wait_one(lane);
            waited++;
        } else {
            sched_yield();
        }
        if (round >= ROUNDS)
            continue;
        send(lane, (int)(round % 40));
        if (round % COMMUNICATOR_EVERY == 0)
            communicator(lane);
        if (round % 10 == 0)
            allreduce(lane);
        for (int i = 0; i < POLLS; i++)
            poll(lane);
    }
}

static void *worker(void *data)
{
    struct lane *lane = data;
    pthread_barrier_wait(&begun);
    work(lane);
    pthread_barrier_wait(&recorded);
    if (lane->number % 2 == 0)
        pthread_barrier_wait(&closed);
    return NULL;
}

static void *visitor(void *data)
{
    struct lane *lane = data;
    for (int i = 0; i < VISITS; i++)
        send(lane, i);
    return NULL;
}

static void begin_threads(void)
{
    for (int i = 1; i <= WORKERS; i++) {
        lanes[i].giver = &lanes[i % WORKERS + 1];
        if (pthread_create(&lanes[i].thread, NULL, worker, &lanes[i]) != 0)
            abort();
    }
    pthread_barrier_wait(&begun);
    for (int i = 1 + WORKERS; i < LANES; i++) {
        if (pthread_create(&lanes[i].thread, NULL, visitor, &lanes[i]) != 0)
            abort();
        pthread_join(lanes[i].thread, NULL);
        send(&lanes[MAIN], i);
    }
}

static void finalize(struct lane *lane)
{
    struct trace_signature signature = signature_of(lane, FUNCTION_MPI_Finalize);
    struct call call;
    if (!enter(lane, &call))
        return;
    call_begin(&call, &signature);
    recorder_finalising(call.start);
    call_stop(&call);
    call_record(&call);
    recorder_close();
}

static void record(void)
{
    struct recorder_world world = {.size = 1,
                                   .thread_level = 3,
                                   .family = FAMILY_MPICH,
                                   .many_threads = true,
                                   .kinds = UINT32_MAX};
    struct communicator_answer answer = {.rank = 0, .size = 1, .peers = 1};
    struct trace_sync before;

    if (!recorder_wanted() || !recorder_prepare(&before))
        abort();
    recorder_open(&world, FUNCTION_MPI_Init_thread, &before);
    communicator_add_predefined(WORLD_HANDLE, COMMUNICATOR_WORLD, &answer);
    begin_threads();
    pthread_barrier_wait(&recorded);
    finalize(&lanes[MAIN]);
    pthread_barrier_wait(&closed);
    for (int i = 1; i <= WORKERS; i++)
        pthread_join(lanes[i].thread, NULL);
}

/* --- the trace -------------------------------------------------------------------------------- */

static void open_trace(const char *directory, struct trace_reader **reader)
{
    char pattern[4096];
    glob_t found;
    struct error err;
    snprintf(pattern, sizeof pattern, "%s/*/rank-000000.sptrace", directory);
    if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc != 1) {
        printf("Bail out! not one trace below %s\n", directory);
        exit(1);
    }
    if (trace_reader_open(reader, AT_FDCWD, found.gl_pathv[0], &err) < 0) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    globfree(&found);
}

/* Takes calls off what the lane did. */
static void take(int lane, const char *name, uint64_t calls)
{
    if (strcmp(name, "finalize") == 0)
        return;
    if (lane < 0 || lane >= LANES) {
        fault("a call of no lane", lane);
        return;
    }
    for (int i = 0; i < KINDS_OF_CALL; i++) {
        if (strcmp(name, names[i]) == 0)
            lanes[lane].did[i] -= calls;
    }
}

/* The same for calls of one signature in a stream, which belongs to one lane. */
static void take_event(const struct trace_reader *reader, uint32_t stream, uint32_t id,
                       uint64_t calls)
{
    static int owner[2 * LANES]; /* lane + 1, by stream */
    const struct trace_signature *signature = trace_reader_signature(reader, stream, id);
    int lane = signature->communicator;

    if (stream >= 2 * LANES || (owner[stream] != 0 && owner[stream] != lane + 1)) {
        fault("a stream with calls of another lane", lane);
        return;
    }
    owner[stream] = lane + 1;
    take(lane, trace_reader_operation(reader, stream, signature->operation)->name, calls);
}

static void take_all(struct trace_reader *reader)
{
    struct trace_record record;
    struct error err;
    int status;
    while ((status = trace_reader_next(reader, &record, &err)) != 0) {
        if (status < 0) {
            fault(err.text, -1);
        } else if (record.type == RECORD_EVENT) {
            take_event(reader, record.stream, record.event.signature, 1);
        } else if (record.type == RECORD_POLLS) {
            for (size_t i = 0; i < record.polls.count; i++)
                take_event(reader, record.stream, record.polls.polled[i].signature,
                           record.polls.polled[i].count);
        }
    }
}

/* What found no room was counted. */
static void take_unrecorded(struct trace_reader *reader)
{
    struct trace_unrecorded unrecorded;
    for (uint32_t i = 0; i < trace_reader_unrecorded_count(reader); i++) {
        if (trace_reader_unrecorded(reader, i, &unrecorded))
            take(unrecorded.communicator, unrecorded.operation.name, unrecorded.count);
        else
            fault("what was counted is damaged", -1);
    }
}

static void compare(const char *directory)
{
    struct trace_reader *reader;
    open_trace(directory, &reader);
    if (trace_reader_state(reader)->phase != PHASE_CLOSED)
        fault("the trace is not closed", -1);
    take_all(reader);
    take_unrecorded(reader);
    if (trace_reader_unrecorded_count(reader) == 0 && trace_reader_stream_count(reader) != LANES)
        fault("there are not as many streams as threads", -1);
    printf("# %u streams, %u kinds of calls without room\n", trace_reader_stream_count(reader),
           trace_reader_unrecorded_count(reader));
    trace_reader_close(reader);
    for (int i = 0; i < LANES; i++) {
        for (int k = 0; k < KINDS_OF_CALL; k++) {
            char text[80];
            snprintf(text, sizeof text, "%s: %lld calls are lost", names[k],
                     (long long)lanes[i].did[k]);
            if (lanes[i].did[k] != 0)
                fault(text, i);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "Usage: recorder_threads DIRECTORY [WHAT]\n");
        return 64;
    }
    setenv("SCOPE_PROFILE_RUN", argv[1], 1);
    setenv("SCOPE_PROFILE_WHAT", argc == 3 ? argv[2] : "mpi-calls", 1);
    for (int i = 0; i < LANES; i++)
        lanes[i].number = i;
    pthread_barrier_init(&begun, NULL, WORKERS + 1);
    pthread_barrier_init(&recorded, NULL, WORKERS + 1);
    pthread_barrier_init(&closed, NULL, WORKERS / 2 + 1);
    record();

    if (request_count() != 0)
        fault("requests are left", -1);
    compare(argv[1]);
    return faults ? 1 : 0;
}
