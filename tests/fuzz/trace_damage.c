/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a trace that was damaged in every simple way and in many random ones: the reader gives
 * records or errors and comes to an end. Meant to be built with sanitizers.
 *
 *     trace_damage [ROUNDS [SEED]]    speaks TAP; random ROUNDS, 10000 without
 *     trace_damage FILE               reads one file, such as one that a failure left behind
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <inttypes.h>

#include "tests/fuzz/sample_trace.h"

enum { ROOM = 1024 * 1024 };

static const char name[] = "rank-000001.sptrace";
static int directory, file;
static unsigned char sample[ROOM], bytes[ROOM];
static size_t sample_size;
static uint64_t state;

/* No number in a file may make the reader ask for more memory than files are large. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "max_allocation_size_mb=64:detect_leaks=1";
}

static void no_step(void)
{
}

/* Asks what can be known without reading all: the same rules. */
static void glance(struct trace_reader *reader, uint64_t size)
{
    struct trace_record record;
    uint64_t calls = 0;
    for (uint32_t i = 0; i <= SAMPLE_STREAMS; i++) {
        struct trace_ending ending;
        if (trace_reader_ending(reader, i, &ending) &&
            (ending.end < ending.start || (ending.is_pause && ending.count > 0)))
            sample_die("an ending that cannot be");
    }
    static struct trace_outstanding_list list;
    if (trace_outstanding_read(reader, &list) < 0 || list.count > TRACE_OUTSTANDING_MAX)
        sample_die("a list of requests that cannot be");
    for (size_t i = 0; i < list.count; i++) {
        if (list.rows[i].count == 0 || list.rows[i].operation.name[0] == '\0' ||
            strlen(list.rows[i].operation.name) > TRACE_NAME_MAX)
            sample_die("requests that should have been refused");
        digest_bytes(0, &list.rows[i], sizeof list.rows[i]);
    }
    trace_reader_pass_events(reader);
    while (trace_reader_next(reader, &record, NULL) != 0) {
        if (++calls > size + 16)
            sample_die("the reader does not come to an end when it passes over events");
    }
}

/* All that a reader tells, errors included, as one number. */
static uint64_t digest_all(struct trace_reader *reader, size_t batch)
{
    struct trace_event events[64];
    struct trace_record record;
    struct error err;
    uint64_t digest = 0;
    trace_reader_rewind(reader);
    for (;;) {
        size_t count = trace_reader_events(reader, events, batch, &record.stream);
        record.type = RECORD_EVENT;
        for (size_t i = 0; i < count; i++) {
            record.event = events[i];
            digest = 31 * digest + digest_record(reader, &record);
        }
        if (count > 0)
            continue;
        int status = trace_reader_next(reader, &record, &err);
        if (status == 0)
            return digest;
        digest = 31 * digest + (status > 0 ? digest_record(reader, &record)
                                           : digest_bytes(0, err.text, strlen(err.text)));
    }
}

/* Reads all there is; every call must bring the end nearer. False if the reader complained. */
static bool read_through(int at, const char *path, uint64_t size, int passes)
{
    struct trace_reader *reader;
    struct trace_record record;
    struct error err;
    bool good = true;
    int status;

    if (trace_reader_open(&reader, at, path, &err) < 0) {
        if (!strstr(err.text, path))
            sample_die("an error that does not name the file");
        return false;
    }
    const struct trace_header *header = trace_reader_header(reader);
    if (strlen(header->mpi_version) >= sizeof header->mpi_version ||
        strlen(header->host_key) >= sizeof header->host_key || header->rank >= header->world_size)
        sample_die("a header that should have been refused");
    for (uint32_t i = 0; i < header->slot_count; i++)
        digest_bytes(0, &trace_reader_slots(reader)[i], sizeof(struct trace_slot));
    sample_count_unrecorded(reader);
    for (int pass = 0; pass < passes; pass++) {
        uint64_t calls = 0;
        while ((status = trace_reader_next(reader, &record, &err)) != 0) {
            if (++calls > size + 16)
                sample_die("the reader does not come to an end");
            if (status < 0 && !strstr(err.text, "offset ") && !strstr(err.text, "cut off at "))
                sample_die("an error without an offset");
            if (status < 0) {
                good = false;
                continue;
            }
            if (record.stream >= trace_reader_stream_count(reader))
                sample_die("a record of no stream");
            if (record.type == RECORD_EVENT && record.event.end < record.event.start)
                sample_die("an event that ends before it starts");
            digest_record(reader, &record);
            sample_count_polls(reader, &record);
        }
        trace_reader_rewind(reader);
    }
    uint64_t digest = digest_all(reader, 0);
    if (digest_all(reader, 1) != digest || digest_all(reader, 64) != digest)
        sample_die("events taken in batches are others");
    glance(reader, size);
    trace_reader_close(reader);
    return good;
}

static void try_bytes(size_t size)
{
    if (pwrite(file, bytes, size, 0) != (ssize_t)size || ftruncate(file, (off_t)size) < 0)
        sample_die("cannot write the damaged file");
    read_through(directory, name, size, 2);
}

/* An area of one page has fewer entries. */
static void compact_area(unsigned char *at)
{
    struct trace_area area;
    memcpy(&area, at, sizeof area);
    area.entry_count = (TRACE_PAGE - sizeof area) / area.entry_size;
    memcpy(at, &area, sizeof area);
}

/* Takes the room behind the records out of every window, so that most bytes mean something. */
static size_t compact(unsigned char *trace, size_t size)
{
    size_t from = TRACE_WINDOW_OFFSET, to = from;
    while (from < size) {
        struct trace_window window;
        memcpy(&window, trace + from, sizeof window);
        size_t next = from + window.size;
        bool is_area = window.magic == TRACE_AREA_MAGIC;
        uint32_t used = is_area ? TRACE_PAGE : window.used;
        window.size = (used + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
        memmove(trace + to, trace + from, window.size);
        memcpy(trace + to, &window, sizeof window);
        if (is_area)
            compact_area(trace + to);
        to += window.size;
        from = next;
    }
    uint64_t size_at_close = to;
    memcpy(trace + TRACE_STATE_OFFSET + offsetof(struct trace_state, closed_size), &size_at_close,
           sizeof size_at_close);
    return to;
}

static void make_sample(void)
{
    struct sample_progress finished = {0};
    struct sample_digests digests = {0};
    struct error err;
    sample_write(directory, name, &finished, no_step);
    file = openat(directory, name, O_RDWR | O_CLOEXEC);
    ssize_t size = pread(file, sample, ROOM, 0);
    if (size <= 0 || size == ROOM)
        sample_die("no sample");
    sample_size = compact(sample, (size_t)size);
    memcpy(bytes, sample, sample_size);
    try_bytes(sample_size);
    if (!sample_read(directory, name, &digests, &err) || !sample_is_whole(&digests, &finished) ||
        !sample_requests_are_right(directory, name, &finished))
        sample_die("the sample is damaged to begin with");
    sample_check_unrecorded(directory, name);
    for (int i = 0; i < SAMPLE_STREAMS; i++)
        free(digests.list[i]);
}

/* Where it matters what stands there: all but the zeros of unused room. */
static bool is_quiet(size_t at)
{
    return at > 64 && sample[at] == 0 && sample[at - 1] == 0 && sample[at - 64] == 0 &&
           at % 64 != 0;
}

static void cut_everywhere(void)
{
    memcpy(bytes, sample, sample_size);
    for (size_t size = 0; size <= sample_size; size++) {
        if (size < sample_size && is_quiet(size))
            continue;
        if (ftruncate(file, (off_t)size) < 0)
            sample_die("cannot cut the file");
        if (size > 0 && pwrite(file, bytes, size, 0) != (ssize_t)size)
            sample_die("cannot write the cut file");
        if (read_through(directory, name, size, 1) != (size == sample_size))
            sample_die("a trace that was closed and cut off is taken for a whole one");
    }
}

static void damage_every_byte(void)
{
    memcpy(bytes, sample, sample_size);
    try_bytes(sample_size);
    for (size_t at = 0; at < sample_size; at++) {
        const unsigned char wrong[] = {0, 0xff, (unsigned char)(sample[at] ^ 1)};
        if (is_quiet(at))
            continue;
        for (size_t i = 0; i < sizeof wrong; i++) {
            if (wrong[i] != sample[at] && pwrite(file, &wrong[i], 1, (off_t)at) == 1)
                read_through(directory, name, sample_size, 1);
        }
        if (pwrite(file, &sample[at], 1, (off_t)at) != 1)
            sample_die("cannot mend the file");
    }
}

static uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 24) % below;
}

/* A place that is likely to matter: a window's header, a record, the first pages, the statistics. */
static size_t draw_place(size_t size)
{
    static const size_t counted = TRACE_STATISTICS_OFFSET + offsetof(struct trace_statistics, counted);
    size_t at = draw(4)   ? TRACE_WINDOW_OFFSET + TRACE_PAGE * draw(14)
                : draw(4) ? TRACE_PAGE * draw(4)
                          : counted;
    at += draw(draw(3) ? sizeof(struct trace_window) : TRACE_PAGE);
    return size > 0 ? at % size : 0;
}

static size_t mutate_once(size_t size)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       55,
                                       56,
                                       65535,
                                       65536,
                                       1 << 22,
                                       (1 << 22) + 1,
                                       INT32_MAX,
                                       UINT32_MAX,
                                       UINT64_C(1) << 40,
                                       INT64_MAX,
                                       UINT64_MAX};
    size_t at = draw_place(size), from = draw_place(size), length = draw(40) + 1;
    uint64_t number = numbers[draw(sizeof numbers / sizeof *numbers)];
    if (size < 200)
        return size;
    if (at + length > size)
        at = size - length;
    if (from + length > size)
        from = size - length;
    switch (draw(8)) {
    case 0:
        bytes[at] ^= (unsigned char)(1 << draw(8));
        break;
    case 1:
        bytes[at] = (unsigned char)draw(256);
        break;
    case 2: /* a fixed-size number */
        memcpy(bytes + at, &number, draw(2) ? 4 : at + 8 <= size ? 8 : 1);
        break;
    case 3: /* a varint */
        if (at + VARINT_HEADROOM <= size) {
            unsigned char encoded[VARINT_HEADROOM];
            memcpy(bytes + at, encoded, (size_t)(varint_put(encoded, number) - encoded));
        }
        break;
    case 4: /* bytes from elsewhere */
        memmove(bytes + at, bytes + from, length);
        break;
    case 5: /* bytes taken out */
        memmove(bytes + at, bytes + at + length, size - at - length);
        break;
    case 6: /* bytes put in */
        memmove(bytes + at + length, bytes + at, size - at - length);
        break;
    default: /* the end of the file */
        if (draw(8) == 0)
            size = draw_place(size) + draw(100);
    }
    return size < ROOM ? size : ROOM;
}

static void damage_at_random(uint64_t rounds, uint64_t seed)
{
    for (uint64_t round = 0; round < rounds; round++) {
        size_t size = sample_size;
        state = seed + round * UINT64_C(0x9e3779b97f4a7c15);
        memcpy(bytes, sample, sample_size);
        for (uint64_t i = draw(12) + 1; i > 0; i--)
            size = mutate_once(size);
        try_bytes(size);
    }
}

int main(int argc, char **argv)
{
    char path[64];
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    if (argc > 1 && !isdigit((unsigned char)argv[1][0])) {
        read_through(AT_FDCWD, argv[1], UINT64_MAX / 2, 2);
        return 0;
    }
    directory = sample_directory(path);
    printf("1..3\n# a failure leaves its file in %s\n", path);
    fflush(stdout);
    make_sample();
    cut_everywhere();
    printf("ok 1 - cut off at every byte\n");
    fflush(stdout);
    damage_every_byte();
    printf("ok 2 - every byte damaged in turn\n");
    fflush(stdout);
    damage_at_random(rounds, seed);
    printf("ok 3 - %" PRIu64 " rounds of random damage from seed %" PRIu64 "\n", rounds, seed);
    unlinkat(directory, name, 0);
    rmdir(path);
    return 0;
}
