/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of a world do at this moment, as far as their traces tell. */
#define _GNU_SOURCE
#include "merge/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "merge/clock.h"
#include "merge/exits.h"
#include "merge/file_limit.h"
#include "merge/names.h"
#include "merge/rank_end.h"
#include "schema/trace_reader.h"

/* No poll lasts this long: who is in one for longer is stuck in it. */
#define POLL_NS INT64_C(1000000000)
/* Realtime lies around 2^61 ns; keeps sums of a few times from overflowing. */
#define REALTIME_LIMIT (INT64_C(1) << 62)

/* What is known of a stream while its trace is looked at. */
struct glance {
    uint32_t stream;
    uint32_t in_flight; /* id of a signature + 1; 0: outside */
    uint64_t start;     /* ticks: since when it is, or is outside; 0: never in a call */
    bool has_ending;
    struct trace_ending ending;
    struct flight call, last_call; /* operation NULL: not known */
};

/* What one trace needs at hand. */
struct look {
    struct live *live;
    const struct exits *exits;
    struct live_rank *rank;
    struct trace_reader *reader;
    struct clock clock;
    bool has_clock;
    int64_t realtime_ns; /* - monotonic, of the rank's host */
    int64_t found_ns;    /* CLOCK_REALTIME here when the slots were read */
    int64_t now_ns;      /* the same, or when the rank ended */
    struct rank_end end;
    struct glance *glances;
    size_t glance_count;
    struct error *err;
};

static int no_memory(struct error *err)
{
    return error_set(err, "out of memory");
}

static int64_t realtime_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* --- times -------------------------------------------------------------------------------------
 */

/* Ticks become monotonic time by the slope between the first and the last sync point, and that
 * becomes realtime by the last one: a step of the realtime clock in between does no harm. */
static int learn_clock(struct look *look)
{
    const struct trace_header *header = trace_reader_header(look->reader);
    const struct trace_sync *last = &trace_reader_state(look->reader)->last_sync;
    if (last->ticks == 0)
        last = &header->first_sync;
    if (clock_add(&look->clock, &header->first_sync) < 0 || clock_add(&look->clock, last) < 0)
        return no_memory(look->err);
    look->has_clock =
        clock_settle(&look->clock, header->clock_source, header->clock_shift, NULL) == 0 &&
        !__builtin_sub_overflow(last->realtime_ns, last->monotonic_ns, &look->realtime_ns) &&
        look->realtime_ns < REALTIME_LIMIT && look->realtime_ns > -REALTIME_LIMIT;
    return 0;
}

/* How long ago that was, 0 for what is still to come; -1: not known. */
static int64_t age(const struct look *look, uint64_t ticks)
{
    size_t hint = 0;
    if (!look->has_clock)
        return -1;
    int64_t ns = look->now_ns - (clock_ns(&look->clock, ticks, &hint) + look->realtime_ns);
    return ns < 0 ? 0 : ns;
}

/* Notes by how much something that has happened lies ahead of our clock. */
static void note_ahead(const struct look *look, uint64_t ticks)
{
    size_t hint = 0;
    if (!look->has_clock)
        return;
    int64_t ns = clock_ns(&look->clock, ticks, &hint) + look->realtime_ns - look->now_ns;
    if (ns > look->rank->ahead_ns)
        look->rank->ahead_ns = ns;
}

/* --- what a trace tells ------------------------------------------------------------------------
 */

/* Who came or went so long ago does not poll. */
static bool is_settled(const struct look *look, const struct glance *glance)
{
    return age(look, glance->start) >= POLL_NS;
}

/* What is told of a rank of which no thread is in a call: the thread that was the last. */
static const struct glance *find_last_outside(const struct look *look)
{
    const struct glance *last = NULL;
    for (size_t i = 0; i < look->glance_count; i++) {
        const struct glance *glance = &look->glances[i];
        if (glance->in_flight)
            return NULL;
        if (!last || glance->start > last->start)
            last = glance;
    }
    return last;
}

/* The streams that have a slot; those of threads beyond the slots cannot be looked at. */
static int look_at_slots(struct look *look)
{
    const struct trace_slot *slots = trace_reader_slots(look->reader);
    uint32_t count = trace_reader_header(look->reader)->slot_count;
    look->glances = calloc(count + 1, sizeof(*look->glances));
    if (!look->glances)
        return no_memory(look->err);
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i].stream == 0)
            continue;
        look->glances[look->glance_count++] = (struct glance){.stream = slots[i].stream - 1,
                                                              .in_flight = slots[i].signature,
                                                              .start = slots[i].start};
        note_ahead(look, slots[i].start);
    }
    return 0;
}

/* Reads how streams end where that tells more than their slots. */
static void look_at_ends(struct look *look)
{
    const struct glance *last = find_last_outside(look);
    for (size_t i = 0; i < look->glance_count; i++) {
        struct glance *glance = &look->glances[i];
        if (glance == last || !is_settled(look, glance))
            glance->has_ending =
                trace_reader_ending(look->reader, glance->stream, &glance->ending);
    }
}

/* --- what the signatures are -------------------------------------------------------------------
 */

/* Keeps what a signature is; its communicator is the rank's own number until all are known. */
static int describe(const struct look *look, uint32_t stream, uint32_t id, struct flight *call)
{
    const struct trace_signature *signature = trace_reader_signature(look->reader, stream, id);
    const struct trace_operation *operation =
        signature ? trace_reader_operation(look->reader, stream, signature->operation) : NULL;
    struct names *names = &look->live->vocabulary.operations;
    if (!operation)
        return 0;
    const char *request = trace_reader_origin(look->reader, stream, signature);
    int64_t name = names_intern(names, operation->name);
    int64_t request_name = request ? names_intern(names, request) : 0;
    if (name < 0 || request_name < 0)
        return no_memory(look->err);
    call->call = (struct region_label){
        .operation = names->texts[name],
        .request = request ? names->texts[request_name] : NULL,
        .kind = operation->kind,
        .bytes = signature->bytes,
        .peer = signature->peer,
        .root = signature->root,
        .tag = signature->tag,
        .communicator = signature->communicator,
    };
    return 0;
}

static bool has_last_call(const struct glance *glance)
{
    return glance->has_ending && glance->ending.count > 0;
}

static int take_signature(const struct look *look, uint32_t stream, uint32_t id)
{
    for (size_t i = 0; i < look->glance_count; i++) {
        struct glance *glance = &look->glances[i];
        if (glance->stream != stream)
            continue;
        if (glance->in_flight && glance->in_flight - 1 == id &&
            describe(look, stream, id, &glance->call) < 0)
            return -1;
        if (has_last_call(glance) && glance->ending.signature == id &&
            describe(look, stream, id, &glance->last_call) < 0)
            return -1;
    }
    return 0;
}

static bool is_all_known(const struct look *look)
{
    for (size_t i = 0; i < look->glance_count; i++) {
        const struct glance *glance = &look->glances[i];
        if (glance->in_flight && !glance->call.call.operation)
            return false;
        if (has_last_call(glance) && !glance->last_call.call.operation)
            return false;
    }
    return true;
}

static int take_record(const struct look *look, const struct trace_record *record)
{
    struct communicators *communicators = &look->live->vocabulary.communicators;
    uint32_t rank = look->rank->number;
    switch (record->type) {
    case RECORD_SIGNATURE:
        return take_signature(look, record->stream, record->signature_id);
    case RECORD_COMMUNICATOR:
        return communicators_add(communicators, rank, &record->communicator) < 0
                   ? no_memory(look->err)
                   : 0;
    case RECORD_NAME:
        return communicators_name(communicators, rank, record->name.communicator,
                                  record->name.text) < 0
                   ? no_memory(look->err)
                   : 0;
    default:
        return 0;
    }
}

/* Reads the trace up to the last signature that is asked for. A damaged place hides what is behind
 * it in its stream. */
static int look_for_signatures(const struct look *look)
{
    struct trace_record record;
    int status = 1;
    trace_reader_pass_events(look->reader);
    while (status != 0 && !is_all_known(look)) {
        status = trace_reader_next(look->reader, &record, NULL);
        if (status > 0 && take_record(look, &record) < 0)
            return -1;
    }
    return 0;
}

/* --- what it comes to --------------------------------------------------------------------------
 */

/* Whether the thread's last events, up to now, are polls that found nothing; one more of them may
 * be in flight. */
static bool is_polling(const struct look *look, const struct glance *glance)
{
    const char *in_flight = glance->call.call.operation;
    if (!glance->has_ending || glance->ending.count < 2 || !glance->last_call.call.operation ||
        glance->last_call.call.kind != KIND_POLL || age(look, glance->ending.end) >= POLL_NS)
        return false;
    return !glance->in_flight || (in_flight && flight_is_poll(in_flight));
}

static void decide(const struct look *look, const struct glance *glance, struct live_thread *thread)
{
    const struct trace_ending *ending = &glance->ending;
    *thread = (struct live_thread){.number = glance->stream, .call = glance->last_call};
    if (is_polling(look, glance)) {
        thread->state = LIVE_POLLS;
        thread->call.is_common = true;
        thread->polls = ending->count;
        thread->age_ns = age(look, ending->start);
    } else if (glance->in_flight) {
        thread->state = LIVE_CALL;
        thread->call = glance->call;
        thread->age_ns = age(look, glance->start);
    } else if (glance->has_ending && ending->is_pause) {
        thread->state = LIVE_PAUSED;
        thread->age_ns = age(look, ending->start);
    } else {
        thread->state = LIVE_OUTSIDE;
        thread->age_ns = glance->start ? age(look, glance->start) : -1;
    }
}

/* A thread in MPI tells more than one that is not, and of these the last to leave. */
static bool tells_more(const struct live_thread *thread, const struct live_thread *other)
{
    bool is_in = thread->state <= LIVE_POLLS, other_is_in = other->state <= LIVE_POLLS;
    if (is_in != other_is_in)
        return is_in;
    return thread->age_ns >= 0 && (other->age_ns < 0 || thread->age_ns < other->age_ns);
}

static int decide_all(struct look *look)
{
    struct live_rank *rank = look->rank;
    size_t room = look->glance_count ? look->glance_count : 1;
    rank->threads = calloc(room, sizeof(*rank->threads));
    if (!rank->threads)
        return no_memory(look->err);
    rank->threads[0] = (struct live_thread){.state = LIVE_OUTSIDE, .age_ns = -1};
    for (size_t i = 0; i < look->glance_count; i++) {
        struct live_thread thread;
        decide(look, &look->glances[i], &thread);
        if (rank->thread_count > 0 && thread.state <= LIVE_POLLS &&
            rank->threads[0].state <= LIVE_POLLS)
            rank->threads[rank->thread_count++] = thread;
        else if (rank->thread_count == 0 || tells_more(&thread, &rank->threads[0]))
            rank->threads[0] = thread, rank->thread_count = 1;
    }
    if (rank->thread_count == 0)
        rank->thread_count = 1;
    return 0;
}

static int end(struct look *look, enum live_state state, int64_t age_ns)
{
    struct live_rank *rank = look->rank;
    rank->threads = calloc(1, sizeof(*rank->threads));
    if (!rank->threads)
        return no_memory(look->err);
    rank->threads[0] = (struct live_thread){.state = state, .age_ns = age_ns};
    rank->thread_count = 1;
    return 0;
}

/* An exit record tells that what the slots show is over: then that is where the rank was. */
static int decide_end(struct look *look)
{
    struct names *names = &look->live->vocabulary.operations;
    char text[RANK_END_TEXT];
    if (look->end.of == END_UNSEEN)
        return 0;
    rank_end_clause(&look->end, trace_reader_state(look->reader)->phase, text);
    int64_t name = names_intern(names, text), ns;
    if (name < 0)
        return no_memory(look->err);
    struct live_thread *thread = &look->rank->threads[0];
    if (thread->state > LIVE_POLLS)
        thread->call = (struct flight){0};
    thread->call_ns = thread->state <= LIVE_OUTSIDE ? thread->age_ns : -1;
    thread->state = LIVE_DEAD;
    thread->end = names->texts[name];
    bool is_known = !__builtin_sub_overflow(look->found_ns, look->end.realtime_ns, &ns);
    thread->age_ns = is_known && ns >= 0 ? ns : -1;
    look->rank->thread_count = 1;
    return 0;
}

/* Whether the call that a thread is in, or was when its rank died, tells what it waits for. */
static bool tells_request(const struct live_thread *thread)
{
    return thread->call.call.operation && outstanding_is_told(thread->call.call.request);
}

/* Whether it waits for some that it does not tell. */
static bool waits_for_requests(const struct live_thread *thread)
{
    return thread->state <= LIVE_POLLS && thread->call.call.operation &&
           thread->call.call.request && !tells_request(thread);
}

/* Reads the requests of a rank that waits for some: of one that is busy they tell nothing, and they
 * would change while they are read. */
static int look_at_requests(struct look *look)
{
    struct live_rank *rank = look->rank;
    bool is_wanted = rank->threads[0].state == LIVE_DEAD && !tells_request(&rank->threads[0]);
    for (size_t i = 0; i < rank->thread_count; i++)
        is_wanted |= waits_for_requests(&rank->threads[i]);
    if (!is_wanted)
        return 0;
    if (outstanding_read(&rank->outstanding, look->reader) < 0)
        return no_memory(look->err);
    if (rank->outstanding && rank->outstanding->has_moved_on && look->end.of == END_UNSEEN) {
        free(rank->outstanding);
        rank->outstanding = NULL;
    }
    return 0;
}

/* --- one rank ----------------------------------------------------------------------------------
 */

/* Copies what should be printable ASCII. */
static void copy_word(char *to, const char *from, size_t size)
{
    snprintf(to, size, "%s", from);
    for (; *to; to++) {
        if (*to <= ' ' || *to >= 0x7f)
            *to = '?';
    }
}

/* Takes what the fixed pages tell. */
static int look_at_pages(struct look *look)
{
    const struct trace_header *header = trace_reader_header(look->reader);
    const struct trace_state *state = trace_reader_state(look->reader);
    struct live_rank *rank = look->rank;
    copy_word(rank->host, header->host, sizeof(rank->host));
    rank->stopped = state->stopped;
    if (header->world_size > look->live->world_size) {
        look->live->world_size = header->world_size;
        copy_word(look->live->job, header->job, sizeof(look->live->job));
    }
    if (learn_clock(look) < 0)
        return -1;
    note_ahead(look, state->last_sync.ticks);
    if (state->phase == PHASE_CLOSED) {
        look->now_ns = look->found_ns;
        return end(look, LIVE_ENDED, age(look, state->last_sync.ticks));
    }
    if (header->flags & TRACE_BUFFERED)
        rank->behind_ns = age(look, state->last_sync.ticks);
    return look_at_slots(look);
}

/* A copied or renamed trace would be taken for another rank. */
static bool has_its_name(const struct look *look, const char *file)
{
    uint32_t number = trace_reader_header(look->reader)->rank;
    if (number == look->rank->number)
        return true;
    error_set(&look->rank->problem, "%s: holds rank %" PRIu32, file, number);
    return false;
}

/* Opens the trace and looks at what changes. */
static int begin_look(struct look *look, const struct run_world *world, size_t number,
                      int64_t now_ns)
{
    struct live_rank *rank = look->rank;
    const char *file = world->files[number];
    const struct trace_part *part = world->parts ? &world->parts[number] : NULL;
    *rank = (struct live_rank){.behind_ns = -1};
    rank->number = (uint32_t)strtoul(file + strlen("rank-"), NULL, 10);
    if (trace_reader_open_part(&look->reader, world->fd, file, part, &rank->problem) < 0 ||
        !has_its_name(look, file))
        return end(look, LIVE_UNREADABLE, -1);
    look->found_ns = look->now_ns = now_ns ? now_ns : realtime_now();
    look->end = exits_find(look->exits, trace_reader_header(look->reader));
    if (look->end.of != END_UNSEEN && look->end.realtime_ns < look->now_ns)
        look->now_ns = look->end.realtime_ns;
    return look_at_pages(look);
}

/* Finds out what that means, which can take a while. */
static int finish_look(struct look *look)
{
    if (look->rank->thread_count > 0) /* that is known already */
        return 0;
    look_at_ends(look);
    if (look_for_signatures(look) < 0 || decide_all(look) < 0 || decide_end(look) < 0)
        return -1;
    return look_at_requests(look);
}

static void release_look(struct look *look)
{
    trace_reader_close(look->reader);
    clock_release(&look->clock);
    free(look->glances);
}

/* --- all of them -------------------------------------------------------------------------------
 */

/* Now that all communicators are known they get job-wide numbers. */
static int settle_calls(struct live *live)
{
    const struct communicators *communicators = &live->vocabulary.communicators;
    for (size_t i = 0; i < live->rank_count; i++) {
        struct live_rank *rank = &live->ranks[i];
        for (size_t j = 0; j < rank->thread_count; j++) {
            struct flight *flight = &rank->threads[j].call;
            int64_t local = flight->call.communicator;
            flight->call.communicator = communicators_id(communicators, rank->number, local);
            flight->world_peer = communicators_world_rank(communicators, rank->number, local,
                                                          flight->call.peer);
        }
        outstanding_settle(rank->outstanding, communicators, rank->number);
        rank->outstanding_text = outstanding_text(rank->outstanding);
        if (!rank->outstanding_text)
            return -1;
    }
    return 0;
}

static int count_hosts(struct live *live)
{
    struct names hosts = {0};
    int64_t status = 0;
    for (size_t i = 0; status >= 0 && i < live->rank_count; i++) {
        if (live->ranks[i].host[0])
            status = names_intern(&hosts, live->ranks[i].host);
    }
    live->host_count = hosts.count;
    names_release(&hosts);
    return status < 0 ? -1 : 0;
}

/* How many traces can be open at once. */
static size_t choose_batch(const struct run *run)
{
    enum { OTHERS = 64, FEW = 16, MANY = 1 << 16 };
    size_t limit = file_limit_raise(), others = OTHERS + run->world_count + run->spool_count;
    if (limit < others + FEW)
        return FEW;
    return limit - others < MANY ? limit - others : MANY;
}

/* Looks at the ranks from first on: at all first, so that they are seen at one time. */
static int look_at_batch(struct live *live, const struct run *run, const struct run_world *world,
                         size_t first, size_t count, int64_t now_ns, struct error *err)
{
    struct look *looks = calloc(count, sizeof(*looks));
    int status = looks ? 0 : no_memory(err);
    for (size_t i = 0; status == 0 && i < count; i++) {
        looks[i] = (struct look){
            .live = live, .exits = &run->exits, .rank = &live->ranks[first + i], .err = err};
        live->rank_count++;
        status = begin_look(&looks[i], world, first + i, now_ns);
    }
    for (size_t i = 0; looks && i < count; i++) {
        if (status == 0)
            status = finish_look(&looks[i]);
        release_look(&looks[i]);
    }
    free(looks);
    return status;
}

int live_read(struct live *live, const struct run *run, const struct run_world *world,
              int64_t now_ns, struct error *err)
{
    *live = (struct live){.world = world->name, .realtime_ns = now_ns ? now_ns : realtime_now()};
    live->ranks = calloc(world->file_count + 1, sizeof(*live->ranks));
    if (!live->ranks)
        return no_memory(err);
    size_t batch = choose_batch(run);
    for (size_t first = 0; first < world->file_count; first += batch) {
        size_t left = world->file_count - first;
        if (look_at_batch(live, run, world, first, left < batch ? left : batch, now_ns, err) < 0)
            return -1;
    }
    if (communicators_settle(&live->vocabulary.communicators) < 0 || count_hosts(live) < 0 ||
        settle_calls(live) < 0)
        return no_memory(err);
    return 0;
}

void live_release(struct live *live)
{
    for (size_t i = 0; live->ranks && i < live->rank_count; i++) {
        free(live->ranks[i].threads);
        free(live->ranks[i].outstanding);
        free(live->ranks[i].outstanding_text);
    }
    free(live->ranks);
    names_release(&live->vocabulary.operations);
    communicators_release(&live->vocabulary.communicators);
    *live = (struct live){0};
}
