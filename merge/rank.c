/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank's trace, as the first pass over it leaves it. */
#include "merge/rank.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/flight.h"
#include "merge/traffic.h"
#include "merge/unrecorded.h"

enum {
    EVENTS_AT_ONCE = 256, /* 6 KiB: they stay in the cache */
    LOOK_EVERY = 64,      /* so many times the memory that they take is looked at */
};

static const char *const words[] = {
    [RANK_COMPLETE] = "complete", [RANK_CUT_OFF] = "cut off",       [RANK_STOPPED] = "stopped",
    [RANK_DAMAGED] = "damaged",   [RANK_UNREADABLE] = "unreadable", [RANK_MISSING] = "missing",
};

const char *rank_state_word(enum rank_state state)
{
    return words[state];
}

int64_t rank_ns(const struct rank *rank, uint64_t ticks, size_t *hint)
{
    return clock_ns(&rank->clock, ticks, hint) + rank->offset_ns;
}

/* What one pass needs at hand. */
struct scan {
    struct rank *rank;
    struct trace_reader *reader;
    uint64_t memory; /* most that the rank may take */
    struct error *err;
};

static int no_memory(const struct scan *scan)
{
    return error_set(scan->err, "%s: out of memory", scan->rank->file);
}

static void extend(struct rank *rank, uint64_t first, uint64_t last)
{
    rank->first_ticks = first < rank->first_ticks ? first : rank->first_ticks;
    rank->last_ticks = last > rank->last_ticks ? last : rank->last_ticks;
}

static int add_sync(const struct scan *scan, const struct trace_sync *sync)
{
    if (clock_add(&scan->rank->clock, sync) < 0)
        return no_memory(scan);
    extend(scan->rank, sync->ticks, sync->ticks);
    return 0;
}

/* --- records -----------------------------------------------------------------------------------
 */

static struct thread *find_thread(const struct scan *scan, uint32_t stream)
{
    struct rank *rank = scan->rank;
    if (stream >= rank->thread_room) {
        size_t room = 2 * rank->thread_room > stream ? 2 * rank->thread_room : (size_t)stream + 1;
        struct thread *threads = realloc(rank->threads, room * sizeof(*threads));
        if (!threads)
            return NULL;
        memset(threads + rank->thread_room, 0, (room - rank->thread_room) * sizeof(*threads));
        rank->threads = threads;
        rank->thread_room = room;
    }
    if (stream >= rank->thread_count)
        rank->thread_count = (size_t)stream + 1;
    return &rank->threads[stream];
}

static int begin_window(const struct scan *scan, uint32_t stream, const struct trace_window *window)
{
    struct thread *thread = find_thread(scan, stream);
    if (!thread)
        return no_memory(scan);
    thread->thread_id = window->thread_id;
    return add_sync(scan, &window->sync);
}

static int lost_signature(const struct scan *scan, uint32_t id)
{
    return error_set(scan->err, "%s: the reader lost signature %" PRIu32, scan->rank->file, id);
}

static int describe(const struct scan *scan, uint32_t stream, uint32_t id, struct call *call)
{
    const struct trace_signature *signature = trace_reader_signature(scan->reader, stream, id);
    const struct trace_operation *operation =
        signature ? trace_reader_operation(scan->reader, stream, signature->operation) : NULL;
    if (!operation)
        return lost_signature(scan, id);
    const char *request = trace_reader_origin(scan->reader, stream, signature);
    struct names *names = &scan->rank->operations;
    int64_t name = names_intern(names, operation->name);
    int64_t request_number = request ? names_intern(names, request) : (int64_t)CALL_NO_REQUEST;
    if (name < 0 || request_number < 0)
        return no_memory(scan);
    *call = (struct call){
        .operation = (uint32_t)name,
        .request = (uint32_t)request_number,
        .kind = operation->kind,
        .peer = signature->peer,
        .root = signature->root,
        .tag = signature->tag,
        .communicator = signature->communicator,
        .bytes = signature->bytes,
    };
    return 0;
}

static int add_to_traffic(const struct scan *scan, uint32_t stream, uint32_t id)
{
    const struct trace_reader *reader = scan->reader;
    const struct trace_signature *signature = trace_reader_signature(reader, stream, id);
    const struct traffic_call call = {
        .operation = trace_reader_operation(reader, stream, signature->operation),
        .signature = signature,
        .request = trace_reader_origin(reader, stream, signature),
        .received = trace_reader_received(reader, stream, id),
        .source = trace_reader_source(reader, stream, id),
    };
    return traffic_signature(scan->rank->traffic, stream, id, &call) < 0 ? no_memory(scan) : 0;
}

/* Signatures are defined one after the other, so the new one goes to the end. */
static int add_signature(const struct scan *scan, uint32_t stream, uint32_t id)
{
    struct thread *thread = find_thread(scan, stream);
    if (!thread)
        return no_memory(scan);
    if (id != thread->call_count)
        return 0;
    if (thread->call_count == thread->call_room) {
        size_t room = thread->call_room ? 2 * thread->call_room : 16;
        struct call *calls = realloc(thread->calls, room * sizeof(*calls));
        if (!calls)
            return no_memory(scan);
        thread->calls = calls;
        thread->call_room = room;
    }
    if (describe(scan, stream, id, &thread->calls[thread->call_count]) < 0)
        return -1;
    thread->call_count++;
    return scan->rank->traffic ? add_to_traffic(scan, stream, id) : 0;
}

/* The session is what lies between MPI_Init and MPI_Finalize: a call that is at work at one of its
 * ends belongs to the outside. */
static void fit_session(struct rank *rank, const struct trace_event *event)
{
    if (event->start < rank->session_start && event->end > rank->session_start)
        rank->session_start = event->end;
    if (event->start < rank->session_end && event->end > rank->session_end)
        rank->session_end = event->start;
}

/* Keeps where polls of one kind began, as long as nothing else comes. */
static void follow_polls(struct thread *thread, uint32_t stream, const struct trace_event *event,
                         uint64_t polls)
{
    struct last_call *last = &thread->polls;
    if (thread->calls[event->signature].kind != KIND_POLL) {
        last->polls = 0;
        return;
    }
    if (last->polls == 0 || last->call != event->signature)
        *last = (struct last_call){
            .thread = stream, .call = event->signature, .start = event->start};
    if (__builtin_add_overflow(last->polls, polls, &last->polls))
        last->polls = UINT64_MAX;
    last->end = event->end;
}

/* polls: how many a run of them has; 1 for other events. */
static int add_event(const struct scan *scan, uint32_t stream, const struct trace_event *event,
                     uint64_t polls)
{
    struct rank *rank = scan->rank;
    struct thread *thread = find_thread(scan, stream);
    if (!thread || lane_learn(&thread->lane, event->start, event->end) < 0)
        return no_memory(scan);
    if (event->signature >= thread->call_count)
        return 0;
    thread->calls[event->signature].count++;
    follow_polls(thread, stream, event, polls);
    if (thread->events++ == 0)
        thread->first_ticks = thread->last_ticks = event->start;
    if (event->start < thread->first_ticks)
        thread->first_ticks = event->start;
    if (event->end > thread->last_ticks)
        thread->last_ticks = event->end;
    extend(rank, event->start, event->end);
    if (stream == 0)
        fit_session(rank, event);
    rank->events++;
    return 0;
}

/* Whether one of the events may be at work at that time. */
static bool reach_over(const struct trace_event *events, size_t count, uint64_t ticks)
{
    return events[0].start < ticks && ticks < events[count - 1].end;
}

/* Keeps where polls of one kind at the end of the events began. */
static void follow_last_polls(struct thread *thread, uint32_t stream,
                              const struct trace_event *events, size_t count)
{
    size_t first = count - 1;
    if (thread->calls[events[first].signature].kind == KIND_POLL) {
        while (first > 0 && events[first - 1].signature == events[first].signature)
            first--;
    }
    if (first > 0)
        thread->polls.polls = 0;
    for (size_t i = first; i < count; i++)
        follow_polls(thread, stream, &events[i], 1);
}

/* What add_event does, for events one after the other: none of them encloses another one of them,
 * and what is true of the first and of the last is so of those between. */
static int add_events(const struct scan *scan, uint32_t stream, const struct trace_event *events,
                      size_t count)
{
    struct rank *rank = scan->rank;
    struct thread *thread = find_thread(scan, stream);
    const struct trace_event *first = &events[0], *last = &events[count - 1];
    if (!thread || lane_learn(&thread->lane, first->start, first->end) < 0)
        return no_memory(scan);
    thread->lane.previous_end = last->end;
    for (size_t i = 0; i < count; i++) {
        if (events[i].signature >= thread->call_count)
            return lost_signature(scan, events[i].signature);
        thread->calls[events[i].signature].count++;
    }
    follow_last_polls(thread, stream, events, count);
    if (thread->events == 0) {
        thread->first_ticks = first->start;
        thread->last_ticks = last->end;
    }
    thread->first_ticks = first->start < thread->first_ticks ? first->start : thread->first_ticks;
    thread->last_ticks = last->end > thread->last_ticks ? last->end : thread->last_ticks;
    thread->events += count;
    extend(rank, first->start, last->end);
    if (stream == 0 && (reach_over(events, count, rank->session_start) ||
                        reach_over(events, count, rank->session_end))) {
        for (size_t i = 0; i < count; i++)
            fit_session(rank, &events[i]);
    }
    rank->events += count;
    return 0;
}

/* The polls of a run are counted by what each was, and that may have no event of its own. */
static int add_polls(const struct scan *scan, uint32_t stream, const struct trace_poll_run *run)
{
    struct thread *thread = find_thread(scan, stream);
    uint64_t polls = 0;
    if (!thread)
        return no_memory(scan);
    if (run->first < thread->call_count)
        thread->calls[run->first].is_polled = true;
    for (size_t i = 0; i < run->count; i++) {
        polls += run->polled[i].count;
        if (run->polled[i].signature < thread->call_count)
            thread->calls[run->polled[i].signature].is_polled = true;
    }
    return add_event(scan, stream, &run->event, polls);
}

/* What the order of messages tells of clocks is kept while events go by. */
static int add_traffic(const struct scan *scan, const struct trace_record *record)
{
    struct traffic *traffic = scan->rank->traffic;
    int status = 0;
    if (!traffic)
        return 0;
    if (record->type == RECORD_EVENT)
        status = traffic_event(traffic, record->stream, &record->event);
    else if (record->type == RECORD_RESOLVE)
        status = traffic_resolve(traffic, record->stream, &record->message);
    else if (record->type == RECORD_SENDING || record->type == RECORD_RECEIVING)
        status = traffic_started(traffic, record->stream, record->type == RECORD_SENDING,
                                 &record->message);
    else if (record->type == RECORD_FAILED)
        status = traffic_failed(traffic, record->stream);
    else if (record->type == RECORD_PAUSE)
        traffic_paused(traffic);
    return status < 0 ? no_memory(scan) : 0;
}

static struct told_communicator *add_told(struct rank *rank)
{
    if (rank->told_count == rank->told_room) {
        size_t room = rank->told_room ? 2 * rank->told_room : 8;
        struct told_communicator *told = realloc(rank->told, room * sizeof(*told));
        if (!told)
            return NULL;
        rank->told = told;
        rank->told_room = room;
    }
    struct told_communicator *last = &rank->told[rank->told_count++];
    *last = (struct told_communicator){.runs = NULL};
    return last;
}

static int tell_communicator(struct rank *rank, const struct trace_communicator *communicator)
{
    size_t size = communicator->run_count * sizeof(*communicator->runs);
    struct told_communicator *told = add_told(rank);
    if (!told || !(told->runs = malloc(size + 1)))
        return -1;
    if (size > 0)
        memcpy(told->runs, communicator->runs, size);
    told->is = *communicator;
    told->is.runs = told->runs;
    rank->told_bytes += size;
    return 0;
}

static int tell_name(struct rank *rank, uint32_t id, const char *name)
{
    struct told_communicator *told = add_told(rank);
    if (!told)
        return -1;
    told->is.id = id;
    rank->told_bytes += strlen(name);
    return (told->name = strdup(name)) ? 0 : -1;
}

static int add_record(const struct scan *scan, const struct trace_record *record)
{
    switch (record->type) {
    case RECORD_WINDOW:
        return begin_window(scan, record->stream, record->window);
    case RECORD_EVENT:
        return add_event(scan, record->stream, &record->event, 1);
    case RECORD_POLLS:
        return add_polls(scan, record->stream, &record->polls);
    case RECORD_SIGNATURE:
        return add_signature(scan, record->stream, record->signature_id);
    case RECORD_COMMUNICATOR:
        return tell_communicator(scan->rank, &record->communicator) < 0 ? no_memory(scan) : 0;
    case RECORD_NAME:
        return tell_name(scan->rank, record->name.communicator, record->name.text) < 0
                   ? no_memory(scan)
                   : 0;
    case RECORD_SYNC:
        return add_sync(scan, &record->sync);
    case RECORD_PAUSE:
        extend(scan->rank, record->pause.ticks, record->pause.ticks);
        return 0;
    case RECORD_RESOLVE:
    case RECORD_SENDING:
    case RECORD_RECEIVING:
    case RECORD_COMPLETION:
    case RECORD_FAILED:
        break;
    }
    return 0;
}

static int check_memory(const struct scan *scan)
{
    if (rank_memory(scan->rank) <= scan->memory)
        return 0;
    return error_set(scan->err, "%s: what it called needs more memory than --memory= allows: "
                                "give more", scan->rank->file);
}

/* Reads the events that come next, many at once. */
static int read_events(const struct scan *scan)
{
    struct trace_event events[EVENTS_AT_ONCE];
    struct traffic *traffic = scan->rank->traffic;
    uint32_t stream;
    size_t count, look = 0;
    while ((count = trace_reader_events(scan->reader, events, EVENTS_AT_ONCE, &stream)) > 0) {
        if (add_events(scan, stream, events, count) < 0 ||
            (++look % LOOK_EVERY == 0 && check_memory(scan) < 0))
            return -1;
        for (size_t i = 0; traffic && i < count; i++) {
            if (traffic_event(traffic, stream, &events[i]) < 0)
                return no_memory(scan);
        }
    }
    return 0;
}

/* Reads all records; a damaged place is noted and passed over. */
static int read_records(const struct scan *scan)
{
    struct rank *rank = scan->rank;
    struct trace_record record;
    struct error problem;
    size_t look = 0;
    int status;
    while ((status = read_events(scan)) == 0 &&
           (status = trace_reader_next(scan->reader, &record, &problem)) != 0) {
        if (status > 0) {
            if (add_record(scan, &record) < 0 || add_traffic(scan, &record) < 0 ||
                (++look % LOOK_EVERY == 0 && check_memory(scan) < 0))
                return -1;
            continue;
        }
        if (rank->state < RANK_DAMAGED)
            rank->problem = problem;
        rank->state = RANK_DAMAGED;
    }
    return status;
}

/* --- before and after the records --------------------------------------------------------------
 */

static void begin(struct rank *rank, const struct trace_reader *reader)
{
    rank->header = *trace_reader_header(reader);
    rank->state_page = *trace_reader_state(reader);
    const struct trace_state *state = &rank->state_page;
    bool initialised = state->phase >= PHASE_INITIALISED;
    rank->session_start = initialised ? state->init_end : rank->header.first_sync.ticks;
    rank->session_end = state->phase >= PHASE_FINALISED ? state->finalize_start : UINT64_MAX;
    rank->first_ticks = UINT64_MAX;
    extend(rank, rank->session_start, rank->session_start);
    if (state->phase >= PHASE_FINALISED)
        extend(rank, state->finalize_start, state->finalize_start);
}

static bool is_known_call(const struct rank *rank, const struct trace_slot *slot)
{
    size_t thread = (size_t)slot->stream - 1;
    return slot->signature > 0 && thread < rank->thread_count &&
           slot->signature - 1 < rank->threads[thread].call_count;
}

/* What the thread of a slot was in: polls tell more than the one of them that is in flight. */
static void note_last_call(const struct scan *scan, const struct trace_slot *slot)
{
    struct rank *rank = scan->rank;
    size_t number = (size_t)slot->stream - 1;
    bool is_known = is_known_call(rank, slot);
    struct last_call last = {.thread = number, .start = slot->start};
    if (is_known)
        last.call = slot->signature - 1;
    if (number < rank->thread_count && rank->threads[number].polls.polls > 1) {
        char *const *names = rank->operations.texts;
        const struct thread *thread = &rank->threads[number];
        if (slot->signature == 0 ||
            (is_known && flight_is_poll(names[thread->calls[last.call].operation])))
            last = thread->polls;
    }
    if (is_known || last.polls > 0)
        rank->last_calls[rank->last_call_count++] = last;
}

uint64_t rank_add_dropped(uint64_t left, uint64_t right)
{
    return left > INT64_MAX - right || right > INT64_MAX ? INT64_MAX : left + right;
}

/* Slots tell what did not become an event: calls under way, and calls that found no room. */
static int read_slots(const struct scan *scan)
{
    struct rank *rank = scan->rank;
    const struct trace_slot *slots = trace_reader_slots(scan->reader);
    bool ended = rank->state_page.phase == PHASE_CLOSED;
    rank->last_calls = calloc((size_t)rank->header.slot_count + 1, sizeof(*rank->last_calls));
    if (!rank->last_calls)
        return no_memory(scan);
    for (uint32_t i = 0; i < rank->header.slot_count; i++) {
        if (slots[i].stream == 0)
            continue;
        rank->dropped = rank_add_dropped(rank->dropped, slots[i].dropped);
        if (ended)
            continue;
        /* A call that began before the last sign of life is no later one; a wild number is none. */
        if (slots[i].start > rank->last_ticks && slots[i].start - rank->last_ticks < UINT64_MAX / 4)
            extend(rank, slots[i].start, slots[i].start);
        /* A trace that is not mapped has its slots as of its last write, after a call mostly. */
        if (slots[i].signature == 0 && slots[i].start <= rank->last_ticks &&
            slots[i].start > rank->outside_since && !rank_is_buffered(rank))
            rank->outside_since = slots[i].start;
        note_last_call(scan, &slots[i]);
    }
    return 0;
}

static void settle_session(struct rank *rank)
{
    if (rank->session_end == UINT64_MAX)
        rank->session_end = rank->last_ticks;
    if (rank->session_end < rank->session_start)
        rank->session_end = rank->session_start;
}

static void settle_state(struct rank *rank)
{
    if (rank->state == RANK_DAMAGED)
        return;
    if (rank->state_page.stopped != STOP_NONE || rank->dropped > 0)
        rank->state = RANK_STOPPED;
    else if (rank->state_page.phase != PHASE_CLOSED)
        rank->state = RANK_CUT_OFF;
}

static int finish(const struct scan *scan)
{
    struct rank *rank = scan->rank;
    if (read_slots(scan) < 0)
        return -1;
    if (rank->state_page.phase != PHASE_CLOSED &&
        outstanding_read(&rank->outstanding, scan->reader) < 0)
        return no_memory(scan);
    if (add_sync(scan, &rank->header.first_sync) < 0)
        return -1;
    if (rank->state_page.last_sync.ticks && add_sync(scan, &rank->state_page.last_sync) < 0)
        return -1;
    settle_session(rank);
    settle_state(rank);
    rank->bytes = trace_reader_bytes(scan->reader);
    if (rank->traffic)
        traffic_end(rank->traffic);
    for (size_t i = 0; i < rank->thread_count; i++) {
        if (lane_settle(&rank->threads[i].lane) < 0)
            return no_memory(scan);
    }
    struct error problem;
    if (clock_settle(&rank->clock, rank->header.clock_source, rank->header.clock_shift, &problem) <
        0) {
        error_set(&rank->problem, "%s: %s", rank->file, problem.text);
        rank->state = RANK_UNREADABLE;
        return 0;
    }
    return unrecorded_read(rank, scan->reader, &rank->operations) < 0 ? no_memory(scan) : 0;
}

/* A copied or renamed trace would be taken for another rank, or a call of another job. */
static bool has_its_name(struct rank *rank)
{
    char name[64];
    if (rank->job && strcmp(rank->job, rank->header.job) != 0) {
        error_set(&rank->problem, "%s: is of the run %s, and this is %s", rank->file,
                  rank->header.job, rank->job);
        return false;
    }
    rank_file_name(rank->header.rank, name, sizeof(name));
    if (strcmp(name, rank->file) == 0)
        return true;
    error_set(&rank->problem, "%s: holds rank %" PRIu32, rank->file, rank->header.rank);
    return false;
}

void rank_file_name(uint32_t number, char *name, size_t size)
{
    snprintf(name, size, "rank-%06" PRIu32 TRACE_SUFFIX, number);
}

uint32_t rank_number(const struct rank *rank)
{
    return (uint32_t)strtoul(rank->file + strlen("rank-"), NULL, 10);
}

void rank_forget_traffic(struct rank *rank)
{
    if (rank->traffic)
        traffic_release(rank->traffic);
    free(rank->traffic);
    rank->traffic = NULL;
}

int rank_scan(struct rank *rank, int dirfd, size_t traffic_times, uint64_t memory,
              struct error *err)
{
    struct scan scan = {.rank = rank, .memory = memory, .err = err};
    if (traffic_times > 0) {
        if (!(rank->traffic = calloc(1, sizeof(*rank->traffic))))
            return no_memory(&scan);
        rank->traffic->times_max = traffic_times;
    }
    if (trace_reader_open_part(&scan.reader, dirfd, rank->file, rank->part, &rank->problem) <
        0) {
        rank->state = RANK_UNREADABLE;
        return 0;
    }
    begin(rank, scan.reader);
    int status = 0;
    if (!has_its_name(rank))
        rank->state = RANK_UNREADABLE;
    else if ((status = read_records(&scan)) == 0)
        status = finish(&scan);
    trace_reader_close(scan.reader);
    return status;
}

/* --- joining the others ------------------------------------------------------------------------
 */

static void forget_told(struct rank *rank)
{
    for (size_t i = 0; i < rank->told_count; i++) {
        free(rank->told[i].runs);
        free(rank->told[i].name);
    }
    free(rank->told);
    rank->told = NULL;
    rank->told_count = rank->told_room = 0;
    rank->told_bytes = 0;
    names_release(&rank->operations);
}

static void rename_call(struct call *call, const uint32_t *numbers)
{
    call->operation = numbers[call->operation];
    if (call->request != CALL_NO_REQUEST)
        call->request = numbers[call->request];
}

/* From the rank's names to those of all. */
static int join_names(struct rank *rank, struct names *names)
{
    uint32_t *numbers = calloc(rank->operations.count + 1, sizeof(*numbers));
    int64_t number = numbers ? 0 : NAMES_NONE;
    for (size_t i = 0; number >= 0 && i < rank->operations.count; i++) {
        number = names_intern(names, rank->operations.texts[i]);
        numbers[i] = (uint32_t)number;
    }
    for (size_t i = 0; number >= 0 && i < rank->thread_count; i++) {
        for (size_t j = 0; j < rank->threads[i].call_count; j++)
            rename_call(&rank->threads[i].calls[j], numbers);
    }
    for (size_t i = 0; number >= 0 && rank->unrecorded && i < rank->unrecorded->count; i++)
        rename_call(&rank->unrecorded->calls[i].call, numbers);
    free(numbers);
    return number < 0 ? -1 : 0;
}

static int join_communicators(const struct rank *rank, struct communicators *communicators)
{
    uint32_t number = rank->header.rank;
    for (size_t i = 0; i < rank->told_count; i++) {
        const struct told_communicator *told = &rank->told[i];
        int status = told->name
                         ? communicators_name(communicators, number, told->is.id, told->name)
                         : communicators_add(communicators, number, &told->is);
        if (status < 0)
            return -1;
    }
    return 0;
}

int rank_join(struct rank *rank, struct vocabulary *vocabulary, struct error *err)
{
    if (join_names(rank, &vocabulary->operations) < 0 ||
        join_communicators(rank, &vocabulary->communicators) < 0)
        return error_set(err, "%s: out of memory", rank->file);
    forget_told(rank);
    return 0;
}

uint64_t rank_memory(const struct rank *rank)
{
    uint64_t bytes = sizeof(*rank) + rank->thread_room * sizeof(*rank->threads) +
                     rank->clock.room * (sizeof(*rank->clock.points) +
                                         sizeof(*rank->clock.segments)) +
                     rank->told_room * sizeof(*rank->told) + rank->told_bytes;
    for (size_t i = 0; i < rank->thread_count; i++)
        bytes += rank->threads[i].call_room * sizeof(*rank->threads[i].calls) +
                 rank->threads[i].lane.room * sizeof(*rank->threads[i].lane.outers);
    return bytes;
}

void rank_release(struct rank *rank)
{
    forget_told(rank);
    for (size_t i = 0; i < rank->thread_room; i++) {
        free(rank->threads[i].calls);
        lane_release(&rank->threads[i].lane);
    }
    free(rank->threads);
    free(rank->file);
    free(rank->reopening);
    free(rank->pauses);
    free(rank->unrecorded);
    free(rank->last_calls);
    free(rank->in_flight);
    rank_forget_traffic(rank);
    free(rank->outstanding);
    free(rank->outstanding_text);
    tally_release(&rank->failures);
    clock_release(&rank->clock);
}
