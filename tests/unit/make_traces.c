/* SPDX-License-Identifier: BSD-3-Clause */
/* make_traces RUNDIR KIND: writes a run directory of made-up traces, for tests of the merge.
 *
 * KIND: plain    four ranks on two hosts whose monotonic clocks are 1000 s apart; each call known
 *       threads  likewise, with a second thread on rank 0
 *       init     likewise, with MPI_Init and an MPI_Finalize that takes longer than the session
 *       polls    likewise, with polls that find nothing, failed calls, pauses, an intercommunicator
 *       full     likewise, no trace has room for the last calls, each for another reason
 *       ends     eight such ranks, with exit records: the ends are in a table below
 *       launched likewise four ranks, with the record of what sp-run started
 *       stuck    five such ranks that were ended in MPI, but for one
 *       cut      likewise, rank 2 never came to MPI_Finalize, rank 3 has no trace
 *       worlds   a world of two ranks and one of three, the later one first by name
 *       names    one rank whose regions have names of many lengths, the longest ones included
 *       ranks N  like plain, with N ranks
 *       large N  one rank with N calls
 * Ticks are nanoseconds of CLOCK_MONOTONIC; both hosts' realtime agrees.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/exit_record.h"
#include "schema/job_record.h"
#include "schema/trace_statistics.h"
#include "schema/trace_writer.h"

#define SECOND INT64_C(1000000000)
#define HOST_SHIFT (1000 * SECOND)

static int64_t realtime = INT64_C(1700000000) * SECOND; /* when the job begins */
static int64_t shift;                                   /* of the host that is being written */
static int64_t now;                                     /* since the job's beginning, ns */

static void read_clocks(struct trace_sync *sync)
{
    sync->ticks = (uint64_t)(now + shift);
    sync->monotonic_ns = now + shift;
    sync->realtime_ns = realtime + now;
}

static void die(const char *what)
{
    fprintf(stderr, "make_traces: %s\n", what);
    exit(1);
}

/* One rank being written. */
struct maker {
    struct trace_writer writer;
    struct trace_stream stream;
    struct trace_statistics_index counted;
    uint32_t operations[12];
};

enum { SEND, RECV, ALLREDUCE, IRECV, WAIT, DUP, INIT, FINALIZE, TEST, IPROBE, POLL, FOUND };

static const struct {
    enum mpi_kind kind;
    const char *name;
} operations[] = {
    {KIND_POINT_TO_POINT, "send"},  {KIND_POINT_TO_POINT, "recv"}, {KIND_COLLECTIVE, "allreduce"},
    {KIND_POINT_TO_POINT, "irecv"}, {KIND_WAIT, "wait"},           {KIND_COMMUNICATOR, "comm_dup"},
    {KIND_OTHER, "init"},           {KIND_OTHER, "finalize"},      {KIND_POLL, "test"},
    {KIND_POLL, "iprobe"},          {KIND_POLL, "poll"},           {KIND_WAIT, "test"},
};

static void define_operations(struct maker *maker, struct trace_stream *stream)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
        maker->operations[i] =
            trace_stream_operation(stream, operations[i].kind, operations[i].name);
}

/* A communicator of the ranks first, first + 1, ...; rank is the one in it. */
static void define_group(struct maker *maker, enum trace_communicator_kind kind, uint32_t id,
                         uint64_t key, uint32_t rank, uint32_t first, uint32_t size)
{
    struct trace_rank_run run = {.first = first, .count = size, .stride = 1};
    struct trace_communicator communicator = {.id = id,
                                              .kind = kind,
                                              .parent = id < 2 ? -1 : 0,
                                              .rank = rank,
                                              .size = size,
                                              .key = key,
                                              .handle = 100 + id,
                                              .run_count = 1,
                                              .runs = &run};
    trace_stream_communicator(&maker->stream, &communicator);
}

static void define_communicator(struct maker *maker, uint32_t id, uint64_t key, uint32_t rank,
                                uint32_t size)
{
    define_group(maker, COMMUNICATOR_INTRA, id, key, rank, 0, size);
}

static void begin_rank(struct maker *maker, int dirfd, uint32_t rank, uint32_t size,
                       const char *world)
{
    struct error err;
    char name[64];
    struct trace_header header = {.rank = rank,
                                  .world_size = size,
                                  .pid = 1000 + (int32_t)rank,
                                  .local_rank = (int32_t)rank / 2,
                                  .node_id = (int32_t)rank % 2,
                                  .clock_source = CLOCK_SOURCE_MONOTONIC};
    shift = rank % 2 ? HOST_SHIFT : 0;
    now = 0;
    read_clocks(&header.first_sync);
    snprintf(header.job, sizeof(header.job), "17.0");
    snprintf(header.world, sizeof(header.world), "%s", world);
    snprintf(header.host, sizeof(header.host), "node%u", rank % 2);
    snprintf(header.node, sizeof(header.node), "node%u", rank % 2);
    snprintf(header.host_key, sizeof(header.host_key), "boot-node%u", rank % 2);
    snprintf(header.mpi_version, sizeof(header.mpi_version), "Made-up MPI 1.0");
    snprintf(name, sizeof(name), "rank-%06u.sptrace", rank);
    if (trace_writer_create(&maker->writer, dirfd, name, &header, UINT64_C(1) << 34, read_clocks,
                            &err) < 0)
        die(err.text);
    now = 10;
    trace_writer_initialised(&maker->writer, (uint64_t)(now + shift));
    trace_stream_open(&maker->stream, &maker->writer, (uint64_t)(now + shift));
    define_operations(maker, &maker->stream);
    define_communicator(maker, 0, 0, rank, size);
    define_communicator(maker, 1, 0, 0, 1);
}

static void end_rank(struct maker *maker, bool finalised)
{
    if (finalised) {
        trace_writer_finalised(&maker->writer, (uint64_t)(now + shift));
        trace_stream_sync(&maker->stream);
    }
    trace_stream_close(&maker->stream);
    if (finalised)
        trace_writer_close(&maker->writer);
    else
        trace_writer_abandon(&maker->writer);
}

static uint32_t define(struct maker *maker, struct trace_stream *stream, int operation,
                       int64_t bytes, int peer, int tag, int communicator, int origin)
{
    struct trace_signature signature = {.operation = maker->operations[operation],
                                        .origin = origin < 0 ? ORIGIN_NONE
                                                             : maker->operations[origin] + 1,
                                        .bytes = bytes,
                                        .peer = peer,
                                        .root = -1,
                                        .tag = tag,
                                        .communicator = communicator};
    return trace_stream_signature(stream, &signature);
}

/* What different calls have in common. */
static uint32_t define_mixed(struct maker *maker, struct trace_stream *stream, int operation)
{
    struct trace_signature signature = {.operation = maker->operations[operation],
                                        .origin = ORIGIN_MIXED,
                                        .bytes = -1,
                                        .peer = -1,
                                        .root = -1,
                                        .tag = -1,
                                        .communicator = 0};
    return trace_stream_signature(stream, &signature);
}

static void call(struct trace_stream *stream, uint32_t signature, int64_t start, int64_t end)
{
    trace_stream_event(stream, signature, (uint64_t)(start + shift), (uint64_t)(end + shift));
    now = end;
}

/* Polls count times, the signatures in turn; a poll takes `length` ns, and one begins every `every`
 * ns. common: what the run is of. */
static void make_run(struct trace_stream *stream, const uint32_t *signatures, int signature_count,
                     uint32_t common, int count, int64_t start, int64_t length, int64_t every)
{
    for (int i = 0; i < count; i++, start += every) {
        uint32_t signature = signatures[i % signature_count];
        uint64_t from = (uint64_t)(start + shift), to = from + (uint64_t)length;
        if (i == 0)
            trace_run_begin(stream, signature, from, to);
        else if (!trace_run_count(stream, signature, from, to) &&
                 !trace_run_join(stream, signature, common, from, to))
            die("no room for a poll");
        now = start + length;
    }
}

static void fail(struct trace_stream *stream, int error_class, uint32_t signature, int64_t start,
                 int64_t end)
{
    trace_stream_failed(stream, error_class);
    call(stream, signature, start, end);
}

/* What ranks of "polls" do from 6200 to 7000. */
static void make_polls(struct maker *maker, uint32_t rank, uint32_t size)
{
    struct trace_stream *stream = &maker->stream;
    const uint32_t three[] = {define(maker, stream, TEST, 64, -1, -1, 0, IRECV),
                              define(maker, stream, TEST, 32, -1, -1, 0, IRECV),
                              define(maker, stream, IPROBE, -1, -1, 5, 0, -1)};
    uint32_t mixed = define_mixed(maker, stream, POLL);
    uint32_t send = define(maker, stream, SEND, 64, (int)size, 99, 0, -1);
    make_run(stream, three, 1, three[0], 100, 6200, 2, 3);
    fail(stream, 6, send, 6500, 6510);
    make_run(stream, three, 3, mixed, 30, 6520, 1, 2);
    call(stream, three[2], 6600, 6605);
    fail(stream, 6, send, 6610, 6620);
    fail(stream, 4, send, 6620, 6630);
    fail(stream, 5, three[2], 6630, 6640);
    call(stream, define(maker, stream, FOUND, 64, -1, -1, 0, IRECV), 6640, 6645);
    if (rank < 2) {
        trace_stream_pause(stream, true, (uint64_t)(6650 + shift));
        trace_stream_pause(stream, false, (uint64_t)(6660 + shift));
    }
    if (rank == 1) /* and never goes on */
        trace_stream_pause(stream, true, (uint64_t)(6900 + shift));
    define_group(maker, COMMUNICATOR_INTER, 3, 0xfedcba0987654321ULL, rank % 2, rank / 2 * 2, 2);
    if (rank > 0) {
        trace_stream_name(stream, 2, "forgotten");
        trace_stream_name(stream, 2, rank == 1 ? "h\xc3\xa4lo" : "other");
    }
    if (rank == 0) {
        struct trace_stream second;
        trace_stream_open(&second, &maker->writer, (uint64_t)shift);
        define_operations(maker, &second);
        define_communicator(maker, 2, 0x1234567890abcdefULL, rank, size);
        uint32_t test = define(maker, &second, TEST, 64, -1, -1, 0, IRECV);
        make_run(&second, &test, 1, test, 5, 300, 10, 100);
        trace_stream_close(&second);
    }
}

/* Calls of `ticks` each that are counted; origin: an operation, -1 or MIXED. */
enum { MIXED = -2 };

static void count_calls(struct maker *maker, int operation, int origin, int64_t bytes, int peer,
                        int tag, int communicator, int calls, uint64_t ticks)
{
    struct trace_statistics *area = maker->writer.statistics;
    const int maker_of_request = origin < 0 ? WAIT : origin;
    const struct counted_operation
        counted = {operations[operation].kind, operations[operation].name},
        made_by = {operations[maker_of_request].kind, operations[maker_of_request].name};
    struct trace_signature signature = {.origin = origin == MIXED ? ORIGIN_MIXED
                                                  : origin < 0    ? ORIGIN_NONE
                                                                  : 1,
                                        .bytes = bytes,
                                        .peer = peer,
                                        .root = -1,
                                        .tag = tag,
                                        .communicator = communicator};
    int place = trace_statistics_place(area, &maker->counted, &signature, &counted, &made_by);
    for (int i = 0; i < calls; i++)
        trace_statistics_add(area, place, ticks);
}

/* What ranks of "full" do from 6200 on: 13 calls, MPI_Finalize the last. The slot of rank 2 does
 * not tell of them, that of rank 3 tells of two more. */
static void make_unrecorded(struct maker *maker, uint32_t rank, uint32_t size)
{
    count_calls(maker, SEND, -1, 64, (int)((rank + 1) % size), 7, 0, 2, 100);
    count_calls(maker, SEND, -1, 32, (int)((rank + 1) % size), 7, 0, 1, 0);
    count_calls(maker, WAIT, IRECV, 64, -1, -1, 0, 1, 50);
    count_calls(maker, WAIT, MIXED, -1, -1, -1, -1, 1, 5);
    count_calls(maker, ALLREDUCE, -1, 8, -1, -1, 2, 3, 10);
    count_calls(maker, DUP, -1, -1, -1, -1, 5, 1, 7); /* of one that is not defined */
    count_calls(maker, TEST, IRECV, 64, -1, -1, 0, 3, 1);
    count_calls(maker, FINALIZE, -1, -1, -1, -1, -1, 1, 20);
    maker->writer.state->stopped = STOP_LIMIT + rank;
    maker->stream.slot->dropped = rank == 2 ? 0 : rank == 3 ? 15 : 13;
}

/* How the ranks of "ends" end. */
static const struct end {
    bool finalised;
    int status;           /* -1: no record */
    bool is_task;         /* of the task that started the rank */
    const char *host_key; /* NULL: of the rank */
    int64_t at;           /* ns after the job's beginning */
} ends[] = {
    {true, 0, .at = SECOND},
    {true, 3 << 8, .at = 100}, /* clocks that are not exact: before the last sign of life */
    {false, 9, .at = 20 * SECOND},
    {false, 0, .at = 2 * SECOND},
    {false, 11 | 128, .is_task = true, .at = 3 * SECOND},
    {false, -1, .at = 0},
    {true, 0, .is_task = true, .at = 4 * SECOND},
    {true, 7 << 8, .host_key = "another clock", .at = 30 * SECOND},
};
enum { ENDS = sizeof(ends) / sizeof(*ends) };

/* And those of "stuck". */
static const struct end stuck_ends[] = {
    {false, 9, .at = 32200000000},
    {false, 15, .at = 32200000000},
    {false, 3 << 8, .at = 3 * SECOND},
    {false, -1, .at = 0},
    {false, 9, .at = 40 * SECOND},
};
enum { STUCK = sizeof(stuck_ends) / sizeof(*stuck_ends) };

static void add_exit(int run, const char *node, const struct exit_record *record)
{
    char name[EXIT_RECORD_NAME_SIZE], line[EXIT_RECORD_LINE_SIZE];
    size_t length = exit_record_print(record, line);
    if (exit_record_name(node, name) < 0 || exit_record_append(run, name, line, length) < 0)
        die("cannot write an exit record");
}

static void make_exits(int run, const struct end *of_ranks, int count)
{
    for (int rank = 0; rank < count; rank++) {
        const struct end *end = &of_ranks[rank];
        char node[16];
        if (end->status < 0)
            continue;
        struct exit_record record = {
            .task = rank,
            .local = rank / 2,
            .pid = (end->is_task ? 500 : 1000) + rank,
            .status = end->status,
            .realtime_ns = realtime + end->at,
            .monotonic_ns = end->host_key ? 77 : end->at + (rank % 2 ? HOST_SHIFT : 0),
        };
        snprintf(node, sizeof(node), "node%d", rank % 2);
        snprintf(record.host, sizeof(record.host), "boot-%s", node);
        if (end->host_key)
            strcpy(record.host, end->host_key);
        add_exit(run, node, &record);
    }
}

static void make_launcher_exit(int run)
{
    struct exit_record record = {.task = -1,
                                 .local = -1,
                                 .pid = 400,
                                 .status = 137 << 8,
                                 .realtime_ns = realtime + SECOND,
                                 .monotonic_ns = SECOND,
                                 .host = "boot-node0"};
    add_exit(run, "node0", &record);
}

static bool comes_to_finalize(const char *kind, uint32_t rank)
{
    if (strcmp(kind, "ends") == 0)
        return ends[rank].finalised;
    if (strcmp(kind, "stuck") == 0)
        return false;
    return rank != 2 || (strcmp(kind, "cut") != 0 && strcmp(kind, "launched") != 0);
}

static void show(struct trace_stream *stream, uint32_t signature, int64_t start)
{
    trace_slot_show(stream->slot, signature + 1, (uint64_t)(start + shift));
}

/* Two threads are in calls. */
static void stick_twice(struct maker *maker)
{
    struct trace_stream second;
    show(&maker->stream, define(maker, &maker->stream, WAIT, 64, -1, -1, 0, IRECV), SECOND);
    trace_stream_open(&second, &maker->writer, (uint64_t)(now + shift));
    define_operations(maker, &second);
    uint32_t send = define(maker, &second, SEND, 64, 3, 5, 2, -1);
    call(&second, send, 10 * SECOND, 11 * SECOND);
    show(&second, send, 30 * SECOND);
    trace_stream_close(&second);
}

/* A run of polls that was interrupted once. */
static void stick_in_polls(struct maker *maker)
{
    struct trace_stream *stream = &maker->stream;
    uint32_t test = define(maker, stream, TEST, 64, 2, 7, 0, IRECV);
    for (int i = 0; i < 2; i++) {
        uint64_t start = (uint64_t)((10 + i * 29) * SECOND + shift), end = start + SECOND - 100;
        trace_run_begin(stream, test, start, start + 1);
        trace_run_join(stream, test, test, end, end + 1);
    }
    trace_slot_clear(stream->slot, stream->previous_end);
}

static void stick(struct maker *maker, uint32_t rank)
{
    struct trace_stream *stream = &maker->stream;
    switch (rank) {
    case 0:
        show(stream, define(maker, stream, RECV, 64, 2, 7, 0, -1), SECOND);
        return;
    case 1:
        stick_twice(maker);
        return;
    case 2:
        trace_slot_clear(stream->slot, (uint64_t)(SECOND / 2 + shift));
        return;
    case 3:
        show(stream, define(maker, stream, ALLREDUCE, 8, -1, -1, 2, -1), 2 * SECOND);
        return;
    case 4:
        stick_in_polls(maker);
    }
}

/* What every rank of "plain" does: the numbers are in merge.t. */
static void make_rank(int dirfd, uint32_t rank, uint32_t size, const char *kind)
{
    struct maker maker = {0};
    begin_rank(&maker, dirfd, rank, size, "made-up");
    struct trace_stream *stream = &maker.stream;
    uint32_t send = define(&maker, stream, SEND, 64, (int)((rank + 1) % size), 7, 0, -1);
    uint32_t irecv = define(&maker, stream, IRECV, 64, -1, -1, 0, -1);
    uint32_t wait = define(&maker, stream, WAIT, 64, -1, -1, 0, IRECV);
    uint32_t dup = define(&maker, stream, DUP, -1, -1, -1, 0, -1);
    for (int i = 0; i < 3; i++) {
        call(stream, irecv, 100 + 1000 * i, 150 + 1000 * i);
        call(stream, send, 200 + 1000 * i, 260 + 1000 * i + rank);
        call(stream, wait, 300 + 1000 * i, 500 + 1000 * i);
    }
    define_communicator(&maker, 2, 0x1234567890abcdefULL, rank, size);
    uint32_t reduce = define(&maker, stream, ALLREDUCE, 8, -1, -1, 2, -1);
    /* A callback inside comm_dup reduces twice: inner calls end first. */
    call(stream, reduce, 5010, 5020);
    call(stream, reduce, 5030, 5060);
    call(stream, dup, 5000, 5100);
    /* A call inside one with the very same arguments. */
    call(stream, reduce, 6020, 6030);
    call(stream, reduce, 6000, 6100);
    if (strcmp(kind, "threads") == 0 && rank == 0) {
        struct trace_stream second;
        trace_stream_open(&second, &maker.writer, (uint64_t)(now + shift));
        define_operations(&maker, &second);
        uint32_t other = define(&maker, &second, SEND, 64, 1, 7, 0, -1);
        call(&second, other, 250, 5500);
        trace_stream_close(&second);
    }
    if (strcmp(kind, "polls") == 0)
        make_polls(&maker, rank, size);
    if (strcmp(kind, "full") == 0)
        make_unrecorded(&maker, rank, size);
    if (strcmp(kind, "init") == 0) {
        call(stream, define(&maker, stream, INIT, -1, -1, -1, -1, -1), 2, 10);
        call(stream, define(&maker, stream, FINALIZE, -1, -1, -1, -1, -1), 7000 + rank, 27000);
    }
    now = 7000 + rank;
    if (strcmp(kind, "stuck") == 0)
        stick(&maker, rank);
    end_rank(&maker, comes_to_finalize(kind, rank));
}

static int make_directory(int at, const char *name)
{
    if (mkdirat(at, name, 0777) < 0 && errno != EEXIST)
        die(strerror(errno));
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        die(strerror(errno));
    return fd;
}

static void make_job(int run)
{
    char buffer[4096];
    struct error err;
    struct job_record_text text = {.buffer = buffer, .size = sizeof(buffer)};
    job_record_begin(&text);
    job_record_add(&text, "command", "./stencil 100% \xc3\xa9");
    job_record_add(&text, "what", "mpi-calls");
    job_record_add(&text, "user", "alice");
    job_record_add(&text, "hostname", "login1");
    job_record_add(&text, "working_directory", "/home/alice");
    job_record_add(&text, "timestamp", "2026-01-02T03:04:05+01:00");
    job_record_add(&text, "job", "17.0");
    job_record_add(&text, "node_count", "2");
    job_record_add(&text, "SLURM_JOB_ID", "17");
    job_record_add(&text, "SLURM_CLUSTER_NAME", "made-up");
    if (job_record_publish(&text, run, &err) < 0)
        die(err.text);
}

static void make_large(int world, long count)
{
    struct maker maker = {0};
    begin_rank(&maker, world, 0, 1, "made-up");
    uint32_t ids[50];
    for (int i = 0; i < 50; i++)
        ids[i] = define(&maker, &maker.stream, SEND, i, 0, i, 0, -1);
    for (long i = 0; i < count; i++)
        call(&maker.stream, ids[i * i % 50], 100 + 100 * i, 150 + 100 * i);
    now = 200 + 100 * count;
    end_rank(&maker, true);
}

static void make_names(int world)
{
    static const struct {
        int64_t bytes;
        int peer, tag;
    } messages[] = {{64, 1, 17},
                    {64, 1, 18},
                    {64, 2, 17},
                    {640, 1, 17},
                    {64, 1, 171717},
                    {-1, -1, -1},
                    {INT64_MAX, INT32_MAX, INT32_MAX},
                    {INT64_MAX - 1, INT32_MAX, INT32_MAX}};
    enum { MESSAGES = sizeof(messages) / sizeof(*messages) };
    struct maker maker = {0};
    begin_rank(&maker, world, 0, 1, "made-up");
    uint32_t ids[MESSAGES];
    for (int i = 0; i < MESSAGES; i++)
        ids[i] = define(&maker, &maker.stream, WAIT, messages[i].bytes, messages[i].peer,
                        messages[i].tag, 0, IRECV);
    for (int64_t i = 0; i < 1234 * MESSAGES; i++)
        call(&maker.stream, ids[i % MESSAGES], i * SECOND, i * SECOND + 123456789);
    now += SECOND;
    end_rank(&maker, true);
}

static void make_world(int world, uint32_t size, const char *kind)
{
    for (uint32_t rank = 0; rank < size; rank++) {
        if (strcmp(kind, "cut") != 0 || rank != 3)
            make_rank(world, rank, size, kind);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        die("usage: make_traces RUNDIR "
            "plain|threads|init|polls|full|ends|launched|stuck|cut|worlds|names|ranks N|large [N]");
    int run = make_directory(AT_FDCWD, argv[1]);
    make_job(run);
    if (strcmp(argv[2], "large") == 0) {
        make_large(make_directory(run, "made-up.0"), argc > 3 ? atol(argv[3]) : 1000000);
        return 0;
    }
    if (strcmp(argv[2], "names") == 0) {
        make_names(make_directory(run, "made-up.0"));
        return 0;
    }
    if (strcmp(argv[2], "worlds") == 0) {
        make_world(make_directory(run, "b-first.0"), 2, argv[2]);
        realtime += 10 * SECOND;
        make_world(make_directory(run, "a-later.0"), 3, argv[2]);
        return 0;
    }
    uint32_t size = 4;
    if (strcmp(argv[2], "ranks") == 0 && argc > 3)
        size = (uint32_t)atol(argv[3]);
    if (strcmp(argv[2], "ends") == 0) {
        size = ENDS;
        make_exits(run, ends, ENDS);
    }
    if (strcmp(argv[2], "stuck") == 0) {
        size = STUCK;
        make_exits(run, stuck_ends, STUCK);
    }
    if (strcmp(argv[2], "launched") == 0)
        make_launcher_exit(run);
    make_world(make_directory(run, "made-up.0"), size, argv[2]);
    return 0;
}
