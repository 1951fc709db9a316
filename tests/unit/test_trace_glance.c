/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace tells to those who do not read all of it: slots, definitions, ends of streams. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "schema/trace_reader.h"
#include "schema/trace_writer.h"

static const char name[] = "rank-000000.sptrace";
static char path[] = "/tmp/sp-glance-XXXXXX";
static int directory;
static uint64_t now; /* ticks, which are ns */
static struct trace_writer writer;
static struct trace_stream streams[2];
static struct error err;

static void read_clocks(struct trace_sync *sync)
{
    *sync = (struct trace_sync){now, (int64_t)now, (int64_t)now};
}

static void begin(void)
{
    struct trace_header header = {.world_size = 1};
    now = 1000;
    cr_assert(mkdtemp(path));
    directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    read_clocks(&header.first_sync);
    cr_assert_eq(trace_writer_create(&writer, directory, name, &header, UINT64_C(1) << 40,
                                     read_clocks, &err),
                 0, "%s", err.text);
    for (int i = 0; i < 2; i++)
        trace_stream_open(&streams[i], &writer, now);
}

static void end(void)
{
    unlinkat(directory, name, 0);
    rmdir(path);
    close(directory);
}

static struct trace_reader *reader_of_it(void)
{
    struct trace_reader *reader;
    cr_assert_eq(trace_reader_open(&reader, directory, name, &err), 0, "%s", err.text);
    return reader;
}

static uint32_t define(struct trace_stream *stream, const char *operation, int32_t peer)
{
    struct trace_signature signature = {
        .operation = trace_stream_operation(stream, KIND_POINT_TO_POINT, operation),
        .peer = peer,
        .root = -1,
        .tag = 7};
    return trace_stream_signature(stream, &signature);
}

static void call(struct trace_stream *stream, uint32_t signature)
{
    trace_stream_event(stream, signature, now + 3, now + 10);
    now += 10;
}

/* --- slots -------------------------------------------------------------------------------------
 */

Test(slots, a_call_in_flight_is_seen_with_its_start, .init = begin, .fini = end)
{
    trace_slot_show(streams[1].slot, 6, 4711);
    struct trace_reader *reader = reader_of_it();
    const struct trace_slot *slots = trace_reader_slots(reader);
    cr_expect_eq(slots[0].stream, 1);
    cr_expect_eq(slots[0].signature, 0);
    cr_expect_eq(slots[1].stream, 2);
    cr_expect_eq(slots[1].signature, 6);
    cr_expect_eq(slots[1].start, 4711);
    cr_expect_eq(slots[2].stream, 0);
    trace_reader_close(reader);
}

Test(slots, a_thread_outside_is_seen_with_since_when, .init = begin, .fini = end)
{
    trace_slot_show(streams[0].slot, 6, 4711);
    trace_slot_clear(streams[0].slot, 4720);
    struct trace_reader *reader = reader_of_it();
    cr_expect_eq(trace_reader_slots(reader)[0].signature, 0);
    cr_expect_eq(trace_reader_slots(reader)[0].start, 4720);
    trace_reader_close(reader);
}

/* What a slot holds at each look at it: then the last one for good. */
static const struct moment {
    uint32_t signature;
    uint64_t start;
} * moments;
static size_t moment_count, looks;

/* The reader's, so that a call can come or go just when it looks. */
ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    if (moments && offset == TRACE_SLOT_OFFSET) {
        const struct moment *moment = &moments[looks < moment_count ? looks : moment_count - 1];
        trace_slot_show(streams[0].slot, moment->signature, moment->start);
        looks++;
    }
    return syscall(SYS_pread64, fd, data, size, offset);
}

static struct trace_slot read_moments(const struct moment *list, size_t count)
{
    moments = list;
    moment_count = count;
    looks = 0;
    struct trace_reader *reader = reader_of_it();
    struct trace_slot slot = trace_reader_slots(reader)[0];
    trace_reader_close(reader);
    moments = NULL;
    return slot;
}

static void check_moments(const struct moment *list, size_t count, uint32_t signature,
                          uint64_t start)
{
    struct trace_slot slot = read_moments(list, count);
    cr_expect_eq(slot.signature, signature);
    cr_expect_eq(slot.start, start);
}

Test(slots, a_start_is_that_of_the_call_it_is_shown_with, .init = begin, .fini = end)
{
    static const struct moment comes[] = {{0, 90}, {0, 100}, {6, 100}};
    static const struct moment goes[] = {{6, 100}, {0, 100}, {0, 120}};
    static const struct moment next[] = {{6, 100}, {6, 200}, {7, 200}};
    static const struct moment again[] = {{6, 100}, {6, 200}, {6, 300}, {7, 300}, {6, 400}};
    check_moments(comes, 3, 6, 100);
    check_moments(goes, 3, 0, 120);
    check_moments(next, 3, 7, 200);
    check_moments(again, 5, 6, 400);
}

Test(slots, a_thread_that_never_stays_is_in_no_call, .init = begin, .fini = end)
{
    static struct moment busy[1000];
    for (size_t i = 0; i < 1000; i++)
        busy[i] = (struct moment){1 + i % 2, 100 + i};
    cr_expect_eq(read_moments(busy, 1000).signature, 0);
}

/* --- definitions alone -------------------------------------------------------------------------
 */

/* Enough of everything for several windows; the last signature comes late. */
static void write_much(struct trace_stream *stream)
{
    static const int indices[] = {3, 1};
    struct trace_signature poll = {
        .operation = trace_stream_operation(stream, KIND_POLL, "test"), .peer = -1};
    uint32_t tests = trace_stream_signature(stream, &poll);
    uint32_t sends = define(stream, "send", 1);
    for (int i = 0; i < 100000; i++) {
        call(stream, sends);
        if (i % 1000 == 0)
            sends = define(stream, "send", i);
        if (i % 100 == 1)
            trace_stream_resolve(stream, &(struct trace_message){1, 2, 3, -1});
        if (i % 100 == 6)
            trace_stream_started(stream, i % 200 == 6, &(struct trace_message){1, 2, 3, 4});
        if (i % 100 == 2)
            trace_stream_completion(stream, indices, 2);
        if (i % 100 == 3)
            trace_stream_failed(stream, 13);
        if (i % 100 == 4)
            trace_stream_event(stream, sends, now - 1000, now);
        if (i % 100 == 5) {
            trace_run_begin(stream, tests, now, now + 1);
            trace_run_join(stream, tests, tests, now + 1, now + 2);
            now += 2;
        }
        if (i % 5000 == 6)
            trace_stream_sync(stream);
    }
}

static bool is_passed_over(enum record_type type)
{
    switch (type) {
    case RECORD_EVENT:
    case RECORD_POLLS:
    case RECORD_RESOLVE:
    case RECORD_SENDING:
    case RECORD_RECEIVING:
    case RECORD_COMPLETION:
    case RECORD_FAILED:
        return true;
    default:
        return false;
    }
}

Test(definitions, come_without_events_as_they_come_with_them, .init = begin, .fini = end)
{
    struct trace_record all, defining;
    for (int i = 0; i < 2; i++)
        write_much(&streams[i]);
    struct trace_reader *whole = reader_of_it(), *passing = reader_of_it();
    trace_reader_pass_events(passing);
    size_t count = 0;
    int status;
    while ((status = trace_reader_next(passing, &defining, &err)) > 0) {
        do {
            cr_assert_eq(trace_reader_next(whole, &all, &err), 1);
        } while (is_passed_over(all.type));
        cr_assert_eq(defining.type, all.type);
        cr_assert_eq(defining.stream, all.stream);
        count++;
        if (all.type == RECORD_SIGNATURE) {
            cr_assert_eq(defining.signature_id, all.signature_id);
            cr_assert_eq(
                trace_reader_signature(passing, all.stream, all.signature_id)->peer,
                trace_reader_signature(whole, all.stream, all.signature_id)->peer);
        }
    }
    cr_assert_eq(status, 0, "%s", err.text);
    cr_expect_geq(count, 200);
    while ((status = trace_reader_next(whole, &all, &err)) > 0)
        cr_expect(is_passed_over(all.type));
    cr_expect_eq(status, 0);
    trace_reader_close(whole);
    trace_reader_close(passing);
}

/* --- how a stream ends -------------------------------------------------------------------------
 */

/* What reading everything gives; from one window, or from all. */
static struct trace_ending ending_of(struct trace_reader *reader, uint32_t stream, bool all)
{
    struct trace_record record;
    struct trace_ending ending = {0};
    while (trace_reader_next(reader, &record, &err) > 0) {
        bool is_run = record.type == RECORD_POLLS;
        if (record.stream == stream && record.type == RECORD_WINDOW && !all)
            ending.count = 0;
        if (record.stream != stream || (record.type != RECORD_EVENT && !is_run))
            continue;
        const struct trace_event *event = is_run ? &record.polls.event : &record.event;
        if (ending.count == 0 || ending.signature != event->signature)
            ending = (struct trace_ending){.signature = event->signature, .start = event->start};
        ending.count += is_run ? record.polls.polled[0].count : 1;
        ending.is_run = is_run;
        ending.end = event->end;
    }
    trace_reader_rewind(reader);
    return ending;
}

static void check_ending(uint32_t stream)
{
    struct trace_reader *reader = reader_of_it();
    struct trace_ending expected = ending_of(reader, stream, true), ending;
    if (!expected.is_run)
        expected = ending_of(reader, stream, false);
    cr_assert(trace_reader_ending(reader, stream, &ending));
    cr_expect_not(ending.is_pause);
    cr_expect_eq(ending.is_run, expected.is_run);
    cr_expect_eq(ending.signature, expected.signature);
    cr_expect_eq(ending.count, expected.count, "%lu instead of %lu", (unsigned long)ending.count,
                 (unsigned long)expected.count);
    cr_expect_eq(ending.start, expected.start);
    cr_expect_eq(ending.end, expected.end);
    struct trace_record first;
    cr_assert_eq(trace_reader_next(reader, &first, &err), 1);
    cr_expect_eq(first.type, RECORD_WINDOW);
    cr_expect_eq(first.window->sequence, 0);
    trace_reader_close(reader);
}

Test(ending, is_what_reading_everything_gives, .init = begin, .fini = end)
{
    for (int i = 0; i < 2; i++)
        write_much(&streams[i]);
    check_ending(0);
    check_ending(1);
}

/* Runs of polls that are interrupted, as by other processes, but by no other call. */
static void poll_often(struct trace_stream *stream, int runs, uint32_t signature)
{
    for (int i = 0; i < runs; i++) {
        trace_run_begin(stream, signature, now, now + 1);
        if (!trace_run_join(stream, signature, signature, now + 1, now + 2))
            trace_run_begin(stream, signature, now + 1, now + 2);
        now += 50;
    }
}

Test(ending, polls_are_followed_back_through_windows, .init = begin, .fini = end)
{
    write_much(&streams[0]);
    write_much(&streams[1]);
    uint64_t start = now;
    poll_often(&streams[0], 40000, 0);
    struct trace_reader *reader = reader_of_it();
    struct trace_ending ending;
    cr_assert(trace_reader_ending(reader, 0, &ending));
    cr_expect_eq(ending.start, start);
    cr_expect_eq(ending.count, 80000);
    trace_reader_close(reader);
    check_ending(0);
    check_ending(1);
    call(&streams[0], define(&streams[0], "send", 1));
    check_ending(0);
}

Test(ending, polls_of_another_signature_are_others, .init = begin, .fini = end)
{
    write_much(&streams[0]);
    struct trace_signature other = {
        .operation = trace_stream_operation(&streams[0], KIND_POLL, "iprobe"), .peer = -1};
    poll_often(&streams[0], 20000, 0);
    poll_often(&streams[0], 20000, trace_stream_signature(&streams[0], &other));
    check_ending(0);
}

Test(ending, may_be_a_pause, .init = begin, .fini = end)
{
    struct trace_ending ending;
    call(&streams[0], define(&streams[0], "send", 1));
    trace_stream_pause(&streams[0], true, now + 5);
    struct trace_reader *reader = reader_of_it();
    cr_assert(trace_reader_ending(reader, 0, &ending));
    cr_expect(ending.is_pause);
    cr_expect_eq(ending.count, 0);
    cr_expect_eq(ending.start, now + 5);
    trace_reader_close(reader);
    trace_stream_pause(&streams[0], false, now + 9);
    reader = reader_of_it();
    cr_assert(trace_reader_ending(reader, 0, &ending));
    cr_expect_not(ending.is_pause);
    cr_expect_eq(ending.count, 0);
    cr_expect_eq(ending.end, now + 9);
    trace_reader_close(reader);
}

Test(ending, is_found_before_a_window_that_has_nothing_yet, .init = begin, .fini = end)
{
    struct trace_ending ending;
    call(&streams[0], define(&streams[0], "send", 1));
    cr_assert(trace_stream_turn(&streams[0], 0));
    struct trace_reader *reader = reader_of_it();
    cr_assert(trace_reader_ending(reader, 0, &ending));
    cr_expect_eq(ending.count, 1);
    cr_expect_eq(ending.end, now);
    cr_expect_not(trace_reader_ending(reader, 1, &ending), "a stream without a window");
    cr_expect_not(trace_reader_ending(reader, 4711, &ending), "a stream that is none");
    trace_reader_close(reader);
}

Test(ending, is_not_there_before_the_first_call, .init = begin, .fini = end)
{
    struct trace_ending ending;
    define(&streams[0], "send", 1);
    struct trace_reader *reader = reader_of_it();
    cr_expect_not(trace_reader_ending(reader, 0, &ending));
    trace_reader_close(reader);
}
