/* SPDX-License-Identifier: BSD-3-Clause */
/* What sp-dump --live makes of traces that are being written. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "merge/live.h"
#include "merge/live_group.h"
#include "merge/live_text.h"
#include "merge/run_choice.h"
#include "schema/exit_record.h"
#include "schema/trace_writer.h"

#define SECOND INT64_C(1000000000)

static const int64_t epoch = 1700000000 * SECOND; /* realtime when ticks are 0: 22:13:20 UTC */
static const int64_t now = 100 * SECOND;          /* ticks, which are ns, when it is looked at */

static char root[] = "/tmp/sp-live-XXXXXX";
static int world; /* directory */
static struct error err;
static int64_t clock_ns_now, realtime_shift;

static void read_clocks(struct trace_sync *sync)
{
    *sync = (struct trace_sync){(uint64_t)clock_ns_now, clock_ns_now,
                                epoch + clock_ns_now + realtime_shift};
}

static void begin(void)
{
    char path[64];
    setenv("TZ", "UTC", 1);
    cr_assert(mkdtemp(root));
    snprintf(path, sizeof(path), "%s/run", root);
    cr_assert_eq(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/run/w-0", root);
    cr_assert_eq(mkdir(path, 0755), 0);
    world = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert_geq(world, 0);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static void end(void)
{
    close(world);
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

TestSuite(live, .init = begin, .fini = end);

/* --- ranks that are being recorded -------------------------------------------------------------
 */

enum { STREAMS = 4 };

struct writing {
    struct trace_writer writer;
    struct trace_stream streams[STREAMS];
};

static void begin_rank(struct writing *rank, uint32_t number, uint32_t size, const char *host)
{
    char name[64];
    struct trace_header header = {.rank = number, .world_size = size, .job = "17.0"};
    snprintf(header.host, sizeof(header.host), "%s", host);
    snprintf(name, sizeof(name), "rank-%06" PRIu32 ".sptrace", number);
    clock_ns_now = SECOND;
    read_clocks(&header.first_sync);
    cr_assert_eq(trace_writer_create(&rank->writer, world, name, &header, UINT64_C(1) << 40,
                                     read_clocks, &err),
                 0, "%s", err.text);
    for (int i = 0; i < STREAMS; i++)
        rank->streams[i].writer = NULL;
    trace_stream_open(&rank->streams[0], &rank->writer, (uint64_t)clock_ns_now);
    trace_writer_initialised(&rank->writer, (uint64_t)clock_ns_now);
}

static uint32_t define(struct trace_stream *stream, enum mpi_kind kind, const char *operation,
                       int32_t peer, int32_t tag, int32_t communicator)
{
    struct trace_signature signature = {
        .operation = trace_stream_operation(stream, kind, operation),
        .bytes = -1,
        .peer = peer,
        .root = -1,
        .tag = tag,
        .communicator = communicator};
    return trace_stream_signature(stream, &signature);
}

static void define_communicator(struct trace_stream *stream, uint32_t id, uint32_t rank,
                                const struct trace_rank_run *run)
{
    struct trace_communicator communicator = {.id = id,
                                              .parent = 0,
                                              .rank = rank,
                                              .size = run->count,
                                              .key = 77,
                                              .run_count = 1,
                                              .runs = run};
    trace_stream_communicator(stream, &communicator);
}

/* The thread comes out of a call at this time. */
static void call(struct trace_stream *stream, uint32_t signature, int64_t until)
{
    trace_stream_event(stream, signature, stream->previous_end, (uint64_t)until);
    trace_slot_clear(stream->slot, (uint64_t)until);
}

static void barrier(struct trace_stream *stream, int64_t until)
{
    call(stream, define(stream, KIND_COLLECTIVE, "barrier", -1, -1, 0), until);
}

static void enter(struct trace_stream *stream, uint32_t signature, int64_t start)
{
    trace_slot_show(stream->slot, signature + 1, (uint64_t)start);
}

/* A rank that came out of a barrier, and is in a receive since then. */
static void receiving_rank(struct writing *rank, uint32_t number, uint32_t size, int32_t peer,
                           int64_t start)
{
    begin_rank(rank, number, size, number % 2 ? "node2" : "node1");
    struct trace_stream *stream = &rank->streams[0];
    barrier(stream, start);
    enter(stream, define(stream, KIND_POINT_TO_POINT, "recv", peer, 7, 0), start);
}

/* The file stays as it is; what is mapped goes with the test. */
static void leave(struct writing *rank)
{
    trace_writer_abandon(&rank->writer);
}

/* --- looking -----------------------------------------------------------------------------------
 */

/* What --live prints of the only world, to be freed. */
static char *look(int64_t at, uint64_t limit)
{
    char path[64], *text = NULL;
    size_t size;
    struct run_choice choice;
    struct live live;
    struct live_groups groups;
    snprintf(path, sizeof(path), "%s/run", root);
    cr_assert_eq(run_choose(&choice, path, &err), 0, "%s", err.text);
    cr_assert_eq(live_read(&live, &choice.run, &choice.run.worlds[0], epoch + at, &err), 0, "%s",
                 err.text);
    cr_assert_eq(live_groups_make(&groups, &live, &err), 0, "%s", err.text);
    FILE *stream = open_memstream(&text, &size);
    live_text_print(stream, "run", &live, &groups, limit);
    fclose(stream);
    live_groups_release(&groups);
    live_release(&live);
    run_release(&choice.run);
    return text;
}

static void check(const char *expected)
{
    char *text = look(now, UINT64_MAX);
    cr_expect_str_eq(text, expected);
    free(text);
}

/* Whether one of the lines, without what is around it, is this. */
static void check_line(const char *line)
{
    char *text = look(now, UINT64_MAX);
    cr_expect(strstr(text, line) != NULL, "no \"%s\" in:\n%s", line, text);
    free(text);
}

static void check_no_line(const char *line)
{
    char *text = look(now, UINT64_MAX);
    cr_expect(strstr(text, line) == NULL, "\"%s\" in:\n%s", line, text);
    free(text);
}

Test(live, who_waits_for_whom)
{
    struct writing ranks[4];
    receiving_rank(&ranks[0], 0, 4, 2, 88 * SECOND);
    begin_rank(&ranks[1], 1, 4, "node1");
    barrier(&ranks[1].streams[0], 87 * SECOND);
    enter(&ranks[1].streams[0], define(&ranks[1].streams[0], KIND_WAIT, "waitall", -1, -1, -1),
          88 * SECOND);
    begin_rank(&ranks[2], 2, 4, "node2");
    barrier(&ranks[2].streams[0], 87 * SECOND + SECOND / 2);
    begin_rank(&ranks[3], 3, 4, "node2");
    barrier(&ranks[3].streams[0], 87 * SECOND);
    enter(&ranks[3].streams[0], 0, 88 * SECOND);
    check("run: 4 ranks on 2 hosts at 22:15:00\n"
          "  rank 0 in mpi:recv from 2 (tag 7) for 12.0 s\n"
          "  rank 1 in mpi:waitall for 12.0 s\n"
          "  rank 3 in mpi:barrier on comm 0 for 12.0 s; not in it: 3 ranks (0-2)\n"
          "  rank 2 outside MPI for 12.5 s\n"
          "\n"
          "  rank  host   state\n"
          "     0  node1  in mpi:recv from 2 (tag 7) for 12.0 s\n"
          "     1  node1  in mpi:waitall for 12.0 s\n"
          "     2  node2  outside MPI for 12.5 s, after mpi:barrier on comm 0\n"
          "     3  node2  in mpi:barrier on comm 0 for 12.0 s\n"
          "\n"
          "comm 0: MPI_COMM_WORLD\n");
    char *text = look(now, 1);
    cr_expect(strstr(text, "     0  node1  in") != NULL);
    cr_expect(strstr(text, "     1  node1  in") == NULL, "the limit is of lines for ranks");
    free(text);
    for (int i = 0; i < 4; i++)
        leave(&ranks[i]);
}

Test(live, equal_waits_are_told_together)
{
    struct writing ranks[5];
    for (uint32_t i = 0; i < 4; i++) {
        begin_rank(&ranks[i], i, 6, "node1");
        barrier(&ranks[i].streams[0], 87 * SECOND);
        enter(&ranks[i].streams[0], 0, (88 + (int64_t)i) * SECOND);
    }
    receiving_rank(&ranks[4], 5, 6, 4, 70 * SECOND);
    check_line("  4 ranks (0-3) in mpi:barrier on comm 0 for 9.0 s to 12.0 s; not in it: "
               "2 ranks (4-5)\n"
               "  rank 5 in mpi:recv from 4 (tag 7) for 30.0 s\n"
               "  rank 4 without a trace here: not through MPI_Init yet, or not recorded\n");
    for (int i = 0; i < 5; i++)
        leave(&ranks[i]);
}

Test(live, different_peers_do_not_make_different_waits)
{
    struct writing ranks[3];
    for (uint32_t i = 0; i < 3; i++)
        receiving_rank(&ranks[i], i, 3, (int32_t)(i + 1) % 3, 88 * SECOND);
    check_line("  3 ranks (0-2) in mpi:recv from several ranks (tag 7) for 12.0 s\n");
    check_line("     2  node1  in mpi:recv from 0 (tag 7) for 12.0 s\n");
    for (int i = 0; i < 3; i++)
        leave(&ranks[i]);
}

/* Every thousandth rank is elsewhere: the list of the others is cut, not what matters. */
Test(live, long_lists_of_ranks_are_cut)
{
    struct writing *rank = malloc(sizeof(*rank));
    for (uint32_t i = 0; i < 40; i++) {
        receiving_rank(rank, 2 * i, 80, 79, 88 * SECOND);
        leave(rank);
    }
    free(rank);
    check_line("  40 ranks (0, 2, 4, 6, 8, 10, 12, 14, ...) in mpi:recv from 79 (tag 7) for "
               "12.0 s\n"
               "  40 ranks (1, 3, 5, 7, 9, 11, 13, 15, ...) without a trace here");
}

/* --- what there is beside calls in flight ------------------------------------------------------
 */

Test(live, a_thread_that_spins_in_polls_waits)
{
    struct writing rank;
    begin_rank(&rank, 0, 1, "node1");
    struct trace_stream *stream = &rank.streams[0];
    barrier(stream, 90 * SECOND);
    struct trace_signature signature = {
        .operation = trace_stream_operation(stream, KIND_POLL, "test"),
        .origin = trace_stream_operation(stream, KIND_POINT_TO_POINT, "irecv") + 1,
        .bytes = 4,
        .peer = 2,
        .root = -1,
        .tag = 7};
    uint32_t poll = trace_stream_signature(stream, &signature);
    uint64_t at = 95 * (uint64_t)SECOND;
    for (int i = 0; i < 3; i++) { /* interrupted twice */
        trace_run_begin(stream, poll, at, at + 1);
        trace_run_join(stream, poll, poll, at + 1, at + 2);
        for (int j = 0; j < 98; j++)
            trace_run_count(stream, poll, at + 2, at + 3);
        at += 2 * (uint64_t)SECOND + SECOND / 3;
    }
    trace_slot_clear(stream->slot, 100 * (uint64_t)SECOND - 100);
    check_line("  rank 0 calling mpi:test for irecv from 2 (tag 7) again and again for 5.0 s\n");
    check_line("again and again for 5.0 s (300 times)\n");
    signature.operation = trace_stream_operation(stream, KIND_WAIT, "test");
    enter(stream, trace_stream_signature(stream, &signature), 100 * SECOND - 50);
    check_line("again and again for 5.0 s (300 times)\n");
    trace_slot_clear(stream->slot, 100 * (uint64_t)SECOND);
    char *text = look(now + 2 * SECOND, UINT64_MAX);
    cr_expect(strstr(text, "outside MPI for 2.0 s, after mpi:test for irecv from 2 (tag 7)\n"),
              "%s", text);
    free(text);
    leave(&rank);
}

Test(live, a_call_that_takes_long_is_no_poll)
{
    struct writing rank;
    begin_rank(&rank, 0, 1, "node1");
    struct trace_stream *stream = &rank.streams[0];
    enter(stream, define(stream, KIND_WAIT, "test", 1, 3, 0), 90 * SECOND);
    check_line("  rank 0 in mpi:test with 1 (tag 3) for 10.0 s\n");
    leave(&rank);
}

Test(live, all_threads_that_are_in_a_call_are_told)
{
    struct writing rank;
    begin_rank(&rank, 0, 1, "node1");
    for (int i = 1; i < STREAMS; i++)
        trace_stream_open(&rank.streams[i], &rank.writer, (uint64_t)SECOND);
    barrier(&rank.streams[0], 99 * SECOND);
    enter(&rank.streams[1],
          define(&rank.streams[1], KIND_POINT_TO_POINT, "recv", 0, 1, 0), 90 * SECOND);
    enter(&rank.streams[3],
          define(&rank.streams[3], KIND_POINT_TO_POINT, "send", 0, 3, 0), 98 * SECOND);
    check_line("     0  node1  thread 1 in mpi:recv from 0 (tag 1) for 10.0 s\n"
               "               thread 3 in mpi:send to 0 (tag 3) for 2.0 s\n");
    trace_slot_clear(rank.streams[3].slot, 98 * (uint64_t)SECOND);
    check_line("     0  node1  thread 1 in mpi:recv from 0 (tag 1) for 10.0 s\n\n");
    trace_slot_clear(rank.streams[1].slot, 98 * (uint64_t)SECOND);
    check_line("     0  node1  outside MPI for 1.0 s, after mpi:barrier on comm 0\n");
    leave(&rank);
}

Test(live, a_pause_and_an_end_are_told)
{
    struct writing ranks[2];
    begin_rank(&ranks[0], 0, 2, "node1");
    barrier(&ranks[0].streams[0], 90 * SECOND);
    trace_stream_pause(&ranks[0].streams[0], true, 91 * (uint64_t)SECOND);
    begin_rank(&ranks[1], 1, 2, "node1");
    trace_stream_close(&ranks[1].streams[0]);
    clock_ns_now = 95 * SECOND;
    trace_writer_close(&ranks[1].writer);
    check_line("     0  node1  not recorded, because the program paused it (MPI_Pcontrol), for "
               "9.0 s\n"
               "     1  node1  through MPI_Finalize, 5.0 s ago\n");
    trace_stream_pause(&ranks[0].streams[0], false, 92 * (uint64_t)SECOND);
    check_line("     0  node1  outside MPI for 10.0 s\n");
    leave(&ranks[0]);
}

Test(live, a_rank_that_was_seen_ending_is_told_as_dead)
{
    struct writing ranks[3];
    char path[64], line[EXIT_RECORD_LINE_SIZE];
    struct exit_record record = {
        .task = 0, .local = 0, .pid = 4711, .status = 9, .realtime_ns = epoch + 97 * SECOND};
    for (uint32_t i = 0; i < 3; i++)
        receiving_rank(&ranks[i], i, 3, 1, 90 * SECOND);
    for (int i = 0; i < 2; i++) {
        strcpy(ranks[i].writer.header->node, "node1");
        ranks[i].writer.header->pid = 4711 + i;
        ranks[i].writer.header->local_rank = i;
    }
    trace_slot_clear(ranks[1].streams[0].slot, 91 * (uint64_t)SECOND);
    snprintf(path, sizeof(path), "%s/run", root);
    int run = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 2; i++, record.task++, record.local++, record.pid++)
        cr_assert_eq(exit_record_append(run, "exit-node1", line, exit_record_print(&record, line)),
                     0);
    close(run);
    check_line("  rank 2 in mpi:recv from 1 (tag 7) for 10.0 s\n"
               "  2 ranks (0-1) killed by signal 9 (SIGKILL), cause unknown, 3.0 s ago\n");
    check_line("     0  node1  killed by signal 9 (SIGKILL), cause unknown, 3.0 s ago, in "
               "mpi:recv from 1 (tag 7) for 7.0 s\n"
               "     1  node2  killed by signal 9 (SIGKILL), cause unknown, 3.0 s ago, outside MPI "
               "for 6.0 s\n");
    for (int i = 0; i < 3; i++)
        leave(&ranks[i]);
}

Test(live, a_trace_without_room_tells_what_it_can)
{
    struct writing rank;
    receiving_rank(&rank, 0, 1, 2, 90 * SECOND);
    rank.writer.state->stopped = STOP_LIMIT;
    check_line("  in mpi:recv from 2 (tag 7) for 10.0 s; its trace has no room for more\n");
    enter(&rank.streams[0], 4711, 91 * SECOND);
    check_line("  in a call that its trace does not tell for 9.0 s; its trace has no room for "
               "more\n");
    leave(&rank);
}

Test(live, a_buffered_trace_says_how_old_it_is)
{
    struct writing rank;
    receiving_rank(&rank, 0, 1, 2, 90 * SECOND);
    rank.writer.header->flags = TRACE_BUFFERED;
    clock_ns_now = 94 * SECOND;
    trace_stream_sync_state(&rank.streams[0]);
    check_line("  in mpi:recv from 2 (tag 7) for 10.0 s; as of 6.0 s ago, when its trace was last "
               "written\n");
    check_line("Traces here are not mapped: \"outside MPI\" is what a rank was when its trace was "
               "last written.\n");
    leave(&rank);
}

/* --- communicators -----------------------------------------------------------------------------
 */

/* They call it differently, rank 0 has another one before. */
Test(live, a_communicator_has_one_number)
{
    static const struct trace_rank_run odd = {.first = 3, .count = 2, .stride = -2};
    struct writing ranks[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct trace_stream *stream = &ranks[i].streams[0];
        begin_rank(&ranks[i], 2 * i + 1, 4, "node1");
        barrier(stream, 80 * SECOND);
        define_communicator(stream, 3 + i, 1 - i, &odd);
        trace_stream_name(stream, 3 + i, "odd\nones");
    }
    enter(&ranks[0].streams[0],
          define(&ranks[0].streams[0], KIND_POINT_TO_POINT, "recv", 0, 5, 3), 90 * SECOND);
    enter(&ranks[1].streams[0],
          define(&ranks[1].streams[0], KIND_COLLECTIVE, "allreduce", -1, -1, 4), 90 * SECOND);
    check_line("  rank 1 in mpi:recv from 0 (tag 5) on comm 2 (world rank 3) for 10.0 s\n"
               "  rank 3 in mpi:allreduce on comm 2 for 10.0 s; not in it: rank 1\n");
    check_line("comm 2: odd?ones, world ranks 3, 1\n");
    for (int i = 0; i < 2; i++)
        leave(&ranks[i]);
}

Test(live, who_is_not_in_finalize_is_told)
{
    struct writing ranks[3];
    for (uint32_t i = 0; i < 3; i++) {
        struct trace_stream *stream = &ranks[i].streams[0];
        begin_rank(&ranks[i], i, 3, "node1");
        barrier(stream, 80 * SECOND);
        if (i != 1)
            enter(stream, define(stream, KIND_OTHER, "finalize", -1, -1, -1), 90 * SECOND);
    }
    check_line("  2 ranks (0, 2) in mpi:finalize for 10.0 s; not in it: rank 1\n");
    for (int i = 0; i < 3; i++)
        leave(&ranks[i]);
}

/* --- definitions that come late ----------------------------------------------------------------
 */

Test(live, a_call_is_known_wherever_its_definition_is)
{
    struct writing rank;
    begin_rank(&rank, 0, 1, "node1");
    struct trace_stream *stream = &rank.streams[0];
    uint32_t send = define(stream, KIND_POINT_TO_POINT, "send", 1, 0, 0);
    for (int i = 0; i < 300000; i++)
        trace_stream_event(stream, send, stream->previous_end + 1, stream->previous_end + 10);
    enter(stream, define(stream, KIND_POINT_TO_POINT, "recv", 4, 7, 0), 90 * SECOND);
    cr_assert_geq(stream->window_count, 4);
    check_line("  rank 0 in mpi:recv from 4 (tag 7) for 10.0 s\n");
    leave(&rank);
}

/* --- clocks ------------------------------------------------------------------------------------
 */

Test(live, a_clock_that_is_ahead_is_told)
{
    struct writing ranks[2];
    realtime_shift = 15 * SECOND;
    receiving_rank(&ranks[0], 0, 2, 1, 90 * SECOND);
    realtime_shift = 0;
    receiving_rank(&ranks[1], 1, 2, 0, 90 * SECOND);
    check_line("     0  node1  in mpi:recv from 1 (tag 7) for 0 us\n"
               "     1  node2  in mpi:recv from 0 (tag 7) for 10.0 s\n"
               "\n"
               "The clock of node1 is at least 5.0 s ahead of this host's: its times are too short "
               "by that.\n");
    for (int i = 0; i < 2; i++)
        leave(&ranks[i]);
}

Test(live, a_small_difference_of_clocks_is_none)
{
    struct writing rank;
    realtime_shift = 10 * SECOND + SECOND / 100;
    receiving_rank(&rank, 0, 1, 1, 90 * SECOND);
    check_no_line("clock");
    realtime_shift = 0;
    leave(&rank);
}

/* Ticks of a processor's counter, and one reading of the clocks. */
Test(live, without_a_clock_there_are_no_times)
{
    struct writing rank;
    receiving_rank(&rank, 0, 1, 1, 90 * SECOND);
    rank.writer.header->clock_source = CLOCK_SOURCE_TSC;
    rank.writer.state->last_sync = rank.writer.header->first_sync;
    check_line("  rank 0 in mpi:recv from 1 (tag 7)\n");
    leave(&rank);
}

/* --- what is no trace --------------------------------------------------------------------------
 */

Test(live, what_cannot_be_read_is_told)
{
    struct writing rank;
    receiving_rank(&rank, 1, 3, 2, 90 * SECOND);
    int fd = openat(world, "rank-000000.sptrace", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    cr_assert_eq(write(fd, "nothing\n", 8), 8);
    close(fd);
    cr_assert_eq(linkat(world, "rank-000001.sptrace", world, "rank-000002.sptrace", 0), 0);
    check_line("  rank 1 in mpi:recv from 2 (tag 7) for 10.0 s\n"
               "  2 ranks (0, 2) without a trace that can be read\n");
    check_line("without a trace that can be read: rank-000000.sptrace: not a rank trace\n");
    check_line("without a trace that can be read: rank-000002.sptrace: holds rank 1\n");
    leave(&rank);
}

Test(live, impossible_slots_are_survived)
{
    static const struct trace_slot impossible[] = {
        {.stream = UINT32_MAX, .signature = UINT32_MAX, .start = UINT64_MAX},
        {.stream = 1, .signature = UINT32_MAX, .start = 1},
        {.stream = 70000, .signature = 1, .start = INT64_MAX},
        {.stream = UINT32_MAX, .signature = 0, .start = UINT64_MAX},
        {.stream = 1, .signature = 1, .start = 0},
    };
    struct writing rank;
    receiving_rank(&rank, 0, 1, 2, 90 * SECOND);
    for (size_t i = 0; i < sizeof(impossible) / sizeof(*impossible); i++) {
        rank.writer.slots[1] = impossible[i];
        check_line("in mpi:recv from 2 (tag 7) for 10.0 s");
    }
    leave(&rank);
}

/* --- which run a directory means ---------------------------------------------------------------
 */

static void make_run(const char *name, int64_t changed)
{
    char path[128];
    struct timespec times[2] = {{.tv_sec = changed}, {.tv_sec = changed}};
    snprintf(path, sizeof(path), "%s/%s", root, name);
    cr_assert_eq(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/%s/w-0", root, name);
    cr_assert_eq(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/%s/w-0/rank-000000.sptrace", root, name);
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    snprintf(path, sizeof(path), "%s/%s", root, name);
    cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void check_choice(const char *below, const char *expected)
{
    char path[128];
    struct run_choice choice;
    snprintf(path, sizeof(path), "%s%s", root, below);
    cr_assert_eq(run_choose(&choice, path, &err), 0, "%s", err.text);
    cr_expect_str_eq(strrchr(choice.run.path, '/'), expected);
    cr_expect_eq(choice.has_world, strcmp(below + strlen(below) - 2, "-0") == 0 &&
                                       strstr(below, "w-0") != NULL);
    run_release(&choice.run);
}

static void check_no_choice(const char *below, const char *message)
{
    char path[128];
    struct run_choice choice;
    snprintf(path, sizeof(path), "%s%s", root, below);
    cr_assert_lt(run_choose(&choice, path, &err), 0);
    cr_expect(strstr(err.text, message) && strstr(err.text, path), "%s", err.text);
}

Test(live, a_directory_means_a_run)
{
    check_no_choice("", "no trace in ");
    check_no_choice("/nowhere", "cannot open ");
    make_run("scope-profile-17.0", 2000);
    make_run("scope-profile-9.0", 3000);
    make_run("scope-profile-18.0", 1000);
    make_run("another", 9000);
    check_choice("", "/scope-profile-9.0");
    check_choice("/scope-profile-17.0", "/scope-profile-17.0");
    check_choice("/scope-profile-17.0/w-0", "/scope-profile-17.0");
    check_choice("/another", "/another");
}
