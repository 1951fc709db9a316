/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at a rank whose trace was damaged while it was written: what it does is told, or that it is
 * not known. Meant to be built with sanitizers.
 *
 *     live_damage [ROUNDS [SEED]]    speaks TAP; random ROUNDS, 10000 without
 */
#define _GNU_SOURCE
#include <inttypes.h>

#include "merge/live.h"
#include "merge/live_group.h"
#include "merge/live_text.h"
#include "tests/fuzz/sample_trace.h"

enum { ROOM = 4 * 1024 * 1024, LOOK_NS = 5000000 };

static char name[] = "rank-000001.sptrace";
static int directory, file;
static unsigned char sample[ROOM];
static size_t sample_size;
static uint64_t state;

/* No number in a file may make us ask for more memory than files are large. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "max_allocation_size_mb=64:detect_leaks=1";
}

static void no_step(void)
{
}

/* A trace with calls in flight on both streams, of which one ends in polls. */
static void write_live(void)
{
    static struct trace_stream streams[SAMPLE_STREAMS];
    struct sample_progress progress = {0};
    struct trace_writer writer;
    sample_create(&writer, directory, name);
    for (int i = 0; i < SAMPLE_STREAMS; i++)
        trace_stream_open(&streams[i], &writer, 0);
    for (unsigned item = 0; item < SAMPLE_ITEMS; item++)
        sample_item(streams, item, &progress);
    sample_polls(&streams[0], false, streams[0].previous_end + 10, &progress.records[0],
                 &progress.polls[0]);
    trace_slot_show(streams[0].slot, 9, streams[0].previous_end + 3);
    sample_requests(&progress, no_step);
    uint64_t start = streams[1].previous_end + 3;
    trace_slot_show(streams[1].slot, 26, start); /* of a waitall of unknown requests */
    trace_slot_show_requests(streams[1].slot, sample_places, sizeof sample_places / 2, start);
    trace_writer_initialised(&writer, 1);
    trace_writer_abandon(&writer);
}

static void make_sample(void)
{
    write_live();
    file = openat(directory, name, O_RDWR | O_CLOEXEC);
    ssize_t size = pread(file, sample, ROOM, 0);
    if (size <= 0 || size == ROOM)
        sample_die("no sample");
    sample_size = (size_t)size;
}

/* Looks at all, prints it, and returns the text, to be freed. */
static char *look(void)
{
    char *files[] = {name};
    const struct run_world world = {
        .name = "w", .fd = directory, .files = files, .file_count = 1};
    const struct run run = {.fd = -1};
    struct live live;
    struct live_groups groups;
    struct error err;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (live_read(&live, &run, &world, LOOK_NS, &err) < 0 ||
        live_groups_make(&groups, &live, &err) < 0)
        sample_die(err.text);
    if (live.rank_count != 1 || live.ranks[0].thread_count == 0)
        sample_die("a rank of which nothing is told");
    live_text_print(stream, "run", &live, &groups, UINT64_MAX);
    live_groups_release(&groups);
    live_release(&live);
    fclose(stream);
    return text;
}

static uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 24) % below;
}

/* A place that matters here: the header, the state, the slots, the beginning of a window. */
static size_t draw_place(void)
{
    static const size_t pages[] = {TRACE_HEADER_OFFSET, TRACE_STATE_OFFSET, TRACE_SLOT_OFFSET,
                                   TRACE_WINDOW_OFFSET};
    size_t at = pages[draw(4)] + draw(draw(2) ? 160 : TRACE_PAGE);
    if (draw(3) == 0)
        at += TRACE_WINDOW_MIN * draw(8);
    at -= at % sizeof(uint32_t);
    return at + sizeof(uint64_t) <= sample_size ? at : sample_size - sizeof(uint64_t);
}

static void write_bytes(const void *bytes, size_t size, size_t at)
{
    if (pwrite(file, bytes, size, (off_t)at) != (ssize_t)size)
        sample_die("cannot write the damaged file");
}

/* Puts a wrong number at a place of the file, eight bytes of which may change. */
static void damage(size_t at)
{
    static const uint64_t numbers[] = {
        0, 1, 2, 63, 64, 4096, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_C(1) << 60};
    uint64_t number = numbers[draw(sizeof numbers / sizeof *numbers)];
    size_t size = draw(2) ? sizeof(uint64_t) : sizeof(uint32_t);
    if (draw(3) == 0) {
        memcpy(&number, sample + at, size);
        number ^= UINT64_C(1) << draw(8 * size);
    }
    write_bytes(&number, size, at);
}

static void damage_at_random(uint64_t rounds, uint64_t seed)
{
    for (uint64_t round = 0; round < rounds; round++) {
        size_t places[8];
        state = seed + round * UINT64_C(0x9e3779b97f4a7c15);
        size_t count = draw(sizeof places / sizeof *places) + 1;
        for (size_t i = 0; i < count; i++) {
            places[i] = draw_place();
            damage(places[i]);
        }
        bool is_cut = draw(16) == 0;
        if (is_cut && ftruncate(file, (off_t)draw_place()) < 0)
            sample_die("cannot cut the file");
        free(look());
        if (is_cut)
            write_bytes(sample, sample_size, 0);
        for (size_t i = 0; i < count; i++)
            write_bytes(sample + places[i], sizeof(uint64_t), places[i]);
    }
}

static void check_sample(void)
{
    char *text = look();
    if (!strstr(text, "in mpi:") || strstr(text, "does not tell"))
        sample_die(text);
    if (!strstr(text, "; outstanding: 2 x irecv from 0 (tag 1), irecv from 0 (tag 2), beside 1 "))
        sample_die(text);
    free(text);
}

int main(int argc, char **argv)
{
    char path[64];
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    directory = sample_directory(path);
    printf("1..2\n# a failure leaves its file in %s\n", path);
    fflush(stdout);
    make_sample();
    check_sample();
    printf("ok 1 - the sample tells what its ranks do\n");
    fflush(stdout);
    damage_at_random(rounds, seed);
    printf("ok 2 - %" PRIu64 " rounds of random damage from seed %" PRIu64 "\n", rounds, seed);
    unlinkat(directory, name, 0);
    rmdir(path);
    return 0;
}
