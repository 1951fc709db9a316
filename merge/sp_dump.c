/* SPDX-License-Identifier: BSD-3-Clause */
/* sp-dump: prints rank traces so that people can read them. */
#define _GNU_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/clock.h"
#include "merge/likwid_text.h"
#include "merge/live_view.h"
#include "merge/outstanding.h"
#include "schema/region_label.h"
#include "schema/streams.h"
#include "schema/trace_reader.h"

const char *argp_program_version = "sp-dump (scope-profile) " PACKAGE_VERSION;

enum {
    EXIT_ALL = 0,
    EXIT_PART = 1,
    EXIT_NOTHING = 2,
    EXIT_CANNOT_WRITE = 3,
    EXIT_USAGE = 64,
};
enum { KEY_LIVE = 256, KEY_WATCH, KEY_JSON };
enum { WATCH_SECONDS = 2 };

struct settings {
    char **traces;
    int trace_count;
    bool header_only;
    uint64_t limit; /* of lines for each trace */
    bool live, json;
    unsigned watch; /* seconds; 0: once */
};

/* --- command line ------------------------------------------------------------------------------
 */

static const struct argp_option option_table[] = {
    {"header", 'H', NULL, 0, "Print the header alone", 0},
    {"lines", 'n', "LIMIT", 0, "Print at most LIMIT records of each trace, with --live ranks", 0},
    {"live", KEY_LIVE, NULL, 0, "Print what the ranks of a job that is running do right now", 1},
    {"watch", KEY_WATCH, "SECONDS", OPTION_ARG_OPTIONAL,
     "Like --live, every 2 seconds until the job has ended", 1},
    {"json", KEY_JSON, NULL, 0, "With --live: print JSON, times in ns", 1},
    {0},
};

static unsigned parse_seconds(const char *text, struct argp_state *state)
{
    char *end;
    errno = 0;
    unsigned long seconds = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || seconds == 0 || seconds > 86400)
        argp_error(state, "--watch needs a number of seconds, not \"%s\"", text);
    return (unsigned)seconds;
}

static void check_arguments(const struct settings *settings, struct argp_state *state)
{
    if (settings->live && settings->header_only)
        argp_error(state, "--header does not go with --live");
    if (settings->json && !settings->live)
        argp_error(state, "--json goes with --live");
    if (settings->live && settings->trace_count > 1)
        argp_error(state, "one directory at a time, please; \"%s\" is another",
                   settings->traces[1]);
    if (!settings->live && settings->trace_count == 0)
        argp_error(state, "which trace?");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct settings *settings = state->input;
    char *end;
    switch (key) {
    case 'H':
        settings->header_only = true;
        return 0;
    case 'n':
        errno = 0;
        settings->limit = strtoull(argument, &end, 10);
        if (*argument < '0' || *argument > '9' || *end || errno)
            argp_error(state, "-n needs a number, not \"%s\"", argument);
        return 0;
    case KEY_WATCH:
        settings->watch = argument ? parse_seconds(argument, state) : WATCH_SECONDS;
        settings->live = true;
        return 0;
    case KEY_LIVE:
        settings->live = true;
        return 0;
    case KEY_JSON:
        settings->json = true;
        return 0;
    case ARGP_KEY_ARGS:
        settings->traces = state->argv + state->next;
        settings->trace_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_END:
        check_arguments(settings, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void parse_command_line(int argc, char **argv, struct settings *settings)
{
    static const struct argp parser = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "TRACE...\n--live [DIRECTORY]",
        .doc = "Print rank traces (RUNDIR/WORLD/rank-000000.sptrace). Each line of a call has its "
               "start in seconds since the trace began, its duration in seconds, the thread, and "
               "the call; comm= is the rank's own number of a communicator.\n\nWith --live, print "
               "for each rank of a running job in which MPI call it is, with whom, and for how "
               "long. DIRECTORY is the job's run directory (scope-profile-JOB.STEP), or the one "
               "it is in: then the newest is taken. Traces are only read; the job does not "
               "notice.\vExit status: 0 printed, 1 printed up to a damaged place, or without some "
               "ranks, 2 nothing could be read, 3 cannot write, 64 usage.",
    };
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, settings);
}

/* --- the header --------------------------------------------------------------------------------
 */

/* Prints text from a file; control characters could do things to a terminal. */
static void print_field(const char *name, const char *text)
{
    printf("%-14s ", name);
    for (; *text; text++)
        putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
    putchar('\n');
}

static const char *word(const char *const *words, size_t count, uint32_t number)
{
    return number < count && words[number] ? words[number] : "unknown";
}
#define WORD(words, number) word(words, sizeof(words) / sizeof(*(words)), number)

static void print_header(const struct trace_reader *reader)
{
    static const char *const families[] = {"unknown", "Open MPI", "MPICH", "MPI standard ABI"};
    static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
    static const char *const clocks[] = {"monotonic", "tsc", "cntvct"};
    static const char *const phases[] = {NULL, "opened", "in MPI", "finalising", "closed"};
    static const char *const stops[] = {"no",        "size limit", "no space", "file size limit",
                                        "no memory", "I/O error"};
    const struct trace_header *header = trace_reader_header(reader);
    const struct trace_state *state = trace_reader_state(reader);
    printf("%-14s %" PRIu16 ".%" PRIu16 "\n", "format", header->major, header->minor);
    printf("%-14s %" PRIu32 " of %" PRIu32 "\n", "rank", header->rank, header->world_size);
    print_field("job", header->job);
    print_field("world", header->world);
    printf("%-14s %" PRIu32 "\n", "world number", header->world_sequence);
    print_field("host", header->host);
    print_field("node", header->node);
    print_field("host key", header->host_key);
    printf("%-14s %" PRId32 "\n", "pid", header->pid);
    print_field("MPI", WORD(families, header->family));
    print_field("MPI version", header->mpi_version);
    print_field("threads", WORD(levels, (uint32_t)header->thread_level));
    printf("%-14s %s >> %" PRIu32 "\n", "clock", WORD(clocks, header->clock_source),
           header->clock_shift);
    print_field("windows", header->flags & TRACE_BUFFERED ? "written when full" : "mapped");
    print_field("state", WORD(phases, state->phase));
    print_field("stopped", WORD(stops, state->stopped));
    const struct trace_slot *slots = trace_reader_slots(reader);
    for (uint32_t i = 0; i < header->slot_count; i++) {
        if (slots[i].dropped > 0)
            printf("%-14s %" PRIu64 " calls of slot %" PRIu32 "\n", "dropped", slots[i].dropped, i);
    }
}

/* --- records -----------------------------------------------------------------------------------
 */

struct dump {
    struct trace_reader *reader;
    struct clock clock;
    bool has_clock; /* else times are ticks */
    int64_t zero_ns;
    size_t hint;
};

/* First pass: the sync points, so that times can be printed in the second. */
static int learn_clock(struct dump *dump, struct error *err)
{
    const struct trace_header *header = trace_reader_header(dump->reader);
    const struct trace_state *state = trace_reader_state(dump->reader);
    struct trace_record record;
    int status = clock_add(&dump->clock, &header->first_sync);
    if (status == 0 && state->last_sync.ticks)
        status = clock_add(&dump->clock, &state->last_sync);
    int next = 0;
    while (status == 0 && (next = trace_reader_next(dump->reader, &record, NULL)) != 0) {
        if (next > 0 && record.type == RECORD_WINDOW)
            status = clock_add(&dump->clock, &record.window->sync);
        else if (next > 0 && record.type == RECORD_SYNC)
            status = clock_add(&dump->clock, &record.sync);
    }
    trace_reader_rewind(dump->reader);
    if (status < 0)
        return error_set(err, "out of memory");
    dump->has_clock =
        clock_settle(&dump->clock, header->clock_source, header->clock_shift, NULL) == 0;
    if (dump->has_clock)
        dump->zero_ns = clock_ns(&dump->clock, header->first_sync.ticks, &dump->hint);
    return 0;
}

static void print_time(struct dump *dump, uint64_t ticks)
{
    if (!dump->has_clock) {
        printf("%20" PRIu64 " ticks ", ticks);
        return;
    }
    int64_t ns = clock_ns(&dump->clock, ticks, &dump->hint) - dump->zero_ns;
    printf("%16.9f ", 1e-9 * (double)ns);
}

static int64_t span_ns(struct dump *dump, uint64_t start, uint64_t end)
{
    return clock_ns(&dump->clock, end, &dump->hint) - clock_ns(&dump->clock, start, &dump->hint);
}

static void print_span(struct dump *dump, uint64_t start, uint64_t end)
{
    if (dump->has_clock)
        printf("%12.9f ", 1e-9 * (double)span_ns(dump, start, end));
    else
        printf("%12" PRIu64 " ", end - start);
}

static void print_label(const struct trace_reader *reader, uint32_t stream, uint32_t id)
{
    char text[REGION_LABEL_SIZE];
    const struct trace_signature *signature = trace_reader_signature(reader, stream, id);
    const struct trace_operation *operation =
        signature ? trace_reader_operation(reader, stream, signature->operation) : NULL;
    if (!operation) {
        printf("signature %" PRIu32, id);
        return;
    }
    struct region_label label = {
        .operation = operation->name,
        .request = trace_reader_origin(reader, stream, signature),
        .kind = operation->kind,
        .bytes = signature->bytes,
        .peer = signature->peer,
        .root = signature->root,
        .tag = signature->tag,
        .communicator = signature->communicator,
    };
    region_label_print(&label, text);
    fputs(text, stdout);
}

/* Begins a line for what is no call: it has no time of its own. */
static void print_note(uint32_t stream, const char *name)
{
    printf("%16s %12s %4" PRIu32 " %s ", "", "", stream, name);
}

static void print_communicator(uint32_t stream, const struct trace_communicator *communicator)
{
    print_note(stream, "communicator");
    printf("%" PRIu32 ": rank %" PRIu32 " of %" PRIu32 "%s, parent %" PRId32 ", key %#" PRIx64
           ", handle %#" PRIx64 ", world ranks",
           communicator->id, communicator->rank, communicator->size,
           communicator->kind == COMMUNICATOR_INTER ? " (inter)" : "", communicator->parent,
           communicator->key, communicator->handle);
    for (uint32_t i = 0; i < communicator->run_count; i++)
        printf(" %" PRIu32 "+%" PRIu32 "x%" PRId32, communicator->runs[i].first,
               communicator->runs[i].count, communicator->runs[i].stride);
    putchar('\n');
}

static void print_sync(struct dump *dump, uint32_t stream, const struct trace_sync *sync)
{
    print_time(dump, sync->ticks);
    printf("%12s %4" PRIu32 " sync ticks %" PRIu64 " monotonic %" PRId64 " realtime %" PRId64 "\n",
           "", stream, sync->ticks, sync->monotonic_ns, sync->realtime_ns);
}

static void print_window(struct dump *dump, uint32_t stream, const struct trace_window *window)
{
    print_time(dump, window->first_ticks);
    printf("%12s %4" PRIu32 " window %" PRIu32 " of %" PRIu32 " bytes, thread %" PRId32 "\n", "",
           stream, window->sequence, window->size, window->thread_id);
}

static void print_event(struct dump *dump, uint32_t stream, const struct trace_event *event)
{
    print_time(dump, event->start);
    print_span(dump, event->start, event->end);
    printf("%4" PRIu32 " ", stream);
    print_label(dump->reader, stream, event->signature);
}

/* How many polls there were, and how long all of them took. */
static void print_counts(struct dump *dump, uint64_t start, uint64_t count, uint64_t busy)
{
    printf("%" PRIu64 " %s, busy ", count, count == 1 ? "poll" : "polls");
    if (dump->has_clock)
        printf("%.9f s", 1e-9 * (double)span_ns(dump, start, start + busy));
    else
        printf("%" PRIu64 " ticks", busy);
}

/* The run as the event that it is; where its polls were of several signatures, each on a line. */
static void print_polls(struct dump *dump, uint32_t stream, const struct trace_poll_run *run)
{
    uint64_t start = run->event.start, count = 0, busy = 0;
    for (size_t i = 0; i < run->count; i++) {
        count += run->polled[i].count;
        busy += run->polled[i].busy;
    }
    print_event(dump, stream, &run->event);
    fputs(": ", stdout);
    print_counts(dump, start, count, busy);
    putchar('\n');
    for (size_t i = 0; run->count > 1 && i < run->count; i++) {
        print_note(stream, "polled");
        print_counts(dump, start, run->polled[i].count, run->polled[i].busy);
        fputs(": ", stdout);
        print_label(dump->reader, stream, run->polled[i].signature);
        putchar('\n');
    }
}

static void print_message(uint32_t stream, const struct trace_record *record)
{
    const struct trace_message *message = &record->message;
    bool sends = record->type == RECORD_SENDING;
    print_note(stream, sends ? "sends" : record->type == RECORD_RESOLVE ? "received" : "receives");
    if (message->index >= 0)
        printf("request %" PRId64 " ", message->index);
    printf("%s %" PRId64 " tag %" PRId64 " bytes %" PRId64 "\n", sends ? "dest" : "source",
           message->peer, message->tag, message->bytes);
}

static void print_pause(struct dump *dump, const struct trace_record *record)
{
    print_time(dump, record->pause.ticks);
    printf("%12s %4" PRIu32 " recording %s\n", "", record->stream,
           record->pause.paused ? "pauses" : "goes on");
}

static void print_record(struct dump *dump, const struct trace_record *record)
{
    uint32_t stream = record->stream;
    switch (record->type) {
    case RECORD_WINDOW:
        print_window(dump, stream, record->window);
        return;
    case RECORD_EVENT:
        print_event(dump, stream, &record->event);
        putchar('\n');
        return;
    case RECORD_POLLS:
        print_polls(dump, stream, &record->polls);
        return;
    case RECORD_SIGNATURE:
        print_note(stream, "signature");
        printf("%" PRIu32 ": ", record->signature_id);
        print_label(dump->reader, stream, record->signature_id);
        putchar('\n');
        return;
    case RECORD_COMMUNICATOR:
        print_communicator(stream, &record->communicator);
        return;
    case RECORD_SYNC:
        print_sync(dump, stream, &record->sync);
        return;
    case RECORD_RESOLVE:
    case RECORD_SENDING:
    case RECORD_RECEIVING:
        print_message(stream, record);
        return;
    case RECORD_COMPLETION:
        print_note(stream, "completed");
        for (size_t i = 0; i < record->completion.count; i++)
            printf("%s%" PRIu32, i ? " " : "", record->completion.indices[i]);
        putchar('\n');
        return;
    case RECORD_NAME:
        print_note(stream, "communicator");
        printf("%" PRIu32 ": name %s\n", record->name.communicator, record->name.text);
        return;
    case RECORD_FAILED:
        print_note(stream, "failed");
        printf("error class %" PRId32 "\n", record->error_class);
        return;
    case RECORD_PAUSE:
        print_pause(dump, record);
        return;
    }
}

/* Prints what can be read; damaged places go to stderr. Returns an exit status. */
static int print_records(struct dump *dump, uint64_t limit)
{
    struct trace_record record;
    struct error err;
    int status, result = EXIT_ALL;
    while (limit > 0 && !ferror(stdout) &&
           (status = trace_reader_next(dump->reader, &record, &err)) != 0) {
        if (status > 0) {
            print_record(dump, &record);
            limit--;
            continue;
        }
        fflush(stdout);
        fprintf(stderr, "sp-dump: %s\n", err.text);
        result = EXIT_PART;
    }
    return result;
}

/* The calls the rank was in when the trace ended. */
static void print_in_flight(struct dump *dump)
{
    const struct trace_header *header = trace_reader_header(dump->reader);
    const struct trace_slot *slots = trace_reader_slots(dump->reader);
    if (trace_reader_state(dump->reader)->phase == PHASE_CLOSED)
        return;
    for (uint32_t i = 0; i < header->slot_count; i++) {
        if (slots[i].stream == 0 || slots[i].signature == 0)
            continue;
        print_time(dump, slots[i].start);
        printf("%12s %4" PRIu32 " ", "in flight", slots[i].stream - 1);
        print_label(dump->reader, slots[i].stream - 1, slots[i].signature - 1);
        putchar('\n');
    }
}

/* The requests that the rank had not got back. Communicators have the numbers of the trace. */
static void print_outstanding(const struct dump *dump)
{
    struct outstanding *outstanding;
    if (trace_reader_state(dump->reader)->phase == PHASE_CLOSED ||
        outstanding_read(&outstanding, dump->reader) < 0)
        return;
    char *text = outstanding_text(outstanding);
    if (text && text[0])
        printf("%16s %12s      %s\n", "", "outstanding", text);
    free(text);
    free(outstanding);
}

/* The calls that were counted where there was no room for their events. */
static void print_unrecorded(struct dump *dump)
{
    uint64_t zero = trace_reader_header(dump->reader)->first_sync.ticks;
    uint32_t places = trace_reader_unrecorded_count(dump->reader);
    struct trace_unrecorded counted;
    bool is_first = true;
    for (uint32_t i = 0; i < places; i++) {
        char text[REGION_LABEL_SIZE];
        if (!trace_reader_unrecorded(dump->reader, i, &counted))
            continue;
        if (is_first)
            printf("\n%16s %12s      counted, not recorded\n", "calls", "total [s]");
        is_first = false;
        struct region_label label = {
            .operation = counted.operation.name,
            .request = counted.origin.name[0] ? counted.origin.name : NULL,
            .kind = counted.operation.kind,
            .bytes = counted.bytes,
            .peer = counted.peer,
            .root = counted.root,
            .tag = counted.tag,
            .communicator = counted.communicator,
        };
        region_label_print(&label, text);
        printf("%16" PRIu64 " ", counted.count);
        print_span(dump, zero, zero + counted.ticks);
        printf("     %s\n", text);
    }
}

static int dump_trace(const struct settings *settings, const char *path)
{
    struct dump dump = {0};
    struct error err;
    if (trace_reader_open(&dump.reader, AT_FDCWD, path, &err) < 0) {
        fflush(stdout);
        fprintf(stderr, "sp-dump: %s\n", err.text);
        return EXIT_NOTHING;
    }
    int status = EXIT_ALL;
    if (settings->trace_count > 1)
        print_field("trace", path);
    print_header(dump.reader);
    if (settings->header_only)
        goto done;
    if (learn_clock(&dump, &err) < 0) {
        fprintf(stderr, "sp-dump: %s: %s\n", path, err.text);
        status = EXIT_PART;
        goto done;
    }
    printf("\n%16s %12s %4s\n", "start [s]", "duration [s]", "thr");
    status = print_records(&dump, settings->limit);
    if (settings->limit == UINT64_MAX) {
        print_in_flight(&dump);
        print_outstanding(&dump);
        print_unrecorded(&dump);
        if (likwid_text_print(stdout, path) < 0)
            status = EXIT_PART;
    }
done:
    clock_release(&dump.clock);
    trace_reader_close(dump.reader);
    return status;
}

/* Several traces: something was read, or not; all of it, or not. */
static int combine(int status, int next, bool first)
{
    if (first || status == next)
        return next;
    return EXIT_PART;
}

static int dump_traces(const struct settings *settings)
{
    int status = EXIT_ALL;
    for (int i = 0; i < settings->trace_count && !ferror(stdout); i++) {
        if (i > 0)
            putchar('\n');
        status = combine(status, dump_trace(settings, settings->traces[i]), i == 0);
    }
    return status;
}

static int show_live(const struct settings *settings)
{
    struct live_view view = {.path = settings->trace_count ? settings->traces[0] : ".",
                             .limit = settings->limit,
                             .json = settings->json,
                             .seconds = settings->watch};
    return (int)live_view_show(&view);
}

int main(int argc, char **argv)
{
    struct settings settings = {.limit = UINT64_MAX};
    streams_prepare();
    streams_check_at_exit();
    parse_command_line(argc, argv, &settings);
    int status = settings.live ? show_live(&settings) : dump_traces(&settings);
    if (streams_finish() == 0)
        return status;
    fputs("sp-dump: cannot write to standard output\n", stderr);
    return EXIT_CANNOT_WRITE;
}
