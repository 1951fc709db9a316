/* SPDX-License-Identifier: BSD-3-Clause */
/* The second pass: calls become rows of the profile, and events in them. */
#include "merge/fold.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "merge/pauses.h"
#include "merge/unrecorded.h"

enum {
    COLUMNS = 3,                 /* start, duration, lane */
    BUFFER_EVENTS_MAX = 32768,   /* of one row: 256 KiB are written at once */
    PORTION_EVENTS_MAX = 1024,   /* of them added up at once, while they are in the cache */
    EVENTS_AT_ONCE = 256,        /* taken from the trace: 6 KiB stay in the cache */
    /* Shares of the memory: of all buffers, and how much of it stands for an event of a row that is
     * put in order, which takes 48 bytes (2 million events of 1 GiB). */
    BUFFERS_SHARE = 16,
    SORT_SHARE = 512,
    ROW_BYTES = 512, /* of a row, while the index is written, texts of tags included */
    PROGRESS_RECORDS = 16 * 1024, /* between two looks at the clock */
    PAUSES_MAX = 1 << 20,        /* kept of all ranks together, of each as many */
    FAILURES_MAX = 1 << 16,      /* regions and error classes of a rank that are told apart */
};

/* --- planning ----------------------------------------------------------------------------------
 */

static int no_memory(struct error *err)
{
    return error_set(err, "out of memory");
}

static void describe(const struct fold *fold, const struct rank *rank, const struct call *call,
                     struct region_label *label)
{
    char *const *names = fold->vocabulary->operations.texts;
    int64_t (*number)(const struct communicators *, uint32_t, int64_t) =
        fold->has_handles ? communicators_handle : communicators_id;
    *label = (struct region_label){
        .operation = names[call->operation],
        .request = call->request == CALL_NO_REQUEST ? NULL : names[call->request],
        .kind = call->kind,
        .bytes = call->bytes,
        .peer = call->peer,
        .root = call->root,
        .tag = call->tag,
        .communicator = number(&fold->vocabulary->communicators, rank->header.rank,
                               call->communicator),
    };
}

/* The region of a call, or of the session if call is NULL; -1: out of memory. */
static int64_t find_region(struct fold *fold, const struct rank *rank, const struct call *call)
{
    struct region_label label;
    if (!call)
        return regions_intern(&fold->regions, NULL);
    describe(fold, rank, call, &label);
    labels_coarsen(fold->labels, &label);
    return regions_intern(&fold->regions, &label);
}

static int add_row(struct fold *fold, const struct rank *rank, uint32_t region)
{
    if (fold->row_count == fold->row_room) {
        size_t room = fold->row_room ? 2 * fold->row_room : 64;
        struct profile_row *rows = realloc(fold->rows, room * sizeof(*rows));
        if (!rows)
            return -1;
        fold->rows = rows;
        fold->row_room = room;
    }
    fold->rows[fold->row_count++] =
        (struct profile_row){.region = region, .rank = rank->header.rank};
    return 0;
}

/* The rows of the rank being planned, by region: row + 1 if the stamp is the rank's. */
struct row_map {
    struct {
        size_t stamp;
        uint32_t row;
    } * rows;
    size_t room;
    size_t stamp;
};

static int map_reserve(struct row_map *map, size_t count)
{
    if (count <= map->room)
        return 0;
    size_t room = 2 * count;
    void *rows = realloc(map->rows, room * sizeof(*map->rows));
    if (!rows)
        return -1;
    map->rows = rows;
    memset(map->rows + map->room, 0, (room - map->room) * sizeof(*map->rows));
    map->room = room;
    return 0;
}

/* Finds or makes the row of a region, relative to the rank's first one, and adds count events. */
static int plan_events(struct fold *fold, const struct rank *rank, uint32_t region, uint64_t count,
                       struct row_map *map, size_t first_row, uint32_t *row)
{
    if (map_reserve(map, fold->regions.count) < 0)
        return -1;
    if (map->rows[region].stamp != map->stamp) {
        map->rows[region].stamp = map->stamp;
        map->rows[region].row = (uint32_t)(fold->row_count - first_row);
        if (add_row(fold, rank, region) < 0)
            return -1;
    }
    *row = map->rows[region].row;
    fold->rows[first_row + *row].count += count;
    return 0;
}

/* Whether the first pass met the call, as an event or in a run of polls. */
static bool is_planned(const struct call *call)
{
    return call->count > 0 || call->is_polled;
}

/* Gives a call its region, and its events a row. */
static int plan_call(struct fold *fold, const struct rank *rank, struct call *call,
                     struct row_map *map, size_t first_row)
{
    if (!is_planned(call))
        return 0;
    int64_t region = find_region(fold, rank, call);
    if (region < 0)
        return -1;
    call->region = (uint32_t)region;
    return call->count == 0
               ? 0
               : plan_events(fold, rank, call->region, call->count, map, first_row, &call->row);
}

/* Calls without an event have a region, but no row. */
static int name_unrecorded(struct fold *fold, const struct rank *rank)
{
    struct unrecorded *unrecorded = rank->unrecorded;
    for (size_t i = 0; unrecorded && i < unrecorded->count; i++) {
        struct call *call = &unrecorded->calls[i].call;
        int64_t region = find_region(fold, rank, call);
        if (region < 0)
            return -1;
        call->region = (uint32_t)region;
    }
    return 0;
}

static int plan_rank(struct fold *fold, struct rank *rank, struct row_map *map)
{
    size_t first_row = fold->row_count, threads = 0;
    uint32_t row;
    map->stamp++;
    int64_t session = find_region(fold, rank, NULL);
    if (session < 0 || plan_events(fold, rank, (uint32_t)session, 1, map, first_row, &row) < 0)
        return -1;
    for (size_t i = 0; i < rank->thread_count; i++) {
        struct thread *thread = &rank->threads[i];
        threads += thread->events > 0;
        for (size_t j = 0; j < thread->call_count; j++) {
            if (plan_call(fold, rank, &thread->calls[j], map, first_row) < 0)
                return -1;
        }
    }
    /* A lone thread that is not the one of MPI_Init overlaps the session as well. */
    fold->lanes = fold->lanes || threads > 1 || rank->thread_count > 1;
    return name_unrecorded(fold, rank);
}

static void forget_plan(struct fold *fold)
{
    free(fold->rows);
    regions_release(&fold->regions);
    fold->rows = NULL;
    fold->row_count = fold->row_room = 0;
}

/* Whether rows and names take more than their share of the memory: half of it. */
static bool is_too_large(const struct fold *fold)
{
    return fold->row_count > fold->memory / 2 / ROW_BYTES ||
           fold->regions.count > fold->memory / 2 / (4 * REGION_LABEL_SIZE);
}

/* Plans all ranks with labels of the fold's grain. Returns 1 if that makes more of them than may
 * be, -1 if memory is out. */
static int plan_ranks(struct fold *fold, bool may_be_many)
{
    struct row_map map = {0};
    int status = 0;
    for (size_t i = 0; status == 0 && i < fold->rank_count; i++) {
        fold->first_rows[i] = fold->row_count;
        if (rank_is_usable(&fold->ranks[i]))
            status = plan_rank(fold, &fold->ranks[i], &map);
        if (status == 0 && !may_be_many &&
            labels_are_many(fold->rank_count, fold->regions.count, fold->row_count))
            status = 1;
        if (status == 0 && is_too_large(fold)) {
            fold->is_too_large = true;
            status = -1;
        }
    }
    fold->first_rows[fold->rank_count] = fold->row_count;
    free(map.rows);
    return status;
}

/* Takes the finest grain whose labels are not too many, if none was asked for. */
static int choose_labels(struct fold *fold)
{
    bool may_be_many = fold->labels != LABELS_AUTO;
    int status;
    if (!may_be_many)
        fold->labels = LABELS_FULL;
    while ((status = plan_ranks(fold, may_be_many)) > 0) {
        forget_plan(fold);
        fold->labels++;
        may_be_many = fold->labels == LABELS_OP;
    }
    return status;
}

int fold_plan(struct fold *fold, struct error *err)
{
    fold->first_rows = calloc(fold->rank_count + 1, sizeof(*fold->first_rows));
    if (!fold->first_rows || choose_labels(fold) < 0)
        return fold->is_too_large
                   ? error_set(err, "so many different calls need more memory than --memory= "
                                    "allows: give more, or --labels=op")
                   : no_memory(err);
    if (regions_name(&fold->regions, fold->threads) < 0)
        return no_memory(err);
    for (size_t i = 0; i < fold->row_count; i++) {
        fold->rows[i].first = fold->events;
        if (__builtin_add_overflow(fold->events, fold->rows[i].count, &fold->events))
            return error_set(err, "too many events for one file");
    }
    return 0;
}

/* --- one rank ----------------------------------------------------------------------------------
 */

/* What of a row waits to be written. */
struct buffer {
    int64_t *starts, *durations, *lanes; /* lanes: NULL where there is no such column */
    size_t fill, room; /* room: up to where fill may go before there is something to do */
    size_t settled;    /* so many of them are added up, and their starts are differences */
    size_t size;       /* not more than the row gets */
    int64_t previous_start; /* of the last one that is settled */
    int64_t nested_ns;      /* of the row's time, in other calls */
    unsigned __int128 squares; /* sum, of the durations less the first one */
    bool is_unordered;
};

/* Where events of a stream go by their signature: NULL for those that need more than to be put into
 * a row. */
struct route {
    struct buffer **buffers;
    size_t count;
};

struct pass {
    struct fold *fold;
    struct rank *rank;
    struct profile_writer *writer; /* NULL: events are only counted */
    struct profile_row *rows; /* of this rank; they count what was written */
    uint64_t *planned;        /* events of each row in the first pass */
    struct buffer *buffers;   /* one for each row */
    int64_t *memory;          /* of all buffers */
    struct route *routes;     /* one for each stream */
    struct buffer **routed;   /* memory of all routes */
    size_t row_count;
    size_t clock_hint;
    struct pauses pauses;
    int64_t outermost_ns; /* in the session, outside any other call of its thread */
    struct error *err;
};

static int make_buffers(struct pass *pass)
{
    size_t rows = pass->row_count, total = 0, columns = pass->fold->lanes ? COLUMNS : COLUMNS - 1;
    size_t share = pass->fold->memory / BUFFERS_SHARE / pass->fold->threads /
                   (columns * sizeof(int64_t)) / rows;
    share = share < 1 ? 1 : share > BUFFER_EVENTS_MAX ? BUFFER_EVENTS_MAX : share;
    pass->buffers = calloc(rows, sizeof(*pass->buffers));
    pass->planned = calloc(rows, sizeof(*pass->planned));
    if (!pass->buffers || !pass->planned)
        return no_memory(pass->err);
    for (size_t i = 0; i < rows; i++) {
        uint64_t count = pass->rows[i].count;
        struct buffer *buffer = &pass->buffers[i];
        pass->planned[i] = count;
        pass->rows[i].count = 0;
        buffer->size = count < share ? (size_t)count : share;
        buffer->room = buffer->size < PORTION_EVENTS_MAX ? buffer->size : PORTION_EVENTS_MAX;
        total += buffer->size;
    }
    pass->memory = malloc(total * columns * sizeof(*pass->memory));
    if (!pass->memory)
        return no_memory(pass->err);
    int64_t *next = pass->memory;
    for (size_t i = 0; i < rows; i++) {
        struct buffer *buffer = &pass->buffers[i];
        buffer->starts = next;
        buffer->durations = next + buffer->size;
        if (pass->fold->lanes)
            buffer->lanes = buffer->durations + buffer->size;
        next += columns * buffer->size;
    }
    return 0;
}

static int make_routes(struct pass *pass)
{
    const struct rank *rank = pass->rank;
    size_t total = 0;
    for (size_t i = 0; i < rank->thread_count; i++)
        total += rank->threads[i].call_count;
    pass->routes = calloc(rank->thread_count + 1, sizeof(*pass->routes));
    pass->routed = calloc(total + 1, sizeof(*pass->routed));
    if (!pass->routes || !pass->routed)
        return no_memory(pass->err);
    struct buffer **next = pass->routed;
    for (size_t i = 0; i < rank->thread_count; i++) {
        const struct thread *thread = &rank->threads[i];
        pass->routes[i] = (struct route){.buffers = next, .count = thread->call_count};
        for (size_t j = 0; j < thread->call_count; j++, next++) {
            const struct call *call = &thread->calls[j];
            if (call->count > 0 && call->kind != KIND_POLL)
                *next = &pass->buffers[call->row];
        }
    }
    return 0;
}

/* Turns absolute starts into differences; *previous is 0 before a row's first event. Returns
 * whether none is before the one before it. */
static bool encode_starts(int64_t *starts, size_t count, int64_t *previous)
{
    int64_t before = *previous, least = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        int64_t start = starts[i], delta = start - before;
        starts[i] = delta;
        least = i > 0 && delta < least ? delta : least;
        before = start;
    }
    *previous = before;
    return least >= 0;
}

/* Turns durations into absolute ends, and leaves starts as they are; returns what encode_starts
 * does. */
static bool encode_ends(const int64_t *starts, int64_t *durations, size_t count, int64_t *previous)
{
    bool is_ordered = true;
    for (size_t i = 0; i < count; i++) {
        is_ordered = is_ordered && (i == 0 || starts[i] >= starts[i - 1]);
        durations[i] = profile_add(starts[i], durations[i]);
    }
    *previous = starts[count - 1];
    return is_ordered;
}

/* From absolute starts and durations to what stands in the file. */
static bool encode(const struct fold *fold, int64_t *starts, int64_t *durations, size_t count,
                   int64_t *previous)
{
    return fold->is_absolute ? encode_ends(starts, durations, count, previous)
                             : encode_starts(starts, count, previous);
}

/* And back, for a whole row. */
static void decode(const struct fold *fold, int64_t *starts, int64_t *durations, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fold->is_absolute)
            durations[i] = profile_add(durations[i], -starts[i]);
        else if (i > 0)
            starts[i] = profile_add(starts[i], starts[i - 1]);
    }
}

/* Adds events to the sums of their row. */
static void count_events(struct profile_row *row, struct buffer *buffer, const int64_t *starts,
                         const int64_t *durations, size_t count)
{
    if (row->count == 0) {
        row->first_duration = row->minimum = row->maximum = durations[0];
        row->earliest_start = starts[0];
        row->latest_end = profile_add(starts[0], durations[0]);
    }
    int64_t total = row->total, minimum = row->minimum, maximum = row->maximum;
    int64_t earliest = row->earliest_start, latest = row->latest_end;
    const int64_t first = row->first_duration;
    unsigned __int128 squares = buffer->squares;
    for (size_t i = 0; i < count; i++) {
        int64_t start = starts[i], duration = durations[i], end = profile_add(start, duration);
        int64_t beyond = duration - first;
        total = profile_add(total, duration);
        squares += (unsigned __int128)((__int128)beyond * beyond);
        minimum = duration < minimum ? duration : minimum;
        maximum = duration > maximum ? duration : maximum;
        earliest = start < earliest ? start : earliest;
        latest = end > latest ? end : latest;
    }
    row->total = total;
    row->minimum = minimum;
    row->maximum = maximum;
    row->earliest_start = earliest;
    row->latest_end = latest;
    row->last_duration = durations[count - 1];
    row->count += count;
    buffer->squares = squares;
}

/* The rest of the sums. They are exact, so it does not matter in which portions events came. */
static void finish_sums(struct profile_row *row, const struct buffer *buffer)
{
    uint64_t count = row->count;
    row->exclusive = profile_add(row->total, -buffer->nested_ns);
    if (count == 0)
        return;
    /* Sum of (d - mean)^2 = sum of (d - first)^2 - (sum of d - first)^2 / count. */
    int64_t beyond = (int64_t)((uint64_t)row->total - count * (uint64_t)row->first_duration);
    unsigned __int128 square = (unsigned __int128)((__int128)beyond * beyond);
    unsigned __int128 part = square / count;
    double rest = (double)(uint64_t)(square % count) / (double)count;
    row->mean = (double)row->first_duration + (double)beyond / (double)count;
    row->m2 = buffer->squares > part ? (double)(buffer->squares - part) - rest : 0;
}

/* Adds up what came into the buffer since the last time, and makes its starts differences. */
static void settle(struct pass *pass, size_t number)
{
    struct buffer *buffer = &pass->buffers[number];
    struct profile_row *row = &pass->rows[number];
    int64_t *starts = buffer->starts + buffer->settled;
    int64_t *durations = buffer->durations + buffer->settled;
    size_t count = buffer->fill - buffer->settled;
    if (count == 0)
        return;
    buffer->is_unordered |= row->count > 0 && starts[0] < buffer->previous_start;
    count_events(row, buffer, starts, durations, count);
    buffer->is_unordered |= !encode(pass->fold, starts, durations, count, &buffer->previous_start);
    buffer->settled = buffer->fill;
}

/* Writes what is in the buffer. */
static int flush(struct pass *pass, size_t number)
{
    struct buffer *buffer = &pass->buffers[number];
    const struct profile_row *row = &pass->rows[number];
    settle(pass, number);
    if (buffer->fill == 0)
        return 0;
    if (pass->writer &&
        profile_writer_put(pass->writer, row->first + row->count - buffer->fill, buffer->fill,
                           buffer->starts, buffer->durations, buffer->lanes, pass->err) < 0)
        return -1;
    buffer->fill = buffer->settled = 0;
    return 0;
}

/* Whether the row takes one more event: it has as many places as the first pass counted. -1: err.
 */
static int make_place(struct pass *pass, struct buffer *buffer)
{
    size_t row = (size_t)(buffer - pass->buffers);
    if (buffer->fill < buffer->room)
        return 1;
    settle(pass, row);
    if (buffer->fill == buffer->size && flush(pass, row) < 0)
        return -1;
    uint64_t left = pass->planned[row] - pass->rows[row].count;
    size_t portion = buffer->size - buffer->fill;
    portion = portion < PORTION_EVENTS_MAX ? portion : PORTION_EVENTS_MAX;
    buffer->room = buffer->fill + (left < portion ? (size_t)left : portion);
    return buffer->fill < buffer->room;
}

/* Puts an event into its row, which has a place for it. */
static inline void append(struct buffer *buffer, int64_t start, int64_t duration, int64_t lane)
{
    buffer->starts[buffer->fill] = start;
    buffer->durations[buffer->fill] = duration;
    if (buffer->lanes)
        buffer->lanes[buffer->fill] = lane;
    buffer->fill++;
}

static void put_event(struct pass *pass, uint32_t stream, const struct call *call,
                      const struct trace_event *event)
{
    struct rank *rank = pass->rank;
    struct lane *lane = &rank->threads[stream].lane;
    struct buffer *buffer = &pass->buffers[call->row];
    int64_t start = rank_ns(rank, event->start, &pass->clock_hint);
    int64_t duration = rank_ns(rank, event->end, &pass->clock_hint) - start;
    int is_outermost;
    int64_t exclusive = lane_exclusive(lane, event->start, event->end, duration, &is_outermost);
    if (is_outermost && stream == 0 && event->start >= rank->session_start &&
        event->end <= rank->session_end)
        pass->outermost_ns = profile_add(pass->outermost_ns, duration);
    buffer->nested_ns = profile_add(buffer->nested_ns, duration - exclusive);
    append(buffer, start, duration, stream);
}

/* The call with this signature; NULL if it came to the trace after the first pass. */
static struct call *find_call(const struct pass *pass, uint32_t stream, uint32_t signature)
{
    const struct rank *rank = pass->rank;
    if (stream >= rank->thread_count || signature >= rank->threads[stream].call_count)
        return NULL;
    struct call *call = &rank->threads[stream].calls[signature];
    return is_planned(call) ? call : NULL;
}

/* Whether the call's row has a place for one more event; -1: err. */
static int has_place(struct pass *pass, const struct call *call)
{
    return call && call->count > 0 ? make_place(pass, &pass->buffers[call->row]) : 0;
}

static void note_failure(const struct pass *pass, uint32_t stream, int32_t error_class)
{
    if (stream >= pass->rank->thread_count)
        return;
    pass->rank->threads[stream].has_failed = true;
    pass->rank->threads[stream].error_class = error_class;
}

/* Counts the failure that was noted before the event of call (NULL: of no interest), if one was. */
static int count_failure(const struct pass *pass, uint32_t stream, const struct call *call)
{
    struct rank *rank = pass->rank;
    struct thread *thread = stream < rank->thread_count ? &rank->threads[stream] : NULL;
    bool has_failed = thread && thread->has_failed;
    if (has_failed)
        thread->has_failed = false;
    if (!has_failed || !call)
        return 0;
    struct tally_row row = {.rank = rank->header.rank,
                            .region = call->region,
                            .error_class = thread->error_class,
                            .count = 1};
    if (rank->failures.count >= FAILURES_MAX)
        row.error_class = PROFILE_FAILED_OTHER;
    return tally_add(&rank->failures, &row) < 0 ? no_memory(pass->err) : 0;
}

static void count_polls(struct pass *pass, struct call *call, uint64_t count, uint64_t start,
                        uint64_t busy)
{
    int64_t end = rank_ns(pass->rank, start + busy, &pass->clock_hint);
    call->polls += count;
    call->polls_ns =
        profile_add(call->polls_ns, end - rank_ns(pass->rank, start, &pass->clock_hint));
}

static int fold_event(struct pass *pass, uint32_t stream, const struct trace_event *event)
{
    struct call *call = find_call(pass, stream, event->signature);
    int place = has_place(pass, call);
    if (place < 0 || count_failure(pass, stream, place ? call : NULL) < 0)
        return -1;
    if (!place)
        return 0;
    if (call->kind == KIND_POLL)
        count_polls(pass, call, 1, event->start, event->end - event->start);
    put_event(pass, stream, call, event);
    return 0;
}

/* Of events one after the other the segment of the clock that all lie in; NULL if there is none, or
 * if one of them needs more than to be put into its row. */
static const struct clock_segment *find_plain(struct pass *pass, uint32_t stream,
                                              const struct trace_event *events, size_t count)
{
    const struct rank *rank = pass->rank;
    uint64_t start = events[0].start, end = events[count - 1].end;
    const struct clock_segment *segment = clock_find(&rank->clock, start, &pass->clock_hint);
    if (!segment || end >= segment->end || stream >= rank->thread_count ||
        (stream == 0 && (start < rank->session_start || end > rank->session_end)))
        return NULL;
    const struct thread *thread = &rank->threads[stream];
    return thread->has_failed || thread->lane.count > 0 ? NULL : segment;
}

/* What fold_event does, for events one after the other. */
static int fold_events(struct pass *pass, uint32_t stream, const struct trace_event *events,
                       size_t count)
{
    const struct clock_segment *found = find_plain(pass, stream, events, count);
    if (!found) {
        for (size_t i = 0; i < count; i++) {
            if (fold_event(pass, stream, &events[i]) < 0)
                return -1;
        }
        return 0;
    }
    struct clock_segment segment = *found;
    const struct route route = pass->routes[stream];
    int64_t busy_ns = 0;
    segment.ns += pass->rank->offset_ns;
    for (size_t i = 0; i < count; i++) {
        const struct trace_event *event = &events[i];
        struct buffer *buffer =
            event->signature < route.count ? route.buffers[event->signature] : NULL;
        if (!buffer) {
            if (fold_event(pass, stream, event) < 0)
                return -1;
            continue;
        }
        int place = buffer->fill < buffer->room ? 1 : make_place(pass, buffer);
        if (place < 0)
            return -1;
        if (!place)
            continue;
        int64_t start = clock_segment_ns(&segment, event->start);
        int64_t duration = clock_segment_ns(&segment, event->end) - start;
        busy_ns = profile_add(busy_ns, duration);
        append(buffer, start, duration, stream);
    }
    if (stream == 0)
        pass->outermost_ns = profile_add(pass->outermost_ns, busy_ns);
    return 0;
}

/* The times of a run's polls are laid end to end: their sum is then never longer than the run. */
static int fold_polls(struct pass *pass, uint32_t stream, const struct trace_poll_run *run)
{
    const struct call *whole = find_call(pass, stream, run->event.signature);
    uint64_t start = run->event.start;
    int place = has_place(pass, whole);
    if (place < 0 ||
        count_failure(pass, stream, place ? find_call(pass, stream, run->first) : NULL) < 0)
        return -1;
    if (!place)
        return 0;
    for (size_t i = 0; i < run->count; i++) {
        struct call *call = find_call(pass, stream, run->polled[i].signature);
        if (call)
            count_polls(pass, call, run->polled[i].count, start, run->polled[i].busy);
        start += run->polled[i].busy;
    }
    put_event(pass, stream, whole, &run->event);
    return 0;
}

static int keep_pause(const struct fold *fold, struct rank *rank, int64_t start_ns,
                      int64_t duration_ns)
{
    rank->paused_ns = profile_add(rank->paused_ns, duration_ns);
    if (rank->pause_count >= PAUSES_MAX / fold->rank_count)
        return 0;
    if (rank->pause_count == rank->pause_room) {
        size_t room = rank->pause_room ? 2 * rank->pause_room : 16;
        struct profile_pause *pauses = realloc(rank->pauses, room * sizeof(*pauses));
        if (!pauses)
            return -1;
        rank->pauses = pauses;
        rank->pause_room = room;
    }
    rank->pauses[rank->pause_count++] = (struct profile_pause){
        .rank = rank->header.rank, .start_ns = start_ns, .duration_ns = duration_ns};
    return 0;
}

static int take_pauses(struct pass *pass)
{
    uint64_t start, end;
    size_t hint = 0;
    while (pauses_take(&pass->pauses, &start, &end)) {
        int64_t start_ns = rank_ns(pass->rank, start, &hint);
        int64_t duration_ns = rank_ns(pass->rank, end, &hint) - start_ns;
        if (keep_pause(pass->fold, pass->rank, start_ns, duration_ns) < 0)
            return no_memory(pass->err);
    }
    return 0;
}

static int fold_pause(struct pass *pass, bool paused, uint64_t ticks)
{
    if (pauses_add(&pass->pauses, paused, ticks) < 0)
        return no_memory(pass->err);
    return pauses_are_many(&pass->pauses) ? take_pauses(pass) : 0;
}

/* Who paused and never went on did so up to the session's end. */
static int finish_pauses(struct pass *pass)
{
    return fold_pause(pass, false, pass->rank->session_end) < 0 ? -1 : take_pauses(pass);
}

static int fold_record(struct pass *pass, const struct trace_record *record)
{
    switch (record->type) {
    case RECORD_EVENT:
        return fold_event(pass, record->stream, &record->event);
    case RECORD_POLLS:
        return fold_polls(pass, record->stream, &record->polls);
    case RECORD_FAILED:
        note_failure(pass, record->stream, record->error_class);
        return 0;
    case RECORD_PAUSE:
        return fold_pause(pass, record->pause.paused, record->pause.ticks);
    default:
        return 0;
    }
}

static int stream_records(struct pass *pass, struct trace_reader *reader, struct progress *progress)
{
    struct trace_event events[EVENTS_AT_ONCE];
    struct trace_record record;
    uint64_t records = 0;
    int status;
    for (;;) {
        uint32_t stream;
        size_t count = trace_reader_events(reader, events, EVENTS_AT_ONCE, &stream);
        if (count > 0)
            status = fold_events(pass, stream, events, count);
        else if ((status = trace_reader_next(reader, &record, NULL)) == 0)
            break;
        else /* damage was told in the first pass */
            status = status < 0 ? 0 : fold_record(pass, &record);
        if (status < 0)
            return -1;
        records += count > 0 ? count : 1;
        if (records >= PROGRESS_RECORDS) {
            if (progress)
                progress_advance(progress, records);
            records = 0;
        }
    }
    if (progress)
        progress_advance(progress, records);
    return finish_pauses(pass);
}

/* The session is the first row of every rank. */
static int fold_session(struct pass *pass)
{
    struct rank *rank = pass->rank;
    int64_t start = rank_ns(rank, rank->session_start, &pass->clock_hint);
    int64_t duration = rank_ns(rank, rank->session_end, &pass->clock_hint) - start;
    int64_t nested = duration > pass->outermost_ns ? pass->outermost_ns : duration;
    pass->buffers[0].nested_ns = nested;
    append(&pass->buffers[0], start, duration, 0);
    return flush(pass, 0);
}

/* --- rows in which calls did not come in the order of their starts ------------------------------
 */

struct event {
    int64_t start, duration, lane;
};

static int compare_events(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->duration != b->duration)
        return a->duration > b->duration ? -1 : 1;
    return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static int sort_row(struct pass *pass, struct profile_row *row)
{
    size_t count = (size_t)row->count;
    int64_t *columns = calloc(count, COLUMNS * sizeof(*columns));
    struct event *events = calloc(count, sizeof(*events));
    int64_t *starts = columns, *durations = columns + count, *lanes = columns + 2 * count;
    int status = columns && events ? 0 : no_memory(pass->err);
    if (status == 0)
        status = profile_writer_get(pass->writer, row->first, count, starts, durations, lanes,
                                    pass->err);
    if (status < 0)
        goto done;
    decode(pass->fold, starts, durations, count);
    for (size_t i = 0; i < count; i++)
        events[i] = (struct event){starts[i], durations[i], lanes[i]};
    qsort(events, count, sizeof(*events), compare_events);
    int64_t previous = 0;
    for (size_t i = 0; i < count; i++) {
        starts[i] = events[i].start;
        durations[i] = events[i].duration;
        lanes[i] = events[i].lane;
    }
    row->first_duration = durations[0];
    row->last_duration = durations[count - 1];
    encode(pass->fold, starts, durations, count, &previous);
    status =
        profile_writer_put(pass->writer, row->first, count, starts, durations, lanes, pass->err);
done:
    free(columns);
    free(events);
    return status;
}

/* Only one thread at a time does so: it takes memory. */
static int sort_alone(struct pass *pass, struct profile_row *row)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    int status = sort_row(pass, row);
    pthread_mutex_unlock(&lock);
    return status;
}

/* Nested calls and several threads bring calls out of order. Rows too long to sort in memory stay
 * in the order of ends, thread by thread: readers take both. */
static int finish_rows(struct pass *pass)
{
    for (size_t i = 0; i < pass->row_count; i++) {
        if (flush(pass, i) < 0)
            return -1;
        finish_sums(&pass->rows[i], &pass->buffers[i]);
        pass->rank->lost += pass->planned[i] - pass->rows[i].count;
        if (pass->buffers[i].is_unordered && pass->writer &&
            pass->rows[i].count <= pass->fold->memory / SORT_SHARE &&
            sort_alone(pass, &pass->rows[i]) < 0)
            return -1;
    }
    return 0;
}

static int keep_problem(const struct pass *pass, const struct error *problem)
{
    pass->rank->reopening = strdup(problem->text);
    return pass->rank->reopening ? 0 : error_set(pass->err, "out of memory");
}

int fold_rank(struct fold *fold, size_t number, int dirfd, struct profile_writer *writer,
              struct progress *progress, struct error *err)
{
    struct pass pass = {.fold = fold, .rank = &fold->ranks[number], .writer = writer, .err = err};
    struct trace_reader *reader = NULL;
    struct error problem;
    pass.rows = &fold->rows[fold->first_rows[number]];
    pass.row_count = fold->first_rows[number + 1] - fold->first_rows[number];
    if (pass.row_count == 0)
        return 0;
    int status = make_buffers(&pass) < 0 ? -1 : make_routes(&pass);
    /* A trace that cannot be opened a second time: its calls count as lost. */
    if (status == 0)
        status = trace_reader_open_part(&reader, dirfd, pass.rank->file, pass.rank->part,
                                        &problem) == 0
                     ? stream_records(&pass, reader, progress)
                     : keep_problem(&pass, &problem);
    if (status == 0)
        status = fold_session(&pass);
    if (status == 0)
        status = finish_rows(&pass);
    trace_reader_close(reader);
    pauses_release(&pass.pauses);
    free(pass.memory);
    free(pass.routes);
    free(pass.routed);
    free(pass.buffers);
    free(pass.planned);
    return status;
}

void fold_release(struct fold *fold)
{
    forget_plan(fold);
    free(fold->first_rows);
}
