/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace tells to those who do not read all of it: slots, definitions, the last event. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Killed between the two stores with which it came out of its call. */
Test(slots, a_call_without_a_start_is_over, .init = begin, .fini = end)
{
    trace_slot_show(streams[0].slot, 6, 0);
    struct trace_reader *reader = reader_of_it();
    cr_expect_eq(trace_reader_slots(reader)[0].signature, 0);
    trace_reader_close(reader);
}

static bool stopping;

/* Calls of signature 1 start and end at times with the last digit 1, those of 2 at such with 2. */
static void *come_and_go(void *slot)
{
    for (uint64_t n = 1; !__atomic_load_n(&stopping, __ATOMIC_RELAXED); n++) {
        uint32_t signature = 1 + n % 2;
        trace_slot_show(slot, signature, 100 * n + signature);
        trace_slot_show(slot, 0, 100 * n + 50 + signature);
    }
    return NULL;
}

Test(slots, a_start_is_that_of_the_call_it_is_shown_with, .init = begin, .fini = end)
{
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, come_and_go, streams[0].slot), 0);
    for (int i = 0; i < 3000; i++) {
        struct trace_reader *reader = reader_of_it();
        const struct trace_slot *slot = &trace_reader_slots(reader)[0];
        if (slot->signature)
            cr_assert_eq(slot->start % 10, slot->signature, "call %u started at %lu",
                         slot->signature, (unsigned long)slot->start);
        trace_reader_close(reader);
    }
    __atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
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
            trace_stream_resolve(stream, 1, 2, 3, -1);
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

/* --- the last event ----------------------------------------------------------------------------
 */

/* What reading everything gives as a stream's last event. */
static struct trace_record last_of(struct trace_reader *reader, uint32_t stream)
{
    struct trace_record record, last = {.type = RECORD_SYNC};
    while (trace_reader_next(reader, &record, &err) > 0) {
        if (record.stream == stream && (record.type == RECORD_EVENT || record.type == RECORD_POLLS))
            last = record;
    }
    trace_reader_rewind(reader);
    return last;
}

Test(last, is_what_reading_everything_gives, .init = begin, .fini = end)
{
    for (int i = 0; i < 2; i++)
        write_much(&streams[i]);
    struct trace_reader *reader = reader_of_it();
    for (uint32_t i = 0; i < 2; i++) {
        struct trace_record expected = last_of(reader, i), last;
        cr_assert(trace_reader_last(reader, i, &last));
        cr_expect_eq(last.type, RECORD_EVENT);
        cr_expect_eq(last.stream, i);
        cr_expect_eq(last.event.signature, expected.event.signature);
        cr_expect_eq(last.event.start, expected.event.start);
        cr_expect_eq(last.event.end, expected.event.end);
    }
    struct trace_record first;
    cr_assert_eq(trace_reader_next(reader, &first, &err), 1);
    cr_expect_eq(first.type, RECORD_WINDOW);
    cr_expect_eq(first.window->sequence, 0);
    trace_reader_close(reader);
}

Test(last, may_be_a_run_of_polls, .init = begin, .fini = end)
{
    struct trace_record last;
    write_much(&streams[0]);
    trace_run_begin(&streams[0], 0, now, now + 5);
    for (int i = 1; i < 3; i++)
        trace_run_join(&streams[0], (uint32_t)i - 1, 1, now + 10, now + 15);
    cr_assert(trace_run_count(&streams[0], 0, now + 20, now + 25));
    struct trace_reader *reader = reader_of_it();
    cr_assert(trace_reader_last(reader, 0, &last));
    cr_assert_eq(last.type, RECORD_POLLS);
    cr_expect_eq(last.polls.event.start, now);
    cr_expect_eq(last.polls.event.end, now + 25);
    cr_expect_eq(last.polls.event.signature, 1);
    cr_assert_eq(last.polls.count, 2);
    cr_expect_eq(last.polls.polled[0].count, 3);
    trace_reader_close(reader);
}

Test(last, may_be_a_pause, .init = begin, .fini = end)
{
    struct trace_record last;
    call(&streams[0], define(&streams[0], "send", 1));
    trace_stream_pause(&streams[0], true, now + 5);
    struct trace_reader *reader = reader_of_it();
    cr_assert(trace_reader_last(reader, 0, &last));
    cr_assert_eq(last.type, RECORD_PAUSE);
    cr_expect(last.pause.paused);
    trace_reader_close(reader);
}

Test(last, is_found_before_a_window_that_has_none_yet, .init = begin, .fini = end)
{
    struct trace_record last;
    call(&streams[0], define(&streams[0], "send", 1));
    cr_assert(trace_stream_turn(&streams[0], 0));
    struct trace_reader *reader = reader_of_it();
    cr_assert(trace_reader_last(reader, 0, &last));
    cr_assert_eq(last.type, RECORD_EVENT);
    cr_expect_eq(last.event.end, now);
    cr_expect_not(trace_reader_last(reader, 1, &last), "a stream without a window");
    cr_expect_not(trace_reader_last(reader, 4711, &last), "a stream that is none");
    trace_reader_close(reader);
}

Test(last, is_not_there_before_the_first_call, .init = begin, .fini = end)
{
    struct trace_record last;
    define(&streams[0], "send", 1);
    struct trace_reader *reader = reader_of_it();
    cr_expect_not(trace_reader_last(reader, 0, &last));
    trace_reader_close(reader);
}

/* --- mapped or not -----------------------------------------------------------------------------
 */

static bool is_buffered(void)
{
    struct trace_reader *reader = reader_of_it();
    bool buffered = trace_reader_is_buffered(reader);
    trace_reader_close(reader);
    return buffered;
}

Test(buffered, a_mapped_trace_is_not, .init = begin, .fini = end)
{
    cr_assert(writer.mapped, "no file system here whose traces are mapped");
    cr_expect_not(is_buffered(), "before the first window");
    write_much(&streams[0]);
    cr_expect_not(is_buffered());
    trace_stream_close(&streams[0]);
    cr_expect_not(is_buffered(), "with a closed stream at its end");
}

Test(buffered, one_that_is_written_window_by_window_is, .init = begin, .fini = end)
{
    writer.mapped = false;
    call(&streams[0], define(&streams[0], "send", 1));
    cr_expect(is_buffered());
    write_much(&streams[0]);
    trace_stream_flush(&streams[0]);
    cr_expect(is_buffered());
    trace_stream_close(&streams[0]);
    trace_writer_close(&writer);
    cr_expect_not(is_buffered(), "it is complete now");
}
