/* SPDX-License-Identifier: BSD-3-Clause */
/* A short trace with something of everything in it, and how to tell two records apart. */
#ifndef SCOPE_SAMPLE_TRACE_H
#define SCOPE_SAMPLE_TRACE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/request.h"
#include "schema/trace_outstanding.h"
#include "schema/trace_reader.h"
#include "schema/trace_statistics.h"
#include "schema/trace_writer.h"

enum { SAMPLE_STREAMS = 2, SAMPLE_ITEMS = 240, SAMPLE_TURN = 50, SAMPLE_MANY = 130,
       SAMPLE_UNRECORDED = 30, SAMPLE_REQUESTS = 24, SAMPLE_ORIGINS = 3 };

static inline void sample_die(const char *what)
{
    printf("Bail out! %s\n", what);
    exit(99);
}

/* A directory whose file system keeps mappings safe, removed from sight at once where it may be. */
static inline int sample_directory(char path[static 64])
{
    static const char *const parents[] = {"/dev/shm", "/tmp", "."};
    for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
        snprintf(path, 64, "%s/sp-fuzz-XXXXXX", parents[i]);
        if (mkdtemp(path))
            return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    sample_die("no directory for traces");
    return -1;
}

/* The same readings in the same order every time. */
static uint64_t sample_readings, sample_count;

static inline void sample_clock(struct trace_sync *sync)
{
    uint64_t n = ++sample_readings;
    *sync = (struct trace_sync){n, (int64_t)(3 * n), (int64_t)(5 * n)};
}

/* The writer whose areas requests lie in, and where the program keeps them. */
static struct trace_writer *sample_writer;
static char sample_places[SAMPLE_REQUESTS];

static void *sample_take_area(const struct trace_area *area)
{
    return trace_writer_area(sample_writer, area);
}

static void sample_name_origin(uint32_t operation, struct trace_request_origin *origin)
{
    origin->kind = KIND_POINT_TO_POINT;
    strcpy(origin->name, operation == 1 ? "isend" : "irecv");
}

static inline void sample_create(struct trace_writer *writer, int directory, const char *name)
{
    struct error err;
    struct trace_header header = {.world_size = 4, .rank = 1, .job = "17.0", .world = "w"};
    sample_readings = 0;
    sample_count++;
    if (trace_writer_create(writer, directory, name, &header, UINT64_C(1) << 30, sample_clock,
                            &err) < 0)
        sample_die(err.text);
    sample_writer = writer;
    request_forked(); /* what another sample had is forgotten */
    request_use_areas(
        &(struct request_areas){.take = sample_take_area, .name = sample_name_origin});
}

/* What has been written, by stream: the records and the polls whose writing has come back. */
struct sample_progress {
    size_t records[SAMPLE_STREAMS], polls[SAMPLE_STREAMS];
    uint64_t requests[SAMPLE_ORIGINS]; /* in flight, by origin */
    bool changes_request;              /* one of them is being started or finished */
};

/* Writes one poll, or a run of several; the signatures are of an operation of kind poll. */
static inline void sample_polls(struct trace_stream *stream, bool alone, uint64_t now,
                                size_t *records, size_t *polls)
{
    static const uint32_t signatures[] = {8, 8, 18, 8, 28, 18, 28};
    size_t count = alone ? 1 : sizeof signatures / sizeof *signatures;
    for (size_t i = 0; i < count; i++, now += 5) {
        uint32_t common = i < 2 ? 8 : 38;
        if (!trace_run_count(stream, signatures[i], now, now + 3) &&
            (i == 0 || !trace_run_join(stream, signatures[i], common, now, now + 3))) {
            trace_run_begin(stream, signatures[i], now, now + 3);
            ++*records;
        }
        ++*polls;
    }
}

/* Streams are written in turns; every item is one record but those that define an operation. */
static inline void sample_item(struct trace_stream *streams, unsigned item,
                               struct sample_progress *finished)
{
    static const int indices[] = {0, INT32_MAX, 77, 1 << 20};
    static const struct trace_rank_run runs[] = {{0, 1, 1}, {5, 40, 3}, {1 << 20, 7, -1}};
    struct trace_stream *stream = &streams[item % SAMPLE_STREAMS];
    size_t *records = &finished->records[item % SAMPLE_STREAMS];
    unsigned step = item / SAMPLE_STREAMS;
    uint64_t now = 1000 + 100 * (uint64_t)step * step;
    struct trace_signature signature = {.operation = 0,
                                        .origin = step % 3 ? 1 : ORIGIN_UNKNOWN,
                                        .bytes = INT64_C(1) << step % 62,
                                        .peer = (int32_t)step - 3,
                                        .root = -1,
                                        .tag = (int32_t)(step * 1000),
                                        .communicator = (int32_t)step % 5 - 1};
    struct trace_communicator communicator = {.id = step,
                                              .parent = -1,
                                              .rank = 1,
                                              .size = 4,
                                              .key = UINT64_MAX - step,
                                              .handle = 0x44000000,
                                              .run_count = 3,
                                              .runs = runs};
    struct trace_message message;
    if (step == SAMPLE_TURN) { /* the rest of the window stays empty */
        trace_stream_turn(stream, 0);
        return;
    }
    if (step > 0 && step <= SAMPLE_MANY / 10) { /* enough for ids of two bytes */
        for (int i = 0; i < 10; i++) {
            signature.peer = i;
            signature.operation = i == 8;
            trace_stream_signature(stream, &signature);
            ++*records;
        }
        return;
    }
    uint32_t used = step % 2 ? SAMPLE_MANY - 1 : 0;
    switch (step == 0 ? 100 : step % 13) {
    case 100:
        trace_stream_operation(stream, KIND_WAIT, item % 2 ? "waitall" : "wait");
        trace_stream_operation(stream, KIND_POLL, "test");
        return;
    case 0:
        trace_stream_signature(stream, &signature);
        break;
    case 1:
        trace_stream_communicator(stream, &communicator);
        break;
    case 2:
        message = (struct trace_message){step, -1, INT64_C(1) << step % 60,
                                         step % 2 ? step * INT64_C(1000) : -1};
        if (step % 3 == 0)
            trace_stream_resolve(stream, &message);
        else
            trace_stream_started(stream, step % 3 == 1, &message);
        break;
    case 3:
        trace_stream_completion(stream, indices, 4);
        break;
    case 4:
        trace_stream_sync(stream);
        break;
    case 5: /* the end of an enclosing call */
        trace_stream_event(stream, used,
                           stream->previous_end > 500 ? stream->previous_end - 500 : 0, now);
        break;
    case 6:
        trace_stream_name(stream, step, "a name\n\xc3\xa9");
        break;
    case 7:
        trace_stream_failed(stream, step % 2 ? INT32_MAX : 13);
        break;
    case 8:
        trace_stream_pause(stream, step % 2, now);
        break;
    case 9:
        sample_polls(stream, step % 2, now - 40, records, &finished->polls[item % SAMPLE_STREAMS]);
        return;
    default:
        trace_stream_event(stream, used, now - 40, now);
    }
    ++*records;
}

/* Counts calls without events, of three kinds. */
static inline void sample_unrecorded(struct trace_writer *writer, void (*step)(void))
{
    static const struct counted_operation test = {KIND_POLL, "test"}, irecv = {0, "irecv"};
    struct trace_statistics_index index = {0};
    for (int i = 0; i < SAMPLE_UNRECORDED; i++) {
        const struct trace_signature signature = {.origin = i % 3, .bytes = 40, .tag = i % 3};
        int place = trace_statistics_place(writer->statistics, &index, &signature, &test, &irecv);
        if (place < 0)
            sample_die("no place for a call to be counted");
        trace_statistics_add(writer->statistics, place, 1000);
        step();
    }
}

/* --- requests ------------------------------------------------------------------------------------
 */

/* Starts or finishes a request. What starts them is new to each sample, for it is written down once.
 * Most have a handle of their own, the others one in common. */
static inline void sample_request(struct sample_progress *finished, int number, bool starts,
                                  void (*step)(void))
{
    int tag = number % SAMPLE_ORIGINS;
    uint64_t handle = number % 4 == 0 ? 7 : 1000 + (uint64_t)number;
    struct request_origin origin = {
        .bytes = (INT64_C(1) << 40) + (int64_t)sample_count,
        .tag = tag,
        .operation = 1 + (uint32_t)tag};
    uint32_t id = request_origin_id(&origin);
    finished->changes_request = true;
    if (starts)
        request_started(handle, &sample_places[number], id);
    else if (request_finished(handle, &sample_places[number]) != id)
        sample_die("a request of another origin");
    finished->requests[tag] += starts ? 1 : UINT64_MAX;
    finished->changes_request = false;
    step();
}

/* Some stay in flight. */
static inline void sample_requests(struct sample_progress *finished, void (*step)(void))
{
    for (int i = 0; i < SAMPLE_REQUESTS; i++)
        sample_request(finished, i, true, step);
    for (int i = 0; i < SAMPLE_REQUESTS; i += 2)
        sample_request(finished, i, false, step);
    for (int i = 0; i < SAMPLE_REQUESTS; i += 4)
        sample_request(finished, i, true, step);
    for (int i = SAMPLE_REQUESTS - 1; i > 2; i -= 2)
        sample_request(finished, i, false, step);
}

static inline bool sample_list(int directory, const char *name, struct trace_outstanding_list *list)
{
    struct trace_reader *reader;
    struct error err;
    if (trace_reader_open(&reader, directory, name, &err) < 0)
        return false;
    if (trace_outstanding_read(reader, list) < 0)
        sample_die("no memory");
    trace_reader_close(reader);
    return true;
}

/* True if the trace has the requests that are in flight, up to one that is changing just now: that
 * may be missing, or there twice, and of another's origin. */
static inline bool sample_requests_are_right(int directory, const char *name,
                                             const struct sample_progress *finished)
{
    static struct trace_outstanding_list list;
    uint64_t found[SAMPLE_ORIGINS] = {0}, off = 0;
    if (!sample_list(directory, name, &list) || list.others > 0 || list.is_incomplete)
        return false;
    for (size_t i = 0; i < list.count; i++) {
        const struct trace_outstanding *row = &list.rows[i];
        if (row->tag < 0 || row->tag >= SAMPLE_ORIGINS || row->bytes < INT64_C(1) << 40 ||
            strcmp(row->operation.name, row->tag == 0 ? "isend" : "irecv") != 0)
            return false;
        found[row->tag] += row->count;
    }
    for (int i = 0; i < SAMPLE_ORIGINS; i++)
        off += found[i] > finished->requests[i] ? found[i] - finished->requests[i]
                                                : finished->requests[i] - found[i];
    return off <= (finished->changes_request ? 2 : 0);
}

/* Writes the whole sample; step is called between any two items. */
static inline void sample_write(int directory, const char *name, struct sample_progress *finished,
                                void (*step)(void))
{
    struct trace_writer writer;
    static struct trace_stream streams[SAMPLE_STREAMS];

    sample_create(&writer, directory, name);
    if (!writer.mapped)
        sample_die("no file system here whose traces are mapped");
    step();
    for (int i = 0; i < SAMPLE_STREAMS; i++)
        trace_stream_open(&streams[i], &writer, 0);
    for (unsigned item = 0; item < SAMPLE_ITEMS; item++) {
        sample_item(streams, item, finished);
        step();
    }
    sample_unrecorded(&writer, step);
    sample_requests(finished, step);
    for (int i = 0; i < SAMPLE_STREAMS; i++) {
        trace_stream_close(&streams[i]);
        step();
    }
    trace_writer_close(&writer);
    step();
}

static inline uint64_t digest_bytes(uint64_t digest, const void *data, size_t size)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ p[i]) * UINT64_C(0x100000001b3);
    return digest;
}

static inline uint64_t digest_signature(const struct trace_reader *reader, uint32_t stream,
                                        uint64_t digest, uint32_t id)
{
    const struct trace_signature *signature = trace_reader_signature(reader, stream, id);
    if (!signature)
        sample_die("a record of no signature");
    const struct trace_operation *operation =
        trace_reader_operation(reader, stream, signature->operation);
    if (!operation)
        sample_die("a signature of no operation");
    digest = digest_bytes(digest, operation->name, strlen(operation->name));
    return digest_bytes(digest, &signature->origin, sizeof *signature - sizeof(uint32_t));
}

static inline bool sample_is_poll(const struct trace_reader *reader, uint32_t stream, uint32_t id)
{
    const struct trace_signature *signature = trace_reader_signature(reader, stream, id);
    const struct trace_operation *operation =
        signature ? trace_reader_operation(reader, stream, signature->operation) : NULL;
    return operation && operation->kind == KIND_POLL;
}

/* An event is more than its beginning only where it cannot become a run. */
static inline uint64_t digest_event(const struct trace_reader *reader, uint32_t stream,
                                    const struct trace_event *event, uint32_t signature)
{
    uint64_t digest = digest_bytes(UINT64_C(0xcbf29ce484222325), &event->start, sizeof(uint64_t));
    if (!sample_is_poll(reader, stream, signature))
        digest = digest_bytes(digest, &event->end, sizeof(uint64_t));
    return digest_signature(reader, stream, digest, signature);
}

/* What a record says, as one number, but for how far a run of polls has come. */
static inline uint64_t digest_record(const struct trace_reader *reader,
                                     const struct trace_record *record)
{
    uint64_t digest = digest_bytes(UINT64_C(0xcbf29ce484222325), &record->type, 4);
    switch (record->type) {
    case RECORD_WINDOW:
        return digest_bytes(digest, record->window, sizeof *record->window);
    case RECORD_EVENT:
        return digest_event(reader, record->stream, &record->event, record->event.signature);
    case RECORD_POLLS:
        return digest_event(reader, record->stream, &record->polls.event, record->polls.first);
    case RECORD_SIGNATURE:
        return digest_signature(reader, record->stream, digest, record->signature_id);
    case RECORD_COMMUNICATOR: {
        const struct trace_communicator *c = &record->communicator;
        digest = digest_bytes(digest, &c->id, 5 * sizeof c->id);
        digest = digest_bytes(digest, &c->key, 2 * sizeof c->key);
        return digest_bytes(digest, c->runs, c->run_count * sizeof *c->runs);
    }
    case RECORD_SYNC:
        return digest_bytes(digest, &record->sync, sizeof record->sync);
    case RECORD_RESOLVE:
    case RECORD_SENDING:
    case RECORD_RECEIVING:
        return digest_bytes(digest, &record->message, sizeof record->message);
    case RECORD_COMPLETION:
        return digest_bytes(digest, record->completion.indices,
                            record->completion.count * sizeof(uint32_t));
    case RECORD_NAME:
        digest = digest_bytes(digest, &record->name.communicator, sizeof(uint32_t));
        return digest_bytes(digest, record->name.text, strlen(record->name.text));
    case RECORD_FAILED:
        return digest_bytes(digest, &record->error_class, sizeof record->error_class);
    case RECORD_PAUSE:
        digest = digest_bytes(digest, &record->pause.paused, sizeof record->pause.paused);
        return digest_bytes(digest, &record->pause.ticks, sizeof record->pause.ticks);
    }
    sample_die("a record of no type");
    return 0;
}

/* The polls that a record stands for. */
static inline uint64_t sample_count_polls(const struct trace_reader *reader,
                                          const struct trace_record *record)
{
    if (record->type == RECORD_EVENT)
        return sample_is_poll(reader, record->stream, record->event.signature);
    if (record->type != RECORD_POLLS)
        return 0;
    const struct trace_poll_run *run = &record->polls;
    uint64_t count = 0, end = run->event.start;
    for (size_t i = 0; i < run->count; i++) {
        if (!trace_reader_signature(reader, record->stream, run->polled[i].signature) ||
            run->polled[i].count > INT64_MAX - count || run->polled[i].busy > INT64_MAX - end)
            sample_die("a run of polls that should have been refused");
        count += run->polled[i].count;
        end += run->polled[i].busy;
    }
    if (run->count == 0 || run->event.end < run->event.start || run->event.end > INT64_MAX ||
        !trace_reader_signature(reader, record->stream, run->event.signature))
        sample_die("a run of polls that cannot be");
    return count;
}

/* Reads what was counted without an event; the number of such calls. */
static inline uint64_t sample_count_unrecorded(struct trace_reader *reader)
{
    struct trace_unrecorded unrecorded;
    uint64_t count = 0;
    for (uint32_t i = 0; i < trace_reader_unrecorded_count(reader); i++) {
        if (!trace_reader_unrecorded(reader, i, &unrecorded))
            continue;
        if (unrecorded.operation.name[0] == '\0' || unrecorded.count == 0 ||
            unrecorded.count > INT64_MAX || unrecorded.ticks > INT64_MAX)
            sample_die("a counted call that should have been refused");
        digest_bytes(0, &unrecorded, sizeof unrecorded);
        count += unrecorded.count;
    }
    return count;
}

static inline void sample_check_unrecorded(int directory, const char *name)
{
    struct trace_reader *reader;
    struct error err;
    if (trace_reader_open(&reader, directory, name, &err) < 0 ||
        sample_count_unrecorded(reader) != SAMPLE_UNRECORDED)
        sample_die("the sample has not what was counted in it");
    trace_reader_close(reader);
}

/* The records of a trace by stream, windows left out. */
struct sample_digests {
    size_t windows;
    size_t count[SAMPLE_STREAMS];
    uint64_t polls[SAMPLE_STREAMS];
    uint64_t *list[SAMPLE_STREAMS]; /* malloc'ed, SAMPLE_MAX each */
};

enum { SAMPLE_MAX = 100000 };

/* Reads all of a trace; false with err if anything about it is wrong. */
static inline bool sample_read(int directory, const char *name, struct sample_digests *digests,
                               struct error *err)
{
    struct trace_reader *reader;
    struct trace_record record;
    int status;

    digests->windows = 0;
    memset(digests->count, 0, sizeof digests->count);
    memset(digests->polls, 0, sizeof digests->polls);
    if (trace_reader_open(&reader, directory, name, err) < 0)
        return false;
    while ((status = trace_reader_next(reader, &record, err)) > 0) {
        if (record.stream >= SAMPLE_STREAMS)
            sample_die("a stream that was never opened");
        uint64_t digest = digest_record(reader, &record);
        if (record.type == RECORD_WINDOW) {
            digests->windows++;
            continue;
        }
        digests->polls[record.stream] += sample_count_polls(reader, &record);
        if (!digests->list[record.stream])
            digests->list[record.stream] = malloc(SAMPLE_MAX * sizeof(uint64_t));
        if (digests->count[record.stream] == SAMPLE_MAX)
            sample_die("more records than were written");
        digests->list[record.stream][digests->count[record.stream]++] = digest;
    }
    trace_reader_close(reader);
    return status == 0;
}

/* True if found is what expected begins with: at least what is finished, and at most one record and
 * one poll more. */
static inline bool sample_is_prefix(const struct sample_digests *found,
                                    const struct sample_digests *expected,
                                    const struct sample_progress *finished)
{
    for (int i = 0; i < SAMPLE_STREAMS; i++) {
        size_t n = found->count[i];
        if (n < finished->records[i] || n > finished->records[i] + 1 || n > expected->count[i])
            return false;
        if (n && memcmp(found->list[i], expected->list[i], n * sizeof *found->list[i]) != 0)
            return false;
        if (found->polls[i] < finished->polls[i] || found->polls[i] > finished->polls[i] + 1)
            return false;
    }
    return true;
}

/* True if found is all that was written. */
static inline bool sample_is_whole(const struct sample_digests *found,
                                   const struct sample_progress *finished)
{
    for (int i = 0; i < SAMPLE_STREAMS; i++) {
        if (found->count[i] != finished->records[i] || found->polls[i] != finished->polls[i])
            return false;
    }
    return true;
}

#endif
