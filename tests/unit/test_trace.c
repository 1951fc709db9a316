/* SPDX-License-Identifier: BSD-3-Clause */
/* What the trace writer writes is what the reader reads, on every file system and at every limit.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "schema/trace_reader.h"
#include "schema/trace_statistics.h"
#include "schema/trace_writer.h"

static const char name[] = "rank-000003.sptrace";
static const uint64_t no_limit = UINT64_C(1) << 40;
static struct error err;
static int directory = -1;

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s", path);
    close(fd);
}

/* A mount namespace of our own: as root at once, else inside a user namespace. */
static void own_mounts(void)
{
    char map[64];
    if (unshare(CLONE_NEWNS) < 0) {
        unsigned uid = getuid(), gid = getgid();
        cr_assert_eq(unshare(CLONE_NEWUSER | CLONE_NEWNS), 0, "no mount namespace: %s",
                     strerror(errno));
        write_text("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "0 %u 1", uid);
        write_text("/proc/self/uid_map", map);
        snprintf(map, sizeof map, "0 %u 1", gid);
        write_text("/proc/self/gid_map", map);
    }
    cr_assert_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
}

/* An empty file system of this type, which dies with the test, in `directory`. tmpfs is one whose
 * traces are mapped; ramfs cannot reserve space, so traces on it are written window by window. */
static void on(const char *type, const char *options)
{
    own_mounts();
    cr_assert_eq(mount("none", "/mnt", type, 0, options), 0, "%s: %s", type, strerror(errno));
    directory = open("/mnt", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert_geq(directory, 0);
}

/* --- a clock that counts ---------------------------------------------------------------------- */

static __thread struct trace_sync last_read;

static void read_clocks(struct trace_sync *sync)
{
    static uint64_t readings;
    uint64_t n = __atomic_add_fetch(&readings, 1, __ATOMIC_RELAXED);
    *sync =
        (struct trace_sync){.ticks = n, .monotonic_ns = (int64_t)n * 3, .realtime_ns = -(int64_t)n};
    last_read = *sync;
}

static struct trace_header identity(void)
{
    struct trace_header header = {.rank = 3,
                                  .world_size = 7,
                                  .world_sequence = 2,
                                  .local_rank = 1,
                                  .node_id = -1,
                                  .restart = -1,
                                  .pid = 4711,
                                  .family = FAMILY_MPICH,
                                  .thread_level = 3,
                                  .clock_source = CLOCK_SOURCE_TSC,
                                  .clock_shift = 2,
                                  .first_sync = {1, 2, 3}};
    strcpy(header.job, "17.0");
    strcpy(header.world, "slurm.pmix.17.0");
    strcpy(header.node, "n1");
    strcpy(header.host, "n1.example.org");
    strcpy(header.host_key, "boot time n1");
    strcpy(header.mpi_version, "MPICH Version: 4.0.2");
    return header;
}

static void create(struct trace_writer *writer, uint64_t limit)
{
    struct trace_header header = identity();
    int status = trace_writer_create(writer, directory, name, &header, limit, read_clocks, &err);
    cr_assert_eq(status, 0, "%s", err.text);
}

/* --- random records --------------------------------------------------------------------------- */

struct random {
    uint64_t state;
};

static uint64_t draw(struct random *random, uint64_t below)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random->state >> 20) % below;
}

/* Any magnitude is as likely as any other. */
static uint64_t draw_wide(struct random *random, unsigned bits)
{
    return draw(random, UINT64_C(1) << 44) << 20 >> (64 - draw(random, bits) % 64 - 1);
}

enum { RUNS = 40, INDICES = 50, SIGNATURES = 300 };

struct expected {
    struct trace_record record;
    struct trace_signature signature; /* of a RECORD_SIGNATURE */
    uint32_t indices[INDICES];
    struct trace_rank_run runs[RUNS];
    char name[TRACE_NAME_MAX + 1];
};

/* One thread's stream: what it has written so far can be drawn again from its seed. */
struct script {
    struct random random;
    uint64_t now;
    uint32_t operations, signatures;
};

static const char *const operation_names[] = {"isend", "irecv", "waitall", "comm_dup", "sendrecv"};

static struct trace_signature draw_signature(struct script *script)
{
    struct random *r = &script->random;
    static const uint32_t origins[] = {ORIGIN_NONE, ORIGIN_UNKNOWN, ORIGIN_MIXED};
    uint32_t origin = (uint32_t)draw(r, script->operations + 3);
    return (struct trace_signature){
        .operation = (uint32_t)draw(r, script->operations),
        .origin = origin < 3 ? origins[origin] : origin - 2,
        .bytes = draw(r, 9) ? (int64_t)draw_wide(r, 62) : -1,
        .peer = (int32_t)draw_wide(r, 31) - 3,
        .root = (int32_t)draw_wide(r, 31) - 3,
        .tag = (int32_t)draw(r, 2) ? (int32_t)draw_wide(r, 31) : INT32_MIN + 1,
        .communicator = (int32_t)draw_wide(r, 31) - 1,
    };
}

static void draw_communicator(struct script *script, struct expected *e)
{
    struct random *r = &script->random;
    for (int i = 0; i < RUNS; i++)
        e->runs[i] = (struct trace_rank_run){(uint32_t)draw_wide(r, 25), (uint32_t)draw_wide(r, 25),
                                             (int32_t)draw_wide(r, 31) * (draw(r, 2) ? 1 : -1)};
    e->record.communicator = (struct trace_communicator){
        .id = (uint32_t)draw_wide(r, 31),
        .kind = (uint32_t)draw(r, 2),
        .parent = (int32_t)draw_wide(r, 31) - 1,
        .rank = (uint32_t)draw_wide(r, 25),
        .size = (uint32_t)draw_wide(r, 25),
        .key = draw_wide(r, 64),
        .handle = draw_wide(r, 64),
        .run_count = (uint32_t)draw(r, RUNS),
        .runs = e->runs,
    };
}

/* Any byte that is no control character. */
static void draw_name(struct script *script, struct expected *e)
{
    struct random *r = &script->random;
    size_t length = draw(r, TRACE_NAME_MAX + 1);
    memset(e->name, 0, sizeof e->name);
    for (size_t i = 0; i < length; i++)
        e->name[i] = (char)(draw(r, 2) ? ' ' + draw(r, 0x5f) : 0x80 + draw(r, 0x80));
    e->record.name.communicator = (uint32_t)draw_wide(r, 31);
    e->record.name.text = e->name;
}

/* Draws one of the records that are smaller than most. */
static void draw_small(struct script *script, struct expected *e)
{
    static const enum record_type types[] = {RECORD_RESOLVE, RECORD_SENDING, RECORD_RECEIVING,
                                             RECORD_NAME, RECORD_FAILED, RECORD_PAUSE};
    struct random *r = &script->random;
    e->record.type = types[draw(r, sizeof types / sizeof *types)];
    if (e->record.type <= RECORD_RECEIVING && e->record.type >= RECORD_RESOLVE) {
        e->record.message.peer = (int64_t)draw_wide(r, 31) - 3;
        e->record.message.tag = (int64_t)draw_wide(r, 31) - 1;
        e->record.message.bytes = (int64_t)draw_wide(r, 62) - 1;
        e->record.message.index = draw(r, 2) ? (int64_t)draw_wide(r, 31) : -1;
    } else if (e->record.type == RECORD_NAME) {
        draw_name(script, e);
    } else if (e->record.type == RECORD_FAILED) {
        e->record.error_class = (int32_t)draw_wide(r, 31) - 1;
    } else {
        e->record.pause.paused = draw(r, 2);
        e->record.pause.ticks = draw_wide(r, 63);
    }
}

/* Draws the next record of a script. */
static void draw_next(struct script *script, struct expected *e)
{
    struct random *r = &script->random;
    uint64_t what = draw(r, 1000);
    if (script->signatures == 0 || (what < 10 && script->signatures < SIGNATURES)) {
        e->record.type = RECORD_SIGNATURE;
        e->record.signature_id = script->signatures++;
        e->signature = draw_signature(script);
    } else if (what < 20) {
        e->record.type = RECORD_COMMUNICATOR;
        draw_communicator(script, e);
    } else if (what < 25) {
        e->record.type = RECORD_SYNC;
    } else if (what < 50) {
        draw_small(script, e);
    } else if (what < 70) {
        e->record.type = RECORD_COMPLETION;
        e->record.completion.count = draw(r, INDICES);
        for (size_t i = 0; i < e->record.completion.count; i++)
            e->indices[i] = (uint32_t)draw_wide(r, 31);
        e->record.completion.indices = e->indices;
    } else {
        uint64_t gap = draw_wide(r, 30), duration = draw_wide(r, 30);
        uint64_t start = script->now + gap;
        if (draw(r, 20) == 0) /* an enclosing call ends after those it encloses */
            start = script->now > gap ? script->now - gap : 0;
        e->record.type = RECORD_EVENT;
        e->record.event =
            (struct trace_event){(uint32_t)draw(r, script->signatures), start, start + duration};
        script->now = start + duration;
    }
}

static void put(struct trace_stream *stream, const struct expected *e)
{
    const struct trace_record *record = &e->record;
    switch (record->type) {
    case RECORD_SIGNATURE:
        cr_assert_eq(trace_stream_signature(stream, &e->signature), record->signature_id);
        break;
    case RECORD_COMMUNICATOR:
        trace_stream_communicator(stream, &record->communicator);
        break;
    case RECORD_SYNC:
        trace_stream_sync(stream);
        break;
    case RECORD_RESOLVE:
        trace_stream_resolve(stream, &record->message);
        break;
    case RECORD_SENDING:
    case RECORD_RECEIVING:
        trace_stream_started(stream, record->type == RECORD_SENDING, &record->message);
        break;
    case RECORD_COMPLETION:
        trace_stream_completion(stream, (const int *)e->indices, record->completion.count);
        break;
    case RECORD_EVENT:
        trace_stream_event(stream, record->event.signature, record->event.start, record->event.end);
        break;
    case RECORD_NAME:
        trace_stream_name(stream, record->name.communicator, record->name.text);
        break;
    case RECORD_FAILED:
        trace_stream_failed(stream, record->error_class);
        break;
    case RECORD_PAUSE:
        trace_stream_pause(stream, record->pause.paused, record->pause.ticks);
        break;
    case RECORD_POLLS: /* no part of a script: how polls lie in runs depends on windows */
    case RECORD_WINDOW:
        break;
    }
}

static void same_signature(const struct trace_signature *x, const struct trace_signature *y)
{
    cr_assert_not_null(x);
    cr_assert(x->operation == y->operation && x->origin == y->origin && x->bytes == y->bytes &&
              x->peer == y->peer && x->root == y->root && x->tag == y->tag &&
              x->communicator == y->communicator);
}

/* What was written comes back as what it is: the root, or what stands there instead. */
static void same_as_written(const struct trace_reader *reader, uint32_t stream, uint32_t id,
                            const struct trace_signature *written)
{
    bool has_origin = written->origin != ORIGIN_NONE;
    bool exchanges = strcmp(operation_names[written->operation], "sendrecv") == 0;
    struct trace_signature expected = *written;
    if (has_origin || exchanges)
        expected.root = PEER_NONE;
    same_signature(trace_reader_signature(reader, stream, id), &expected);
    cr_assert_eq(trace_reader_received(reader, stream, id), has_origin ? written->received : -1);
    cr_assert_eq(trace_reader_source(reader, stream, id),
                 !has_origin && exchanges ? written->source : PEER_NONE);
}

static void same_communicator(const struct trace_communicator *x,
                              const struct trace_communicator *y)
{
    cr_assert(x->id == y->id && x->kind == y->kind && x->parent == y->parent &&
              x->rank == y->rank && x->size == y->size && x->key == y->key &&
              x->handle == y->handle);
    cr_assert_eq(x->run_count, y->run_count);
    for (uint32_t i = 0; i < x->run_count; i++)
        cr_assert(x->runs[i].first == y->runs[i].first && x->runs[i].count == y->runs[i].count &&
                  x->runs[i].stride == y->runs[i].stride);
}

static void same(const struct trace_reader *reader, const struct trace_record *got,
                 const struct expected *e)
{
    cr_assert_eq(got->type, e->record.type, "type %d, expected %d", got->type, e->record.type);
    switch (got->type) {
    case RECORD_SIGNATURE:
        cr_assert_eq(got->signature_id, e->record.signature_id);
        same_as_written(reader, got->stream, got->signature_id, &e->signature);
        break;
    case RECORD_COMMUNICATOR:
        same_communicator(&got->communicator, &e->record.communicator);
        break;
    case RECORD_SYNC: /* the clock's three hands belong together */
        cr_assert_eq(got->sync.monotonic_ns, (int64_t)got->sync.ticks * 3);
        cr_assert_eq(got->sync.realtime_ns, -(int64_t)got->sync.ticks);
        break;
    case RECORD_RESOLVE:
    case RECORD_SENDING:
    case RECORD_RECEIVING:
        cr_assert(got->message.peer == e->record.message.peer &&
                  got->message.tag == e->record.message.tag &&
                  got->message.bytes == e->record.message.bytes &&
                  got->message.index == e->record.message.index);
        break;
    case RECORD_COMPLETION:
        cr_assert_eq(got->completion.count, e->record.completion.count);
        for (size_t i = 0; i < got->completion.count; i++)
            cr_assert_eq(got->completion.indices[i], e->indices[i]);
        break;
    case RECORD_EVENT:
        cr_assert(got->event.signature == e->record.event.signature &&
                  got->event.start == e->record.event.start &&
                  got->event.end == e->record.event.end);
        break;
    case RECORD_NAME:
        cr_assert_eq(got->name.communicator, e->record.name.communicator);
        cr_assert_str_eq(got->name.text, e->record.name.text);
        break;
    case RECORD_FAILED:
        cr_assert_eq(got->error_class, e->record.error_class);
        break;
    case RECORD_PAUSE:
        cr_assert(got->pause.paused == e->record.pause.paused &&
                  got->pause.ticks == e->record.pause.ticks);
        break;
    case RECORD_POLLS:
    case RECORD_WINDOW:
        break;
    }
}

static struct script script_of(uint64_t seed)
{
    return (struct script){.random = {seed}, .now = seed};
}

static void define_operations(struct script *script, struct trace_stream *stream)
{
    for (uint32_t i = 0; i < sizeof operation_names / sizeof *operation_names; i++)
        cr_assert_eq(trace_stream_operation(stream, (enum mpi_kind)i, operation_names[i]), i);
    script->operations = sizeof operation_names / sizeof *operation_names;
}

static void write_script(struct script *script, struct trace_stream *stream, size_t records)
{
    struct expected e;
    for (size_t i = 0; i < records; i++) {
        draw_next(script, &e);
        put(stream, &e);
    }
}

static struct trace_reader *open_trace(void)
{
    struct trace_reader *reader;
    cr_assert_eq(trace_reader_open(&reader, directory, name, &err), 0, "%s", err.text);
    return reader;
}

/* Reads the trace and compares each stream with the script of its seed. Returns the number of
 * records of all streams, windows left out; *windows counts those. */
static size_t check_scripts(struct trace_reader *reader, const uint64_t *seeds, size_t streams,
                            size_t *windows)
{
    struct script *scripts = calloc(streams, sizeof *scripts);
    uint32_t *sequence = calloc(streams, sizeof *sequence);
    struct trace_record record;
    struct expected e;
    size_t count = 0;
    int status;

    *windows = 0;
    for (size_t i = 0; i < streams; i++)
        scripts[i] = script_of(seeds[i]);
    while ((status = trace_reader_next(reader, &record, &err)) > 0) {
        cr_assert_lt(record.stream, streams);
        struct script *script = &scripts[record.stream];
        if (record.type == RECORD_WINDOW) {
            cr_assert_eq(record.window->sequence, sequence[record.stream]++);
            cr_assert_eq(record.window->sync.monotonic_ns, (int64_t)record.window->sync.ticks * 3);
            ++*windows;
            continue;
        }
        script->operations = sizeof operation_names / sizeof *operation_names;
        draw_next(script, &e);
        same(reader, &record, &e);
        count++;
    }
    cr_assert_eq(status, 0, "%s", err.text);
    free(sequence);
    free(scripts);
    return count;
}

/* --- round trips ------------------------------------------------------------------------------ */

static void one_stream_comes_back(bool mapped)
{
    enum { RECORDS = 700000 };
    const uint64_t seed = 1;
    struct trace_writer writer;
    struct trace_stream stream;
    struct script script = script_of(seed);
    size_t windows;

    create(&writer, no_limit);
    cr_assert_eq(writer.mapped, mapped);
    trace_stream_open(&stream, &writer, script.now);
    define_operations(&script, &stream);
    write_script(&script, &stream, RECORDS);
    trace_stream_close(&stream);
    trace_writer_close(&writer);

    struct trace_reader *reader = open_trace();
    cr_expect_eq(check_scripts(reader, &seed, 1, &windows), RECORDS);
    cr_expect_geq(windows, 7, "%zu windows", windows);
    for (uint32_t i = 0; i < script.operations; i++) {
        const struct trace_operation *operation = trace_reader_operation(reader, 0, i);
        cr_assert_not_null(operation);
        cr_expect_str_eq(operation->name, operation_names[i]);
        cr_expect_eq(operation->kind, i);
    }
    cr_expect_null(trace_reader_operation(reader, 0, script.operations));
    cr_expect_null(trace_reader_signature(reader, 0, script.signatures));
    cr_expect_null(trace_reader_signature(reader, 1, 0));
    trace_reader_rewind(reader);
    cr_expect_eq(check_scripts(reader, &seed, 1, &windows), RECORDS, "a second pass");
    trace_reader_close(reader);
}

Test(trace, everything_comes_back_mapped)
{
    on("tmpfs", NULL);
    one_stream_comes_back(true);
}

Test(trace, everything_comes_back_buffered)
{
    on("ramfs", NULL);
    one_stream_comes_back(false);
}

Test(trace, header_and_state_come_back)
{
    struct trace_writer writer;
    struct trace_header header = identity();

    on("tmpfs", NULL);
    create(&writer, no_limit);
    trace_writer_initialised(&writer, 100);
    struct trace_reader *reader = open_trace();
    cr_expect_eq(trace_reader_state(reader)->phase, PHASE_INITIALISED);
    cr_expect_eq(trace_reader_state(reader)->init_end, 100);
    trace_reader_close(reader);

    trace_writer_finalised(&writer, 900);
    struct trace_sync sync = {5, 6, 7};
    trace_writer_sync(&writer, &sync);
    reader = open_trace();
    const struct trace_header *h = trace_reader_header(reader);
    cr_expect(h->rank == 3 && h->world_size == 7 && h->world_sequence == 2 && h->local_rank == 1 &&
              h->node_id == -1 && h->restart == -1 && h->pid == 4711 && h->family == FAMILY_MPICH &&
              h->thread_level == 3 && h->clock_source == CLOCK_SOURCE_TSC && h->clock_shift == 2);
    cr_expect_eq(memcmp(&h->first_sync, &header.first_sync, sizeof header.first_sync), 0);
    cr_expect_str_eq(h->job, header.job);
    cr_expect_str_eq(h->world, header.world);
    cr_expect_str_eq(h->node, header.node);
    cr_expect_str_eq(h->host, header.host);
    cr_expect_str_eq(h->host_key, header.host_key);
    cr_expect_str_eq(h->mpi_version, header.mpi_version);
    const struct trace_state *state = trace_reader_state(reader);
    cr_expect(state->phase == PHASE_FINALISED && state->stopped == STOP_NONE);
    cr_expect(state->init_end == 100 && state->finalize_start == 900);
    cr_expect_eq(memcmp(&state->last_sync, &sync, sizeof sync), 0);
    trace_reader_close(reader);

    trace_writer_close(&writer);
    reader = open_trace();
    cr_expect_eq(trace_reader_state(reader)->phase, PHASE_CLOSED);
    trace_reader_close(reader);
}

Test(trace, windows_grow_and_an_event_in_a_tight_loop_takes_four_bytes)
{
    enum { EVENTS = 6000000 };
    struct trace_writer writer;
    struct trace_stream stream;
    struct trace_record record;
    struct stat status;

    on("tmpfs", NULL);
    create(&writer, no_limit);
    trace_stream_open(&stream, &writer, 0);
    trace_stream_operation(&stream, KIND_POINT_TO_POINT, "send");
    trace_stream_signature(&stream, &(struct trace_signature){.bytes = 8});
    for (uint64_t i = 0; i < EVENTS; i++)
        trace_stream_event(&stream, 0, 2100 * i, 2100 * i + 2000);
    trace_stream_close(&stream);
    trace_writer_close(&writer);

    struct trace_reader *reader = open_trace();
    uint32_t size = TRACE_WINDOW_MIN;
    uint64_t events = 0, windows = 0;
    while (trace_reader_next(reader, &record, &err) > 0) {
        if (record.type == RECORD_WINDOW) {
            bool last = record.window->size != size;
            windows++;
            cr_expect(!last || events > EVENTS / 2);
            size = size < TRACE_WINDOW_LARGEST ? size * 2 : size;
        } else if (record.type == RECORD_EVENT) {
            cr_assert(record.event.start == 2100 * events &&
                      record.event.end == 2100 * events + 2000);
            events++;
        }
    }
    cr_expect_eq(events, EVENTS);
    cr_expect_eq(size, TRACE_WINDOW_LARGEST);
    trace_reader_close(reader);
    cr_assert_eq(fstatat(directory, name, &status, 0), 0);
    /* A header in front of each window, and room for a record or two that is left behind. */
    off_t between = (off_t)(sizeof(struct trace_window) + 2 * TRACE_RECORD_MAX);
    cr_expect_leq(status.st_size,
                  4 * (off_t)EVENTS + TRACE_WINDOW_OFFSET + (off_t)windows * between + 8000);
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { THREADS = TRACE_SLOTS + 6, PER_THREAD = 20000 };

static struct trace_writer shared_writer;

static void *write_one(void *seed)
{
    struct trace_stream *stream = aligned_alloc(64, sizeof *stream);
    struct script script = script_of((uint64_t)(uintptr_t)seed);
    trace_stream_open(stream, &shared_writer, script.now);
    define_operations(&script, stream);
    write_script(&script, stream, PER_THREAD);
    uintptr_t number = stream->number;
    trace_stream_close(stream);
    free(stream);
    return (void *)number;
}

static void threads_do_not_mix(void)
{
    pthread_t threads[THREADS];
    uint64_t seeds[THREADS] = {0};
    size_t windows;

    create(&shared_writer, no_limit);
    for (uintptr_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, write_one, (void *)(i + 100)), 0);
    for (uintptr_t i = 0; i < THREADS; i++) {
        void *number;
        pthread_join(threads[i], &number);
        cr_assert((uintptr_t)number < THREADS && seeds[(uintptr_t)number] == 0);
        seeds[(uintptr_t)number] = i + 100;
    }
    trace_writer_close(&shared_writer);
    struct trace_reader *reader = open_trace();
    cr_expect_eq(check_scripts(reader, seeds, THREADS, &windows), (size_t)THREADS * PER_THREAD);
    cr_expect_eq(trace_reader_stream_count(reader), THREADS);
    trace_reader_close(reader);
}

Test(trace, more_threads_than_slots_mapped)
{
    on("tmpfs", NULL);
    threads_do_not_mix();
}

Test(trace, more_threads_than_slots_buffered)
{
    on("ramfs", NULL);
    threads_do_not_mix();
}

/* --- limits ----------------------------------------------------------------------------------- */

/* Writes more than fits; all that was written before the trace stopped is there, and all that
 * was not is counted. */
static void stops(uint64_t limit, enum trace_stop reason)
{
    enum { EVENTS = 400000 };
    struct trace_writer writer;
    struct trace_stream stream, late;
    struct trace_record record;
    uint64_t events = 0, dropped;
    int status;

    create(&writer, limit);
    trace_stream_open(&stream, &writer, 0);
    trace_stream_operation(&stream, KIND_POINT_TO_POINT, "send");
    trace_stream_signature(&stream, &(struct trace_signature){.bytes = 8});
    errno = 4242;
    for (uint64_t i = 0; i < EVENTS; i++)
        trace_stream_event(&stream, 0, 2000 * i, 2000 * i + 1000);
    cr_expect_eq(errno, 4242, "errno is the program's");
    cr_expect_eq(writer.state->stopped, reason, "stopped: %u", writer.state->stopped);
    /* Other threads are refused as well, and nothing comes back; calls can still be told apart. */
    cr_expect_eq(trace_stream_signature(&stream, &(struct trace_signature){.bytes = 9}), 1);
    cr_expect_eq(trace_stream_signature(&stream, &(struct trace_signature){.bytes = 10}), 2);
    cr_expect_not(trace_stream_event(&stream, 1, 1, 2));
    trace_stream_open(&late, &writer, 0);
    cr_expect_eq(trace_stream_operation(&late, KIND_WAIT, "wait"), 0);
    cr_expect_not(trace_stream_event(&late, 0, 1, 2));
    cr_expect_eq(late.slot->dropped, 1);
    trace_stream_close(&late);
    dropped = stream.slot->dropped - 1;
    trace_stream_close(&stream);
    trace_writer_close(&writer);

    struct trace_reader *reader = open_trace();
    cr_expect_eq(trace_reader_state(reader)->stopped, reason);
    cr_expect_eq(trace_reader_state(reader)->phase, PHASE_CLOSED);
    cr_expect_eq(trace_reader_slots(reader)[0].dropped, dropped + 1);
    cr_expect_eq(trace_reader_slots(reader)[1].dropped, 1);
    while ((status = trace_reader_next(reader, &record, &err)) > 0) {
        if (record.type != RECORD_EVENT)
            continue;
        cr_assert(record.event.start == 2000 * events && record.event.end == 2000 * events + 1000);
        events++;
    }
    cr_expect_eq(status, 0, "%s", err.text);
    cr_expect_eq(events + dropped, EVENTS, "%llu read, %llu dropped", (unsigned long long)events,
                 (unsigned long long)dropped);
    cr_expect_gt(events, 10000);
    cr_expect_gt(dropped, 10000);
    trace_reader_close(reader);
}

Test(trace, size_limit_mapped)
{
    struct stat status;
    on("tmpfs", NULL);
    stops(500000, STOP_LIMIT);
    cr_assert_eq(fstatat(directory, name, &status, 0), 0);
    cr_expect_leq(status.st_size, 500000);
}

Test(trace, size_limit_buffered)
{
    struct stat status;
    on("ramfs", NULL);
    stops(500000, STOP_LIMIT);
    cr_assert_eq(fstatat(directory, name, &status, 0), 0);
    cr_expect_leq(status.st_size, 500000);
}

Test(trace, full_disk)
{
    on("tmpfs", "size=512k");
    stops(no_limit, STOP_NO_SPACE);
}

Test(trace, file_size_limit_mapped)
{
    struct rlimit limit = {600000, 600000};
    on("tmpfs", NULL);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    stops(no_limit, STOP_FILE_SIZE);
}

/* Whether a window fits is seen when it is written: it may be lost, the program may not. */
Test(trace, file_size_limit_buffered)
{
    struct rlimit limit = {600000, 600000};
    struct trace_writer writer;
    struct trace_stream stream;
    struct trace_record record;
    uint64_t events = 0;

    on("ramfs", NULL);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    create(&writer, no_limit);
    trace_stream_open(&stream, &writer, 0);
    trace_stream_operation(&stream, KIND_POINT_TO_POINT, "send");
    trace_stream_signature(&stream, &(struct trace_signature){.bytes = 8});
    for (uint64_t i = 0; i < 100000; i++)
        trace_stream_event(&stream, 0, 2000 * i, 2000 * i + 1000);
    trace_stream_close(&stream);
    trace_writer_close(&writer);

    struct trace_reader *reader = open_trace();
    cr_expect_eq(trace_reader_state(reader)->stopped, STOP_FILE_SIZE);
    while (trace_reader_next(reader, &record, &err) > 0) {
        if (record.type == RECORD_EVENT)
            cr_assert_eq(record.event.start, 2000 * events++);
    }
    cr_expect_gt(events, 10000);
    cr_expect_eq(events + trace_reader_slots(reader)[0].dropped, 100000, "none is lost");
    trace_reader_close(reader);
}

/* The limit lies between the fixed pages and where the first window would begin. */
Test(trace, no_room_for_the_first_window_buffered)
{
    struct rlimit limit = {TRACE_WINDOW_OFFSET - TRACE_PAGE, TRACE_WINDOW_OFFSET - TRACE_PAGE};
    struct trace_writer writer;
    struct trace_stream stream;

    on("ramfs", NULL);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    create(&writer, no_limit);
    trace_stream_open(&stream, &writer, 0);
    cr_expect_not(trace_stream_event(&stream, 0, 1, 2));
    cr_expect_eq(writer.state->stopped, STOP_FILE_SIZE);
    trace_stream_close(&stream);
    trace_writer_close(&writer);
}

Test(trace, no_room_for_the_first_page)
{
    struct trace_writer writer;
    struct trace_header header = identity();
    struct rlimit limit = {4096, 4096};
    struct stat status;

    on("tmpfs", NULL);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_expect_eq(
        trace_writer_create(&writer, directory, name, &header, no_limit, read_clocks, &err), -1);
    cr_expect_eq(errno, EFBIG);
    cr_expect_not_null(strstr(err.text, name));
    cr_expect_eq(fstatat(directory, name, &status, 0), -1, "no empty file is left");
}

/* --- files ------------------------------------------------------------------------------------ */

Test(trace, a_taken_name_is_refused)
{
    struct trace_writer first, second;
    struct trace_header header = identity();
    on("tmpfs", NULL);
    create(&first, no_limit);
    cr_expect_eq(
        trace_writer_create(&second, directory, name, &header, no_limit, read_clocks, &err), -1);
    cr_expect_eq(errno, EEXIST);
    struct trace_reader *reader = open_trace();
    trace_reader_close(reader);
}

Test(trace, closing_gives_space_back)
{
    struct trace_writer writer;
    struct trace_stream stream;
    struct stat status;
    on("tmpfs", NULL);
    create(&writer, no_limit);
    trace_stream_open(&stream, &writer, 0);
    trace_stream_operation(&stream, KIND_POINT_TO_POINT, "send");
    cr_assert_eq(fstatat(directory, name, &status, 0), 0);
    cr_expect_geq(status.st_size, TRACE_WINDOW_OFFSET + TRACE_WINDOW_MIN);
    trace_stream_close(&stream);
    trace_writer_close(&writer);
    cr_assert_eq(fstatat(directory, name, &status, 0), 0);
    cr_expect_leq(status.st_size, TRACE_WINDOW_OFFSET + 100);
    cr_expect_leq(status.st_blocks * 512, 5 * TRACE_PAGE);
}

/* The next window is there before the current one is full, and goes again if it is not needed. */
Test(trace, a_window_is_prepared_and_given_back)
{
    struct trace_writer writer;
    struct trace_stream stream;
    struct trace_record record;
    struct stat status;
    uint64_t events = 0, found = 0;
    on("tmpfs", NULL);
    create(&writer, no_limit);
    trace_stream_open(&stream, &writer, 0);
    trace_stream_operation(&stream, KIND_POINT_TO_POINT, "send");
    trace_stream_signature(&stream, &(struct trace_signature){.bytes = 8});
    off_t full = TRACE_WINDOW_OFFSET + TRACE_WINDOW_MIN;
    do {
        trace_stream_event(&stream, 0, 2 * events, 2 * events + 1);
        events++;
        cr_assert_eq(fstatat(directory, name, &status, 0), 0);
    } while (status.st_size == full && stream.window_count == 1);
    cr_expect_eq(status.st_size, full + 2 * TRACE_WINDOW_MIN);
    cr_expect_eq(stream.window_count, 1);
    struct trace_reader *reader = open_trace();
    while (trace_reader_next(reader, &record, &err) > 0)
        found += record.type == RECORD_EVENT;
    trace_reader_close(reader);
    cr_expect_eq(found, events);
    trace_stream_close(&stream);
    trace_writer_close(&writer);
    cr_assert_eq(fstatat(directory, name, &status, 0), 0);
    cr_expect_lt(status.st_size, full);
}

/* Two threads have prepared windows: that of the first lies in the middle, and takes no space. */
Test(trace, a_window_that_is_not_needed_takes_no_space)
{
    struct trace_writer writer;
    struct trace_stream stream[2];
    struct trace_record record;
    struct stat before, after;
    int status, found = 0;
    enum { PREPARED = TRACE_WINDOW_MIN / 8 };
    on("tmpfs", NULL);
    create(&writer, no_limit);
    for (int i = 0; i < 2; i++) {
        trace_stream_open(&stream[i], &writer, 0);
        trace_stream_operation(&stream[i], KIND_POINT_TO_POINT, "send");
        trace_stream_signature(&stream[i], &(struct trace_signature){.bytes = 8});
    }
    for (uint64_t event = 0; event < 2 * PREPARED; event++)
        trace_stream_event(&stream[event % 2], 0, 100000 * event, 100000 * event + 100000);
    cr_expect(stream[0].next.memory && stream[1].next.memory);
    cr_assert_eq(fstatat(directory, name, &before, 0), 0);
    trace_stream_close(&stream[0]);
    cr_assert_eq(fstatat(directory, name, &after, 0), 0);
    cr_expect_eq(after.st_size, before.st_size);
    /* Nor does what is left of the window before it. */
    cr_expect_geq((before.st_blocks - after.st_blocks) * 512,
                  2 * TRACE_WINDOW_MIN - TRACE_PAGE);
    cr_expect_lt((before.st_blocks - after.st_blocks) * 512, 3 * TRACE_WINDOW_MIN);
    trace_stream_close(&stream[1]);
    trace_writer_close(&writer);
    struct trace_reader *reader = open_trace();
    while ((status = trace_reader_next(reader, &record, &err)) > 0)
        found += record.type == RECORD_EVENT;
    cr_expect_eq(status, 0, "%s", err.text);
    cr_expect_eq(found, 2 * PREPARED);
    trace_reader_close(reader);
}

/* Streams end in any order: only the last window of the file can shrink, the rest stays readable.
 */
Test(trace, streams_that_close_out_of_order)
{
    enum { STREAMS = 5, ROUNDS = 4 };
    static struct trace_stream streams[STREAMS * ROUNDS];
    uint64_t seeds[STREAMS * ROUNDS];
    struct trace_writer writer;
    size_t windows;

    on("tmpfs", NULL);
    create(&writer, no_limit);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < STREAMS; i++) {
            size_t n = round * STREAMS + i;
            struct script script = script_of(seeds[n] = n + 1);
            trace_stream_open(&streams[n], &writer, script.now);
            define_operations(&script, &streams[n]);
            write_script(&script, &streams[n], 3000);
        }
        for (size_t i = 0; i < STREAMS; i++)
            trace_stream_close(&streams[round * STREAMS + (i * 3 + round) % STREAMS]);
    }
    trace_writer_close(&writer);
    struct trace_reader *reader = open_trace();
    cr_expect_eq(check_scripts(reader, seeds, STREAMS * ROUNDS, &windows), 3000 * STREAMS * ROUNDS);
    trace_reader_close(reader);
}

Test(trace, a_live_trace_is_read_up_to_its_last_record)
{
    const uint64_t seed = 9;
    struct trace_writer writer;
    struct trace_stream stream;
    struct script script = script_of(seed);
    size_t windows;

    on("tmpfs", NULL);
    create(&writer, no_limit);
    trace_stream_open(&stream, &writer, script.now);
    define_operations(&script, &stream);
    for (size_t written = 0; written < 60000; written += 5000) {
        struct trace_reader *reader = open_trace();
        cr_assert_eq(check_scripts(reader, &seed, 1, &windows), written);
        trace_reader_close(reader);
        write_script(&script, &stream, 5000);
    }
    trace_writer_abandon(&writer);
}

Test(trace, a_buffered_trace_has_what_was_flushed)
{
    const uint64_t seed = 10;
    struct trace_writer writer;
    struct trace_stream stream;
    struct script script = script_of(seed);
    size_t windows;

    on("ramfs", NULL);
    create(&writer, no_limit);
    trace_stream_open(&stream, &writer, script.now);
    define_operations(&script, &stream);
    for (size_t written = 0; written < 30000; written += 1000) {
        struct trace_reader *reader = open_trace();
        cr_assert_eq(check_scripts(reader, &seed, 1, &windows), written);
        trace_reader_close(reader);
        write_script(&script, &stream, 1000);
        trace_stream_flush(&stream);
    }
}

/* What a rank does, and what it counts, is in the file about once a second. */
Test(trace, a_buffered_trace_has_its_slots_and_counts_with_every_sync_point)
{
    static const struct counted_operation send = {KIND_POINT_TO_POINT, "send"};
    const struct trace_signature signature = {.peer = 1};
    struct trace_writer writer;
    struct trace_stream stream;
    struct trace_unrecorded unrecorded;
    struct trace_statistics_index index = {0};
    on("ramfs", NULL);
    create(&writer, no_limit);
    trace_stream_open(&stream, &writer, 0);
    void (*const syncs[])(struct trace_stream *) = {trace_stream_sync, trace_stream_sync_state};
    for (uint32_t i = 0; i < 2; i++) {
        trace_slot_show(stream.slot, 6 + i, 4711);
        trace_statistics_add(writer.statistics,
                             trace_statistics_place(writer.statistics, &index, &signature, &send,
                                                    &send),
                             10);
        syncs[i](&stream);
        struct trace_reader *reader = open_trace();
        cr_expect_eq(trace_reader_slots(reader)[0].signature, 6 + i);
        cr_assert(trace_reader_unrecorded(reader, 0, &unrecorded));
        cr_expect_eq(unrecorded.count, 1 + i);
        trace_reader_close(reader);
    }
    trace_writer_close(&writer);
}

Test(trace, a_killed_process_loses_nothing_it_had_finished)
{
    enum { RECORDS = 50000 };
    const uint64_t seed = 11;
    size_t windows;
    on("tmpfs", NULL);
    pid_t child = fork();
    if (child == 0) {
        struct trace_writer writer;
        struct trace_stream stream;
        struct script script = script_of(seed);
        create(&writer, no_limit);
        trace_stream_open(&stream, &writer, script.now);
        define_operations(&script, &stream);
        write_script(&script, &stream, RECORDS);
        raise(SIGKILL);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    struct trace_reader *reader = open_trace();
    cr_expect_eq(check_scripts(reader, &seed, 1, &windows), RECORDS);
    trace_reader_close(reader);
}

/* Opens a stream and writes an event. */
static void begin_stream(struct trace_stream *stream, struct trace_writer *writer)
{
    trace_stream_open(stream, writer, 0);
    trace_stream_operation(stream, KIND_POINT_TO_POINT, "send");
    trace_stream_signature(stream, &(struct trace_signature){.bytes = 8});
    cr_assert(trace_stream_event(stream, 0, 10, 20));
}

Test(trace, a_slot_goes_to_another_stream_when_its_own_is_closed)
{
    struct trace_writer writer;
    struct trace_stream streams[TRACE_SLOTS + 1];
    on("tmpfs", NULL);
    create(&writer, no_limit);
    for (int i = 0; i < TRACE_SLOTS + 1; i++)
        begin_stream(&streams[i], &writer);
    struct trace_slot *slot = streams[7].slot;
    cr_expect_eq(streams[TRACE_SLOTS].slot, &streams[TRACE_SLOTS].no_slot);
    slot->dropped = 3;
    trace_slot_show(slot, 5, 6);
    trace_stream_close(&streams[7]);
    begin_stream(&streams[7], &writer);
    cr_expect_eq(streams[7].slot, slot);
    cr_expect_eq(slot->stream, TRACE_SLOTS + 2);
    cr_expect_eq(slot->signature, 0);
    cr_expect_eq(slot->dropped, 3, "what did not get into the file counts on");
}

Test(trace, threads_that_come_and_go_keep_no_space)
{
    struct trace_writer writer;
    struct trace_stream streams[3];
    on("tmpfs", NULL);
    create(&writer, 4 << 20);
    begin_stream(&streams[0], &writer);
    for (int i = 1; i < 500; i++) { /* none has the file's last window when it is closed */
        begin_stream(&streams[i % 3], &writer);
        if (i > 1)
            trace_stream_close(&streams[(i - 1) % 3]);
    }
    cr_expect_eq(writer.state->stopped, STOP_NONE);
}

static struct trace_writer *interrupted;

static void sync_in_handler(int number)
{
    (void)number;
    struct trace_sync now = {0};
    trace_writer_sync(interrupted, &now);
}

/* As one that calls exit() does. */
Test(trace, a_signal_handler_does_not_wait_for_the_call_it_interrupts, .timeout = 60)
{
    enum { AREAS = 4000 };
    struct trace_writer writer;
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {0};
    const struct trace_area area = {.size = TRACE_ALIGN, .kind = AREA_ORIGINS};
    on("tmpfs", NULL);
    create(&writer, no_limit);
    interrupted = &writer;
    signal(SIGALRM, sync_in_handler);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < AREAS; i++)
        cr_assert_not_null(trace_writer_area(&writer, &area));
    setitimer(ITIMER_REAL, &never, NULL);
}

Test(trace, a_child_of_fork_writes_nothing)
{
    enum { RECORDS = 1000 };
    const uint64_t seed = 12;
    size_t windows;
    struct trace_writer writer;
    struct trace_stream stream;
    struct script script = script_of(seed);
    on("tmpfs", NULL);
    create(&writer, no_limit);
    trace_stream_open(&stream, &writer, script.now);
    define_operations(&script, &stream);
    write_script(&script, &stream, RECORDS);
    pid_t child = fork();
    if (child == 0) {
        writer.lock = 1; /* of a thread that is not here */
        trace_writer_forked(&writer, &stream);
        trace_slot_show(stream.slot, 5, 6);
        write_script(&script, &stream, 100 * RECORDS);
        trace_writer_finalised(&writer, 1);
        trace_stream_sync(&stream);
        trace_stream_close(&stream);
        trace_writer_close(&writer);
        _exit(0);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    struct trace_reader *reader = open_trace();
    cr_expect_eq(check_scripts(reader, &seed, 1, &windows), RECORDS);
    cr_expect_eq(trace_reader_state(reader)->phase, PHASE_OPENED);
    cr_expect_eq(trace_reader_state(reader)->stopped, STOP_NONE);
    cr_expect_eq(trace_reader_slots(reader)[0].signature, 0);
    trace_reader_close(reader);
}

static struct trace_writer cancelled_writer;

/* Takes windows while a cancellation is pending, which would end the thread at the first chance. */
static void *write_cancelled(void *data)
{
    struct trace_stream *stream = data;
    pthread_cancel(pthread_self());
    trace_stream_open(stream, &cancelled_writer, 1);
    uint32_t operation = trace_stream_operation(stream, KIND_COLLECTIVE, "barrier");
    const struct trace_signature barrier = {.operation = operation, .root = -1};
    uint32_t id = trace_stream_signature(stream, &barrier);
    for (uint64_t i = 0; i < 200000; i++)
        trace_stream_event(stream, id, 10 * i, 10 * i + 5);
    trace_stream_close(stream);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return stream;
}

Test(trace, a_thread_is_not_cancelled_while_it_writes)
{
    struct trace_stream stream;
    pthread_t thread;
    void *result;
    on("tmpfs", NULL);
    create(&cancelled_writer, no_limit);
    cr_assert_eq(pthread_create(&thread, NULL, write_cancelled, &stream), 0);
    cr_assert_eq(pthread_join(thread, &result), 0);
    cr_assert_eq(result, &stream);
    cr_assert_eq(cancelled_writer.lock, 0);
    trace_writer_close(&cancelled_writer);
    size_t events = 0;
    struct trace_record record;
    struct trace_reader *reader = open_trace();
    while (trace_reader_next(reader, &record, NULL) > 0)
        events += record.type == RECORD_EVENT;
    cr_expect_eq(events, 200000);
    trace_reader_close(reader);
}

/* --- calls that find no room ------------------------------------------------------------------ */

static struct trace_statistics_index counted;

static int count(struct trace_writer *writer, const struct trace_signature *signature,
                 uint64_t ticks)
{
    static const struct counted_operation wait = {KIND_WAIT, "wait"}, irecv = {KIND_POINT_TO_POINT,
                                                                              "irecv"};
    int place =
        trace_statistics_place(writer->statistics, &counted, signature, &wait, &irecv);
    if (place >= 0)
        trace_statistics_add(writer->statistics, place, ticks);
    return place;
}

Test(trace, calls_without_room_are_counted_by_what_they_were)
{
    struct trace_writer writer;
    struct trace_unrecorded got;
    const struct trace_signature some = {.origin = 8, .bytes = 24, .peer = 3, .root = -1, .tag = 9,
                                         .communicator = 1},
                                 none = {.bytes = -1, .peer = -1, .root = -1, .tag = -1,
                                         .communicator = -1};
    for (int mapped = 0; mapped < 2; mapped++) {
        on(mapped ? "tmpfs" : "ramfs", NULL);
        create(&writer, no_limit);
        cr_expect_eq(count(&writer, &some, 100), 0);
        cr_expect_eq(count(&writer, &none, 7), 1);
        cr_expect_eq(count(&writer, &some, 50), 0);
        trace_writer_close(&writer);

        struct trace_reader *reader = open_trace();
        cr_assert_eq(trace_reader_unrecorded_count(reader), 2);
        cr_assert(trace_reader_unrecorded(reader, 0, &got));
        cr_expect_str_eq(got.operation.name, "wait");
        cr_expect_eq(got.operation.kind, KIND_WAIT);
        cr_expect_str_eq(got.origin.name, "irecv");
        cr_expect(got.bytes == 24 && got.peer == 3 && got.root == -1 && got.tag == 9 &&
                  got.communicator == 1);
        cr_expect(got.count == 2 && got.ticks == 150);
        cr_assert(trace_reader_unrecorded(reader, 1, &got));
        cr_expect_str_eq(got.origin.name, "");
        cr_expect(got.count == 1 && got.ticks == 7);
        trace_reader_close(reader);
    }
}

Test(trace, more_different_calls_than_the_area_holds_are_counted_by_operation)
{
    enum { DIFFERENT = 20000 };
    struct trace_writer writer;
    struct trace_unrecorded got;
    uint64_t sum = 0;
    on("tmpfs", NULL);
    create(&writer, no_limit);
    for (int i = 0; i < DIFFERENT; i++)
        cr_assert_geq(count(&writer, &(struct trace_signature){.bytes = i, .origin = 8}, 1), 0);
    trace_writer_close(&writer);
    struct trace_reader *reader = open_trace();
    uint32_t places = trace_reader_unrecorded_count(reader);
    cr_expect_gt(places, 3500);
    for (uint32_t i = 0; i < places; i++) {
        cr_assert(trace_reader_unrecorded(reader, i, &got));
        sum += got.count;
    }
    cr_expect_eq(sum, DIFFERENT);
    cr_expect(got.bytes == -1 && got.peer == -1 && strcmp(got.origin.name, "mixed") == 0);
    trace_reader_close(reader);
}

/* After MPI_Finalize a thread may still be in its last call: its stream is memory that may be
 * written to, and windows are no longer given out. */
Test(trace, a_stream_may_outlive_its_writer)
{
    struct trace_writer writer;
    struct trace_stream stream;
    on("tmpfs", NULL);
    create(&writer, no_limit);
    trace_stream_open(&stream, &writer, 0);
    trace_stream_operation(&stream, KIND_POINT_TO_POINT, "send");
    trace_stream_signature(&stream, &(struct trace_signature){.bytes = 8});
    trace_writer_close(&writer);
    for (uint64_t i = 0; i < 200000; i++)
        trace_stream_event(&stream, 0, 2000 * i, 2000 * i + 1000);
    cr_expect_gt(stream.slot->dropped, 0);
    trace_stream_close(&stream);
}

/* --- what the reader refuses ------------------------------------------------------------------ */

static void refused(const char *reason)
{
    struct trace_reader *reader;
    cr_assert_eq(trace_reader_open(&reader, directory, name, &err), -1);
    cr_expect_not_null(strstr(err.text, reason), "%s", err.text);
    cr_expect_not_null(strstr(err.text, name), "%s", err.text);
}

static void patch(off_t offset, const void *bytes, size_t size)
{
    int fd = openat(directory, name, O_WRONLY | O_CLOEXEC);
    cr_assert_eq(pwrite(fd, bytes, size, offset), (ssize_t)size);
    close(fd);
}

Test(trace, what_is_no_trace_is_refused)
{
    on("tmpfs", NULL);
    refused("No such file");
    cr_assert_eq(mkdirat(directory, name, 0755), 0);
    refused("no regular file");
    cr_assert_eq(unlinkat(directory, name, AT_REMOVEDIR), 0);
    cr_assert_eq(mkfifoat(directory, name, 0600), 0);
    refused("no regular file");
    cr_assert_eq(unlinkat(directory, name, 0), 0);
    cr_assert_eq(symlinkat("/etc/passwd", directory, name), 0);
    refused("symbolic link");
    cr_assert_eq(unlinkat(directory, name, 0), 0);
    close(openat(directory, name, O_CREAT | O_WRONLY, 0600));
    refused("not a rank trace");
}

Test(trace, another_version_or_byte_order_is_refused)
{
    struct trace_writer writer;
    on("tmpfs", NULL);
    create(&writer, no_limit);
    trace_writer_close(&writer);
    uint16_t major = TRACE_MAJOR + 1, good = TRACE_MAJOR;
    uint32_t order = 0x04030201, right = TRACE_BYTE_ORDER;
    patch(offsetof(struct trace_header, major), &major, sizeof major);
    refused("trace format 4, this program reads 3");
    patch(offsetof(struct trace_header, major), &good, sizeof good);
    patch(offsetof(struct trace_header, byte_order), &order, sizeof order);
    refused("byte order");
    patch(offsetof(struct trace_header, byte_order), &right, sizeof right);
    struct trace_reader *reader = open_trace();
    trace_reader_close(reader);
    cr_assert_eq(truncate("/mnt/rank-000003.sptrace", 100), 0);
    refused("cut off");
}

/* A newer minor version adds control records and header fields: they are skipped. */
Test(trace, records_of_a_newer_version_are_skipped)
{
    struct trace_writer writer;
    struct trace_stream stream;
    struct trace_record record;
    const int indices[] = {1, 2, 3};

    on("tmpfs", NULL);
    create(&writer, no_limit);
    trace_stream_open(&stream, &writer, 0);
    trace_stream_operation(&stream, KIND_WAIT, "waitall");
    trace_stream_signature(&stream, &(struct trace_signature){.bytes = 8});
    off_t at = (off_t)stream.window_offset + (stream.cursor - stream.window);
    trace_stream_completion(&stream, indices, 3);
    trace_stream_event(&stream, 0, 10, 20);
    trace_stream_close(&stream);
    trace_writer_close(&writer);
    unsigned char tag[VARINT_HEADROOM];
    uint16_t minor = TRACE_MINOR + 1;
    varint_put(tag, TRACE_TAG_EVENT - 1);
    patch(at, tag, 1);
    patch(offsetof(struct trace_header, minor), &minor, sizeof minor);

    struct trace_reader *reader = open_trace();
    const enum record_type types[] = {RECORD_WINDOW, RECORD_SIGNATURE, RECORD_EVENT};
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(trace_reader_next(reader, &record, &err), 1);
        cr_expect_eq(record.type, types[i]);
    }
    cr_expect_eq(trace_reader_next(reader, &record, &err), 0);
    trace_reader_close(reader);
}

Test(trace, long_lists_are_cut_not_overrun)
{
    enum { MANY = 5000 };
    static int indices[MANY];
    static struct trace_rank_run runs[MANY];
    struct trace_communicator communicator = {.run_count = MANY, .runs = runs, .size = MANY};
    struct trace_writer writer;
    struct trace_stream stream;
    struct trace_record record;
    char long_name[3 * TRACE_NAME_MAX];

    for (int i = 0; i < MANY; i++) {
        indices[i] = INT32_MAX - i;
        runs[i] = (struct trace_rank_run){(1u << 26) - (uint32_t)i, 1u << 26, INT32_MIN + i};
    }
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    on("tmpfs", NULL);
    create(&writer, no_limit);
    trace_stream_open(&stream, &writer, 0);
    trace_stream_operation(&stream, KIND_WAIT, long_name);
    trace_stream_signature(&stream, &(struct trace_signature){.bytes = 8});
    for (int round = 0; round < 30; round++) {
        trace_stream_completion(&stream, indices, MANY);
        trace_stream_communicator(&stream, &communicator);
        trace_stream_event(&stream, 0, 10, 20);
    }
    trace_stream_close(&stream);
    trace_writer_close(&writer);

    struct trace_reader *reader = open_trace();
    int events = 0, completions = 0, communicators = 0;
    while (trace_reader_next(reader, &record, &err) > 0) {
        if (record.type == RECORD_COMPLETION) {
            cr_assert_geq(record.completion.count, 1000);
            for (size_t i = 0; i < record.completion.count; i++)
                cr_assert_eq(record.completion.indices[i], (uint32_t)indices[i]);
            completions++;
        } else if (record.type == RECORD_COMMUNICATOR) {
            cr_assert_geq(record.communicator.run_count, 1000);
            cr_assert_eq(memcmp(record.communicator.runs, runs,
                                record.communicator.run_count * sizeof *runs),
                         0);
            communicators++;
        }
        events += record.type == RECORD_EVENT;
    }
    cr_expect(events == 30 && completions == 30 && communicators == 30);
    cr_expect_eq(strlen(trace_reader_operation(reader, 0, 0)->name), TRACE_NAME_MAX);
    trace_reader_close(reader);
}

/* --- runs of polls ---------------------------------------------------------------------------- */

enum { POLL_COMMON = 3, NO_POLL = 4, POLL_SIGNATURES = 5 };

/* A stream whose signatures 0 to 2 are polls, 3 is what they have in common, and 4 is none. */
static void open_polling(struct trace_writer *writer, struct trace_stream *stream)
{
    create(writer, no_limit);
    trace_stream_open(stream, writer, 0);
    trace_stream_operation(stream, KIND_POLL, "test");
    trace_stream_operation(stream, KIND_COLLECTIVE, "barrier");
    for (int i = 0; i < POLL_SIGNATURES; i++)
        cr_assert_eq(trace_stream_signature(stream, &(struct trace_signature){
                                                        .operation = i == NO_POLL, .bytes = i}),
                     i);
}

/* A poll as the recorder writes it. */
static void poll_once(struct trace_stream *stream, uint32_t signature, uint64_t start, uint64_t end)
{
    if (trace_run_goes_on(stream)) {
        bool alone = stream->run.count == 1 && stream->run.of[0].signature == signature;
        if (trace_run_count(stream, signature, start, end) ||
            trace_run_join(stream, signature, alone ? signature : POLL_COMMON, start, end))
            return;
    }
    trace_run_begin(stream, signature, start, end);
}

static void close_polling(struct trace_writer *writer, struct trace_stream *stream)
{
    trace_stream_close(stream);
    trace_writer_close(writer);
}

/* The next record that is no window and no definition. */
static int next_record(struct trace_reader *reader, struct trace_record *record)
{
    int status;
    do {
        status = trace_reader_next(reader, record, &err);
    } while (status > 0 && (record->type == RECORD_WINDOW || record->type == RECORD_SIGNATURE));
    return status;
}

static void expect_event(struct trace_reader *reader, uint64_t start, uint64_t end)
{
    struct trace_record record;
    cr_assert_eq(next_record(reader, &record), 1, "%s", err.text);
    cr_assert_eq(record.type, RECORD_EVENT);
    cr_expect_eq(record.event.start, start);
    cr_expect_eq(record.event.end, end);
}

/* The next record is a run of these polls. */
static void expect_polls(struct trace_reader *reader, uint64_t start, uint64_t end,
                         uint32_t signature, size_t count, const struct trace_polled *polled)
{
    struct trace_record record;
    cr_assert_eq(next_record(reader, &record), 1, "%s", err.text);
    cr_assert_eq(record.type, RECORD_POLLS, "type %d", record.type);
    cr_expect_eq(record.polls.event.start, start);
    cr_expect_eq(record.polls.event.end, end, "%llu", (unsigned long long)record.polls.event.end);
    cr_expect_eq(record.polls.event.signature, signature);
    cr_expect_eq(record.polls.first, polled[0].signature);
    cr_assert_eq(record.polls.count, count);
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(record.polls.polled[i].signature, polled[i].signature);
        cr_expect_eq(record.polls.polled[i].count, polled[i].count);
        cr_expect_eq(record.polls.polled[i].busy, polled[i].busy);
    }
}

static void expect_end(struct trace_reader *reader)
{
    struct trace_record record;
    cr_expect_eq(next_record(reader, &record), 0);
    trace_reader_close(reader);
}

Test(polls, a_run_is_one_record_and_what_follows_counts_from_its_end)
{
    struct trace_writer writer;
    struct trace_stream stream;
    const struct trace_polled polled[] = {{.signature = 0, .count = 100, .busy = 500}};
    on("tmpfs", NULL);
    open_polling(&writer, &stream);
    poll_once(&stream, 0, 10, 15); /* alone, as the next one is recorded differently */
    trace_stream_event(&stream, 1, 20, 25);
    for (uint64_t i = 0; i < 100; i++)
        poll_once(&stream, 0, 100 + 10 * i, 105 + 10 * i);
    trace_stream_event(&stream, 1, 2000, 2010);
    close_polling(&writer, &stream);

    struct trace_reader *reader = open_trace();
    expect_event(reader, 10, 15);
    expect_event(reader, 20, 25);
    expect_polls(reader, 100, 1095, 0, 1, polled);
    expect_event(reader, 2000, 2010);
    expect_end(reader);
}

Test(polls, a_run_tells_its_signatures_apart)
{
    struct trace_writer writer;
    struct trace_stream stream;
    const struct trace_polled polled[] = {{.signature = 2, .count = 10, .busy = 10},
                                          {.signature = 0, .count = 10, .busy = 20},
                                          {.signature = 1, .count = 10, .busy = 30}};
    on("tmpfs", NULL);
    open_polling(&writer, &stream);
    for (uint64_t i = 0; i < 30; i++)
        poll_once(&stream, (uint32_t)(i + 2) % 3, 100 + 10 * i, 101 + 10 * i + i % 3);
    close_polling(&writer, &stream);
    struct trace_reader *reader = open_trace();
    expect_polls(reader, 100, 393, POLL_COMMON, 3, polled);
    expect_end(reader);
}

Test(polls, ten_million_take_less_than_a_kilobyte)
{
    enum { POLLS = 10000000 };
    struct trace_writer writer;
    struct trace_stream stream;
    const struct trace_polled polled[] = {{.signature = 0, .count = POLLS, .busy = POLLS}};
    on("tmpfs", NULL);
    open_polling(&writer, &stream);
    const unsigned char *before = stream.cursor;
    for (uint64_t i = 0; i < POLLS; i++)
        poll_once(&stream, 0, 2 * i, 2 * i + 1);
    cr_expect_lt(stream.cursor - before, 1024);
    close_polling(&writer, &stream);
    struct trace_reader *reader = open_trace();
    expect_polls(reader, 0, 2 * POLLS - 1, 0, 1, polled);
    expect_end(reader);
}

/* A run lies in one window: over many windows no poll is lost, and none is counted twice. */
Test(polls, windows_end_runs_without_a_loss)
{
    enum { ROUNDS = 50000, EACH = 5 };
    struct trace_writer writer;
    struct trace_stream stream;
    struct trace_record record;
    uint64_t now = 0, polls = 0, busy = 0, events = 0, previous_end = 0;
    int status;
    on("tmpfs", NULL);
    open_polling(&writer, &stream);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < EACH; i++, now += 10)
            poll_once(&stream, (uint32_t)(round + i) % 3, now, now + 3);
        trace_stream_event(&stream, 0, now, now + 7);
        now += 10;
    }
    close_polling(&writer, &stream);

    struct trace_reader *reader = open_trace();
    while ((status = next_record(reader, &record)) > 0) {
        const struct trace_event *event = &record.event;
        bool alone = record.type == RECORD_EVENT;
        if (alone && event->end - event->start == 7) {
            events++;
        } else if (alone) {
            polls++;
            busy += 3;
        } else {
            event = &record.polls.event;
            for (size_t i = 0; i < record.polls.count; i++) {
                polls += record.polls.polled[i].count;
                busy += record.polls.polled[i].busy;
            }
        }
        cr_assert_geq(event->start, previous_end);
        previous_end = event->end;
    }
    cr_expect_eq(status, 0, "%s", err.text);
    cr_expect_eq(events, ROUNDS);
    cr_expect_eq(polls, (uint64_t)ROUNDS * EACH);
    cr_expect_eq(busy, 3 * polls);
    trace_reader_close(reader);
}

/* A run of ten polls of signatures 0 and 1 from 100 to 195, followed by an event from 300 to 310,
 * for a test to change. The records' offsets in the file go where the pointers say. */
static void write_run(off_t *polls, off_t *first, off_t *second)
{
    struct trace_writer writer;
    struct trace_stream stream;
    on("tmpfs", NULL);
    open_polling(&writer, &stream);
    for (uint64_t i = 0; i < 10; i++)
        poll_once(&stream, (uint32_t)i % 2, 100 + 10 * i, 105 + 10 * i);
    off_t window = (off_t)stream.window_offset;
    *polls = window + (stream.run.polls - stream.window);
    *first = window + (stream.run.of[0].polled - stream.window);
    *second = window + (stream.run.of[1].polled - stream.window);
    trace_stream_event(&stream, 2, 300, 310);
    close_polling(&writer, &stream);
}

/* Killed between two stores of a poll: what is not there yet is left out, nothing is an error. */
Test(polls, any_mixture_of_old_and_new_is_read)
{
    const struct trace_polled one[] = {{.signature = 0, .count = 1, .busy = 5}};
    const struct trace_polled ahead[] = {{.signature = 0, .count = 5, .busy = 9000},
                                         {.signature = 1, .count = 6, .busy = 25}};
    off_t polls, first, second;
    write_run(&polls, &first, &second);

    uint64_t count = 6, busy = 9000, end = 95;
    patch(second + (off_t)offsetof(struct trace_polled, count), &count, sizeof count);
    patch(first + (off_t)offsetof(struct trace_polled, busy), &busy, sizeof busy);
    struct trace_reader *reader = open_trace();
    expect_polls(reader, 100, 195, POLL_COMMON, 2, ahead);
    expect_event(reader, 300, 310);
    expect_end(reader);

    patch(polls + (off_t)offsetof(struct trace_polls, end), &end, sizeof end);
    reader = open_trace(); /* an end before the first poll's can only be half of a number */
    expect_polls(reader, 100, 105, POLL_COMMON, 2, ahead);
    expect_event(reader, 210, 220);
    expect_end(reader);

    const unsigned char nothing[1] = {0};
    patch(first - 2, nothing, 1); /* the tag; the length takes one byte too */
    reader = open_trace();
    expect_polls(reader, 100, 105, POLL_COMMON, 1, one);
    expect_end(reader);
    patch(polls - 2, nothing, 1);
    reader = open_trace();
    expect_event(reader, 100, 105);
    expect_end(reader);
}

/* With this patch the run is refused, and with it the rest of its stream. */
static void expect_damage(off_t at, const void *bytes, size_t size, const void *before)
{
    struct trace_record record;
    patch(at, bytes, size);
    struct trace_reader *reader = open_trace();
    cr_expect_eq(next_record(reader, &record), -1, "type %d", record.type);
    cr_expect_not_null(strstr(err.text, "offset "), "%s", err.text);
    cr_expect_eq(next_record(reader, &record), 0);
    trace_reader_close(reader);
    patch(at, before, size);
}

Test(polls, impossible_ones_are_damage)
{
    const struct trace_polled whole[] = {{.signature = 0, .count = 5, .busy = 25},
                                         {.signature = 1, .count = 5, .busy = 25}};
    const uint32_t unknown = POLL_SIGNATURES, other = NO_POLL, zero = 0, one = 1,
                   common = POLL_COMMON;
    const uint64_t huge = (uint64_t)INT64_MAX + 1, most = INT64_MAX - 4, end = 195, five = 5,
                   busy = 25, late = INT64_MAX - 100;
    off_t polls, first, second;
    write_run(&polls, &first, &second);

    expect_damage(polls + 8, &unknown, 4, &common);
    expect_damage(first + 16, &unknown, 4, &zero);
    expect_damage(second + 16, &unknown, 4, &one);
    expect_damage(polls + 8, &other, 4, &common);
    expect_damage(second + 16, &other, 4, &one);
    expect_damage(polls, &huge, 8, &end);
    expect_damage(first, &most, 8, &five); /* the sum is what is too large */
    expect_damage(first, &huge, 8, &five);
    expect_damage(second + 8, &late, 8, &busy);
    unsigned char length[VARINT_HEADROOM], right[VARINT_HEADROOM];
    varint_put(length, sizeof(struct trace_polls) - 1);
    varint_put(right, sizeof(struct trace_polls));
    expect_damage(polls - 1, length, 1, right);
    varint_put(length, sizeof(struct trace_polled) - 1);
    varint_put(right, sizeof(struct trace_polled));
    expect_damage(second - 1, length, 1, right);
    struct trace_reader *reader = open_trace();
    expect_polls(reader, 100, 195, POLL_COMMON, 2, whole);
    expect_event(reader, 300, 310);
    expect_end(reader);
}

/* Counts that no first poll stands before. */
Test(polls, strays_are_damage)
{
    struct trace_writer writer;
    struct trace_stream stream;
    struct trace_record record;
    const enum trace_tag tags[] = {TRACE_TAG_POLLS, TRACE_TAG_POLLED};
    on("tmpfs", NULL);
    open_polling(&writer, &stream);
    trace_stream_event(&stream, 0, 10, 20);
    trace_stream_name(&stream, 0, "between");
    off_t at = (off_t)stream.window_offset + (stream.cursor - stream.window);
    trace_stream_name(&stream, 0, "0123456789012345678901234");
    close_polling(&writer, &stream);
    for (int i = 0; i < 2; i++) {
        unsigned char tag[VARINT_HEADROOM];
        varint_put(tag, tags[i]);
        patch(at, tag, 1);
        struct trace_reader *reader = open_trace();
        expect_event(reader, 10, 20);
        cr_expect_eq(next_record(reader, &record), 1);
        cr_expect_eq(record.type, RECORD_NAME);
        cr_expect_eq(next_record(reader, &record), -1);
        trace_reader_close(reader);
    }
}

/* More signatures in a run than a writer would write. */
Test(polls, a_run_of_thousands_of_signatures_is_read)
{
    enum { MANY = 2000 };
    const struct trace_polled polled = {.signature = 1, .count = 3, .busy = 4};
    struct trace_writer writer;
    struct trace_stream stream;
    struct trace_record record;
    on("tmpfs", NULL);
    open_polling(&writer, &stream);
    poll_once(&stream, 0, 10, 15);
    poll_once(&stream, 0, 20, 25);
    off_t at = (off_t)stream.window_offset + (stream.cursor - stream.window);
    for (int i = 0; i < MANY; i++)
        trace_stream_name(&stream, 0, "0123456789012345678"); /* takes as much room */
    close_polling(&writer, &stream);
    unsigned char head[2 * VARINT_HEADROOM];
    unsigned char *end = varint_put(varint_put(head, TRACE_TAG_POLLED), sizeof polled);
    for (int i = 0; i < MANY; i++, at += (end - head) + (off_t)sizeof polled) {
        patch(at, head, (size_t)(end - head));
        patch(at + (end - head), &polled, sizeof polled);
    }
    struct trace_reader *reader = open_trace();
    cr_assert_eq(next_record(reader, &record), 1, "%s", err.text);
    cr_assert_eq(record.type, RECORD_POLLS);
    cr_expect_eq(record.polls.count, MANY + 1);
    cr_expect_eq(record.polls.polled[0].count, 2);
    for (size_t i = 1; i <= MANY; i++)
        cr_assert_eq(record.polls.polled[i].count, 3);
    expect_end(reader);
}

Test(trace, names_come_without_control_characters)
{
    struct trace_writer writer;
    struct trace_stream stream;
    struct trace_record record;
    on("tmpfs", NULL);
    open_polling(&writer, &stream);
    off_t at = (off_t)stream.window_offset + (stream.cursor - stream.window);
    trace_stream_name(&stream, 7, "halo\033[2J\n \xc3\xa9\x7f");
    close_polling(&writer, &stream);
    struct trace_reader *reader = open_trace();
    cr_assert_eq(next_record(reader, &record), 1);
    cr_expect_eq(record.name.communicator, 7);
    cr_expect_str_eq(record.name.text, "halo?[2J? \xc3\xa9?");
    trace_reader_close(reader);
    patch(at + 5, "", 1);
    reader = open_trace();
    cr_assert_eq(next_record(reader, &record), 1);
    cr_expect_str_eq(record.name.text, "ha?o?[2J? \xc3\xa9?", "a zero byte is no end");
    trace_reader_close(reader);
}

/* A pause is 0 or 1, and its time and an error's class are numbers of their range. */
Test(trace, impossible_pauses_and_failures_are_damage)
{
    struct trace_writer writer;
    struct trace_stream stream;
    struct trace_record record;
    unsigned char two[VARINT_HEADROOM];
    on("tmpfs", NULL);
    open_polling(&writer, &stream);
    off_t at = (off_t)stream.window_offset + (stream.cursor - stream.window);
    trace_stream_pause(&stream, true, 10);
    close_polling(&writer, &stream);
    varint_put(two, 2);
    struct trace_reader *reader = open_trace();
    cr_assert_eq(next_record(reader, &record), 1);
    cr_expect(record.pause.paused && record.pause.ticks == 10);
    trace_reader_close(reader);
    patch(at + 2, two, 1);
    reader = open_trace();
    cr_expect_eq(next_record(reader, &record), -1);
    trace_reader_close(reader);
    unsigned char tag[VARINT_HEADROOM];
    varint_put(tag, TRACE_TAG_FAILED);
    patch(at, tag, 1);
    unsigned char wide[] = {0, 0}; /* the first of nine bytes of which there are two */
    patch(at + 2, wide, 2);
    reader = open_trace();
    cr_expect_eq(next_record(reader, &record), -1);
    trace_reader_close(reader);
}
