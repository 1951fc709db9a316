/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_list counts|labels|polls|unrecorded|state|nesting TRACE: what a test wants to know of a trace, as text.
 *
 *     counts    OPERATION COUNT, sorted, without MPI_Init and MPI_Finalize
 *     labels    each event in order: operation kind bytes peer root tag comm origin, then what was
 *               told of it: resolved SOURCE TAG BYTES [INDEX], failed CLASS; paused and resumed
 *     polls     polls that found nothing: operation kind bytes peer root tag comm origin COUNT, in
 *               order of the first; then the number of events they are
 *     unrecorded  calls that found no room: operation kind bytes peer root tag comm origin COUNT
 *     state     phase, reason it stopped for, dropped events, streams
 *     nesting   each event in order: its depth, operation
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/trace_reader.h"

enum { EVENTS_MAX = 2000000 };

struct listed {
    char name[TRACE_NAME_MAX + 1];
    uint32_t stream;
    uint64_t start, end;
};

static struct listed *events;
static size_t event_count;
static struct trace_reader *reader;

static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct listed *)x)->name, ((const struct listed *)y)->name);
}

static void counts(void)
{
    qsort(events, event_count, sizeof *events, by_name);
    for (size_t i = 0, n; i < event_count; i += n) {
        const char *name = events[i].name;
        for (n = 1; i + n < event_count && strcmp(events[i + n].name, name) == 0; n++)
            ;
        if (strcmp(name, "init") != 0 && strcmp(name, "init_thread") != 0 &&
            strcmp(name, "finalize") != 0)
            printf("%s %zu\n", name, n);
    }
}

static void nesting(void)
{
    for (size_t i = 0; i < event_count; i++) {
        int depth = 0;
        for (size_t k = 0; k < event_count; k++)
            depth += k != i && events[k].stream == events[i].stream &&
                     events[k].start <= events[i].start && events[k].end >= events[i].end;
        printf("%d %s\n", depth, events[i].name);
    }
}

static void state(void)
{
    const struct trace_state *s = trace_reader_state(reader);
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < trace_reader_header(reader)->slot_count; i++)
        dropped += trace_reader_slots(reader)[i].dropped;
    printf("phase %u stopped %u dropped %llu streams %u\n", s->phase, s->stopped,
           (unsigned long long)dropped, trace_reader_stream_count(reader));
}

static void print_signature(uint32_t stream, uint32_t id)
{
    const struct trace_signature *s = trace_reader_signature(reader, stream, id);
    const struct trace_operation *operation = trace_reader_operation(reader, stream, s->operation);
    const char *origin = trace_reader_origin(reader, stream, s);
    printf("%s %s %lld %d %d %d %d %s", operation->name, mpi_kind_word(operation->kind),
           (long long)s->bytes, s->peer, s->root, s->tag, s->communicator, origin ? origin : "-");
}

/* What was told of the event that comes next. */
static char told[4096];

static void tell(const struct trace_record *record)
{
    size_t length = strlen(told);
    char *end = told + length;
    if (record->type == RECORD_FAILED)
        snprintf(end, sizeof told - length, " failed %d", record->error_class);
    if (record->type != RECORD_RESOLVE && record->type != RECORD_SENDING &&
        record->type != RECORD_RECEIVING)
        return;
    const struct trace_message *message = &record->message;
    length += (size_t)snprintf(end, sizeof told - length, " %s %lld %lld %lld",
                               record->type == RECORD_RESOLVE   ? "resolved"
                               : record->type == RECORD_SENDING ? "sending"
                                                                : "receiving",
                               (long long)message->peer, (long long)message->tag,
                               (long long)message->bytes);
    if (message->index >= 0)
        snprintf(told + length, sizeof told - length, " %lld", (long long)message->index);
}

static void label(const struct trace_record *record)
{
    tell(record);
    if (record->type == RECORD_PAUSE)
        printf("%s\n", record->pause.paused ? "paused" : "resumed");
    if (record->type != RECORD_EVENT)
        return;
    print_signature(record->stream, record->event.signature);
    printf("%s\n", told);
    *told = '\0';
}

enum { POLLED_MAX = 64 };
static struct {
    uint32_t signature;
    uint64_t count;
} polled[POLLED_MAX];
static size_t polled_count, poll_events;

static void count_polls(uint32_t signature, uint64_t count)
{
    size_t i = 0;
    while (i < polled_count && polled[i].signature != signature)
        i++;
    if (i == POLLED_MAX)
        exit(1);
    polled[i].signature = signature;
    polled[i].count += count;
    polled_count += i == polled_count;
}

/* Of programs with one stream. */
static void poll(const struct trace_record *record)
{
    const struct trace_signature *s;
    if (record->type == RECORD_POLLS) {
        poll_events++;
        for (size_t i = 0; i < record->polls.count; i++)
            count_polls(record->polls.polled[i].signature, record->polls.polled[i].count);
    }
    if (record->type != RECORD_EVENT)
        return;
    s = trace_reader_signature(reader, record->stream, record->event.signature);
    if (trace_reader_operation(reader, record->stream, s->operation)->kind == KIND_POLL) {
        poll_events++;
        count_polls(record->event.signature, 1);
    }
}

static void polls(void)
{
    for (size_t i = 0; i < polled_count; i++) {
        print_signature(0, polled[i].signature);
        printf(" %llu\n", (unsigned long long)polled[i].count);
    }
    printf("%zu\n", poll_events);
}

static void unrecorded(void)
{
    struct trace_unrecorded got;
    for (uint32_t i = 0; i < trace_reader_unrecorded_count(reader); i++) {
        if (!trace_reader_unrecorded(reader, i, &got))
            exit(1);
        printf("%s %s %lld %d %d %d %d %s %llu\n", got.operation.name,
               mpi_kind_word(got.operation.kind), (long long)got.bytes, got.peer, got.root, got.tag,
               got.communicator, got.origin.name[0] ? got.origin.name : "-",
               (unsigned long long)got.count);
    }
}

static void keep(const struct trace_record *record)
{
    const struct trace_signature *s =
        trace_reader_signature(reader, record->stream, record->event.signature);
    if (event_count == EVENTS_MAX)
        exit(1);
    events[event_count] = (struct listed){
        .stream = record->stream, .start = record->event.start, .end = record->event.end};
    strcpy(events[event_count++].name,
           trace_reader_operation(reader, record->stream, s->operation)->name);
}

int main(int argc, char **argv)
{
    struct trace_record record;
    struct error err;
    int status;

    if (argc != 3 || !(events = malloc(EVENTS_MAX * sizeof *events)))
        return 2;
    if (trace_reader_open(&reader, AT_FDCWD, argv[2], &err) < 0) {
        printf("%s\n", err.text);
        return 1;
    }
    while ((status = trace_reader_next(reader, &record, &err)) > 0) {
        if (strcmp(argv[1], "labels") == 0)
            label(&record);
        else if (strcmp(argv[1], "polls") == 0)
            poll(&record);
        if (record.type == RECORD_EVENT)
            keep(&record);
    }
    if (status < 0)
        printf("%s\n", err.text);
    if (strcmp(argv[1], "counts") == 0)
        counts();
    else if (strcmp(argv[1], "polls") == 0)
        polls();
    else if (strcmp(argv[1], "unrecorded") == 0)
        unrecorded();
    else if (strcmp(argv[1], "nesting") == 0)
        nesting();
    else if (strcmp(argv[1], "state") == 0)
        state();
    trace_reader_close(reader);
    free(events);
    return status < 0;
}
