/* SPDX-License-Identifier: BSD-3-Clause */
/* Whoever looks at a trace finds the requests in flight in it, and they are told rightly. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "merge/outstanding.h"
#include "preload/request.h"
#include "schema/trace_writer.h"

static const char name[] = "rank-000000.sptrace";
static char path[] = "/dev/shm/sp-outstanding-XXXXXX";
static int directory;
static struct trace_writer writer;
static struct trace_stream stream;
static struct error err;
static struct trace_outstanding_list list;
static char array[64], elsewhere[1 << 20]; /* where the program keeps requests of one byte each */

enum { IRECV = 1, ISEND, SEND_INIT, OPERATIONS };
static const char *const names[OPERATIONS] = {NULL, "irecv", "isend", "send_init"};

static void read_clocks(struct trace_sync *sync)
{
    *sync = (struct trace_sync){1000, 1000, 1000};
}

static void *take(const struct trace_area *area)
{
    return trace_writer_area(&writer, area);
}

static void name_origin(uint32_t operation, struct trace_request_origin *origin)
{
    origin->kind = KIND_POINT_TO_POINT;
    strcpy(origin->name, names[operation]);
}

static void create(uint64_t limit)
{
    struct trace_header header = {.world_size = 1};
    cr_assert(mkdtemp(path));
    directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert_eq(trace_writer_create(&writer, directory, name, &header, limit, read_clocks, &err),
                 0, "%s", err.text);
    cr_assert(writer.mapped);
    trace_stream_open(&stream, &writer, 1000);
    request_use_areas(&(struct request_areas){.take = take, .name = name_origin});
}

static void begin(void)
{
    create(UINT64_C(1) << 40);
}

static void end(void)
{
    unlinkat(directory, name, 0);
    rmdir(path);
    close(directory);
}

TestSuite(outstanding, .init = begin, .fini = end);

static void start(uint64_t handle, const void *address, uint32_t operation, int32_t peer,
                  int32_t tag)
{
    struct request_origin origin = {
        .bytes = 8, .peer = peer, .tag = tag, .operation = operation};
    request_started(handle, address, request_origin_id(&origin));
}

/* The thread is in a call that completes the first `count` requests of the array. */
static void wait_for(size_t count)
{
    trace_slot_show(stream.slot, 1, 5000);
    trace_slot_show_requests(stream.slot, array, count, 5000);
}

static struct trace_reader *reader_of_it(void)
{
    struct trace_reader *reader;
    cr_assert_eq(trace_reader_open(&reader, directory, name, &err), 0, "%s", err.text);
    return reader;
}

static uint64_t read_list(void)
{
    struct trace_reader *reader = reader_of_it();
    uint64_t count = 0;
    cr_assert_eq(trace_outstanding_read(reader, &list), 0);
    trace_reader_close(reader);
    for (size_t i = 0; i < list.count; i++)
        count += list.rows[i].count;
    return count + list.others;
}

static void check_text(const char *expected)
{
    struct outstanding *outstanding;
    struct trace_reader *reader = reader_of_it();
    cr_assert_eq(outstanding_read(&outstanding, reader), 0);
    trace_reader_close(reader);
    char *text = outstanding_text(outstanding);
    cr_expect_str_eq(text, expected);
    free(text);
    free(outstanding);
}

/* --- what is told ------------------------------------------------------------------------------
 */

Test(outstanding, nothing_where_nothing_was_started)
{
    wait_for(4);
    cr_expect_eq(read_list(), 0);
    cr_expect_eq(list.count, 0);
    cr_expect_not(list.is_incomplete);
    check_text("");
}

Test(outstanding, what_the_call_waits_for_and_nothing_else)
{
    start(100, &array[0], IRECV, 1, 7);
    start(101, &array[1], ISEND, 3, 9);
    start(102, &array[2], ISEND, 3, 9);
    start(103, &array[3], IRECV, 2, 7);
    start(104, &elsewhere[0], IRECV, 5, 5);
    request_finished(103, &array[3]);
    wait_for(4);
    check_text("irecv from 1 (tag 7), 2 x isend to 3 (tag 9)");
    cr_expect_eq(read_list(), 4);
    cr_expect_eq(list.count, 3);
    const struct trace_outstanding *row = &list.rows[0];
    cr_expect(row->is_waited && row->count == 1 && row->peer == 1 && row->tag == 7 &&
              row->bytes == 8 && row->communicator == 0 && !row->has_completed);
    cr_expect_eq(row->operation.kind, KIND_POINT_TO_POINT);
    cr_expect_not(list.rows[2].is_waited);
    cr_expect_eq(list.rows[2].tag, 5);
}

/* A Fortran layer copies what it is given. */
Test(outstanding, all_where_the_call_has_copies)
{
    start(100, &elsewhere[0], IRECV, 1, 7);
    start(101, &elsewhere[1], SEND_INIT, 3, 9);
    wait_for(4);
    check_text("irecv from 1 (tag 7)");
    trace_slot_show(stream.slot, 1, 6000); /* another call, which completes none */
    check_text("irecv from 1 (tag 7)");
}

Test(outstanding, an_array_means_nothing_in_another_call)
{
    start(100, &array[0], IRECV, 1, 7);
    start(101, &elsewhere[0], IRECV, 2, 7);
    wait_for(1);
    check_text("irecv from 1 (tag 7)");
    trace_slot_show(stream.slot, 1, 6000);
    check_text("irecv from 1 (tag 7), irecv from 2 (tag 7)");
    trace_slot_clear(stream.slot, 7000);
    check_text("irecv from 1 (tag 7), irecv from 2 (tag 7)");
}

Test(outstanding, persistent_requests_are_told_where_they_are_waited_for)
{
    start(100, &array[0], SEND_INIT, 3, 9);
    check_text("");
    wait_for(1);
    check_text("send_init to 3 (tag 9)");
}

/* MPI gives the same handle to requests that have nothing to do any more. */
Test(outstanding, sends_that_share_a_handle_have_completed)
{
    for (int i = 0; i < 3; i++)
        start(7, &array[i], ISEND, i, 9);
    start(100, &array[3], IRECV, 1, 7);
    wait_for(4);
    check_text("irecv from 1 (tag 7), beside 3 that have completed");
    request_finished(7, &array[0]);
    request_finished(7, &array[2]);
    check_text("irecv from 1 (tag 7), beside 1 that has completed");
    request_finished(100, &array[3]);
    check_text("1 that has completed");
}

Test(outstanding, so_have_those_with_nobody)
{
    start(100, &array[0], IRECV, PEER_PROC_NULL, 7);
    wait_for(1);
    check_text("1 that has completed");
}

/* Of a receive we may have missed the end. */
Test(outstanding, receives_that_share_a_handle_are_told)
{
    start(7, &array[0], IRECV, 1, 7);
    start(7, &elsewhere[0], IRECV, 2, 7);
    wait_for(1);
    check_text("irecv from 1 (tag 7)");
}

Test(outstanding, who_moved_on_is_known)
{
    start(100, &array[0], IRECV, 1, 7);
    wait_for(1);
    struct trace_reader *reader = reader_of_it();
    cr_assert_eq(trace_outstanding_read(reader, &list), 0);
    cr_expect_not(list.has_moved_on);
    trace_slot_clear(stream.slot, 6000);
    cr_assert_eq(trace_outstanding_read(reader, &list), 0);
    cr_expect(list.has_moved_on);
    trace_reader_close(reader);
}

Test(outstanding, a_request_of_an_unknown_call_is_one)
{
    request_started(100, &array[0], REQUEST_ORIGIN_UNKNOWN);
    request_started(101, &array[1], 4711); /* no such origin is in the trace */
    wait_for(2);
    check_text("2 x unknown");
}

/* --- how much ----------------------------------------------------------------------------------
 */

Test(outstanding, a_list_is_bounded_and_counts_all)
{
    enum { MANY = 5000 };
    for (int i = 0; i < MANY; i++)
        start(100 + (uint64_t)i, &elsewhere[i], IRECV, i, 7);
    start(99, &array[0], IRECV, MANY, 7);
    wait_for(1);
    cr_expect_eq(read_list(), MANY + 1);
    cr_expect_eq(list.count, TRACE_OUTSTANDING_MAX);
    cr_expect_eq(list.rows[0].peer, MANY, "what is waited for is not lost among others");
    check_text("irecv from 5000 (tag 7)");
    trace_slot_clear(stream.slot, 6000);
    check_text("irecv from 0 (tag 7), irecv from 1 (tag 7), irecv from 2 (tag 7), "
               "irecv from 3 (tag 7), 4997 others");
}

Test(outstanding, threads_have_theirs_in_the_same_list)
{
    request_use_threads();
    for (int i = 0; i < 1000; i++)
        start(4096 * (uint64_t)i, &elsewhere[i], IRECV, 1, 7);
    cr_expect_eq(read_list(), 1000);
    cr_expect_eq(list.count, 1);
}

/* How many areas of a kind the trace has, and their bytes. */
static size_t count_areas(enum trace_area_kind kind, uint64_t *bytes)
{
    struct trace_reader *reader = reader_of_it();
    struct trace_area area;
    uint64_t offset = 0;
    size_t count = 0;
    *bytes = 0;
    while (trace_reader_area(reader, &offset, &area)) {
        cr_expect_eq(offset % TRACE_ALIGN, 0, "machines with pages of 64 KiB map it");
        count += area.kind == (uint32_t)kind;
        *bytes += area.kind == (uint32_t)kind ? area.size : 0;
    }
    trace_reader_close(reader);
    return count;
}

Test(outstanding, areas_are_few_and_little_larger_than_what_is_in_them)
{
    enum { MILLION = 1000000 };
    uint64_t bytes;
    for (int i = 0; i < MILLION; i++)
        start(100 + (uint64_t)i, &elsewhere[i], IRECV, 1, 7);
    cr_expect_eq(read_list(), MILLION);
    cr_expect_leq(count_areas(AREA_REQUESTS, &bytes), 150);
    cr_expect_leq(bytes, 32 * (uint64_t)MILLION + TRACE_WINDOW_MAX);
    cr_expect_eq(count_areas(AREA_ORIGINS, &bytes), 1);
    cr_expect_eq(bytes, TRACE_ALIGN);
}

/* --- no room -----------------------------------------------------------------------------------
 */

/* Starts and finishes many; the table does its work wherever its memory lies. */
static void check_table(int many)
{
    for (int i = 0; i < many; i++)
        start(100 + (uint64_t)i, &elsewhere[i], IRECV, i % 100, 7);
    for (int i = 0; i < many; i++) {
        uint32_t id = request_finished(100 + (uint64_t)i, &elsewhere[i]);
        cr_assert_eq(request_origin(id)->peer, i % 100);
    }
}

Test(outstanding_small, areas_leave_room_for_events, .fini = end)
{
    uint64_t requests, origins;
    create(UINT64_C(8) << 20);
    check_table(250000);
    start(100, &array[0], IRECV, 1, 7);
    count_areas(AREA_REQUESTS, &requests);
    count_areas(AREA_ORIGINS, &origins);
    cr_expect_leq(requests + origins, UINT64_C(2) << 20);
    cr_expect_eq(writer.state->stopped, STOP_NONE);
    read_list();
    cr_expect(list.is_incomplete, "and it is said that some are not in them");
}

Test(outstanding_small, without_any_room_all_is_kept_in_memory, .fini = end)
{
    create(TRACE_WINDOW_OFFSET);
    check_table(10000);
    start(100, &array[0], IRECV, 1, 7);
    cr_expect_eq(read_list(), 0);
    cr_expect(list.is_incomplete);
}

Test(outstanding, a_trace_that_is_not_mapped_has_none)
{
    writer.mapped = false;
    struct trace_area area = {.size = TRACE_ALIGN, .kind = AREA_REQUESTS};
    cr_expect_null(trace_writer_area(&writer, &area));
    writer.mapped = true;
    writer.header->flags = TRACE_BUFFERED;
    read_list();
    cr_expect(list.is_incomplete);
}

/* --- beside the records, and after them --------------------------------------------------------
 */

Test(outstanding, records_are_read_past_areas)
{
    struct trace_record record;
    struct trace_signature signature = {.operation = trace_stream_operation(&stream, 0, "send")};
    uint32_t id = trace_stream_signature(&stream, &signature);
    size_t events = 0;
    int status;
    start(100, &array[0], IRECV, 1, 7); /* areas behind the first window */
    for (int i = 0; i < 100000; i++)
        trace_stream_event(&stream, id, 1000, 1000);
    trace_stream_close(&stream);
    trace_writer_close(&writer);
    request_finished(100, &array[0]); /* of a thread that is late */
    start(101, &array[0], IRECV, 1, 7);
    for (int i = 0; i < 10000; i++)
        start(200, &elsewhere[i], IRECV, i, 7);
    struct trace_reader *reader = reader_of_it();
    while ((status = trace_reader_next(reader, &record, &err)) > 0)
        events += record.type == RECORD_EVENT;
    cr_expect_eq(status, 0, "%s", err.text);
    cr_expect_eq(events, 100000);
    trace_reader_close(reader);
}

Test(outstanding, a_child_leaves_the_requests_of_its_parent_alone)
{
    int status;
    for (int i = 0; i < 10; i++)
        start(100 + (uint64_t)i, &array[i], IRECV, 1, 7);
    pid_t child = fork();
    if (child == 0) {
        request_forked();
        bool is_empty = request_finished(100, &array[0]) == REQUEST_ORIGIN_UNKNOWN;
        start(500, &array[20], ISEND, 2, 8);
        start(501, &array[21], ISEND, 2, 99);
        is_empty = is_empty && request_count() == 2 &&
                   request_origin(request_finished(501, &array[21]))->tag == 99;
        _exit(is_empty ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0, "the child has its own table");
    cr_expect_eq(read_list(), 10);
    cr_expect_eq(list.count, 1);
    start(600, &array[11], ISEND, 2, 8);
    cr_expect_eq(read_list(), 11);
}
