/* SPDX-License-Identifier: BSD-3-Clause */
/* LIKWID's marker files: real ones, and what is left of damaged ones. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merge/likwid_marker.h"
#include "merge/likwid_snapshot.h"
#include "schema/trace_writer.h"

static struct likwid_marker marker;

static void parse(const char *text)
{
    likwid_marker_release(&marker);
    cr_assert_eq(likwid_marker_parse(&marker, text, strlen(text)), 0);
}

static const struct likwid_region *region(const char *tag)
{
    for (size_t i = 0; i < marker.region_count; i++) {
        if (strcmp(marker.regions[i].tag, tag) == 0)
            return &marker.regions[i];
    }
    cr_assert(false, "no region %s", tag);
    return NULL;
}

/* As LIKWID 5.2.2 writes it, on two CPUs of which one never was in a region. */
static const char two_cpus[] =
    "2 2 1\n"
    "0:solve-0\n"
    "1:a/b-c-0\n"
    "0 0 -1 0 0.000000e+00 5 0.000000e+00 0.000000e+00 0.000000e+00 0.000000e+00 0.000000e+00 \n"
    "0 0 1 3 2.244238e-06 5 1.200000e+07 6.000000e+06 2.400000e+06 3.600000e+06 4.800000e+01 \n"
    "1 0 -1 0 0.000000e+00 5 0.000000e+00 0.000000e+00 0.000000e+00 0.000000e+00 0.000000e+00 \n"
    "1 0 1 1 3.005676e-07 5 4.000000e+06 2.000000e+06 8.000000e+05 1.200000e+06 1.600000e+01 \n";

Test(likwid_marker, a_real_file)
{
    parse(two_cpus);
    cr_expect_eq(marker.problem_count, 0, "%s", marker.problem.text);
    cr_assert_eq(marker.region_count, 2);
    const struct likwid_region *solve = region("solve");
    cr_expect_eq(solve->group, 0);
    cr_assert_eq(solve->thread_count, 1, "who never was in it is left out");
    cr_expect_eq(solve->threads[0].cpu, 1);
    cr_expect_eq(solve->threads[0].calls, 3);
    cr_expect_eq(solve->threads[0].seconds, 2.244238e-06);
    cr_assert_eq(solve->event_count, 5);
    cr_expect_eq(solve->values[0], 12e6);
    cr_expect_eq(solve->values[4], 48);
    cr_expect_eq(region("a/b-c")->threads[0].calls, 1, "a tag with a slash and a dash");
}

/* Several event sets; rows only of those who were there, as later versions write them. */
Test(likwid_marker, groups)
{
    parse("2 2 2\n0:solve-0\n1:solve-1\n"
          "0 0 0 3 1.5e+00 2 1 2 \n0 0 7 4 2.5e+00 2 3 4 \n1 1 0 1 1.0e-01 1 5 \n");
    cr_expect_eq(marker.problem_count, 0);
    cr_assert_eq(marker.region_count, 2);
    cr_expect_eq(marker.regions[0].thread_count, 2);
    cr_expect_eq(marker.regions[0].threads[1].cpu, 7);
    cr_expect_eq(marker.regions[0].values[3], 4);
    cr_expect_eq(marker.regions[1].group, 1);
    cr_expect_eq(marker.regions[1].event_count, 1);
}

Test(likwid_marker, decimal_commas_and_no_numbers)
{
    parse("1 1 1\n0:x-0\n0 0 0 2 1,500000e+00 3 2,500000e+00 nan inf \n");
    cr_expect_eq(marker.problem_count, 0, "%s", marker.problem.text);
    cr_expect_eq(region("x")->threads[0].seconds, 1.5);
    cr_expect_eq(region("x")->values[0], 2.5);
    cr_expect(isnan(region("x")->values[1]));
    cr_expect(isinf(region("x")->values[2]));
}

Test(likwid_marker, odd_tags)
{
    parse("1 3 1\n0:a:b: c-d--0\n1:-0\n2:7-7-1\n"
          "0 0 0 1 1 0 \n1 0 0 1 1 0 \n2 1 0 1 1 0 \n");
    cr_expect_eq(marker.problem_count, 0, "%s", marker.problem.text);
    cr_expect_eq(region("a:b: c-d-")->group, 0);
    cr_expect_eq(region("")->group, 0);
    cr_expect_eq(region("7-7")->group, 1);
}

Test(likwid_marker, no_regions)
{
    parse("4 0 1\n");
    cr_expect_eq(marker.problem_count, 0);
    cr_expect_eq(marker.region_count, 0);
}

Test(likwid_marker, many_threads)
{
    enum { THREADS = 256 };
    size_t size = 64 * (THREADS + 2), length;
    char *text = malloc(size);
    cr_assert_not_null(text);
    length = (size_t)snprintf(text, size, "%d 1 1\n0:big-0\n", THREADS);
    for (int i = 0; i < THREADS; i++)
        length += (size_t)snprintf(text + length, size - length, "0 0 %d 1 1.0e+00 2 %d %d \n", i,
                                   i, 1000 * i);
    parse(text);
    free(text);
    cr_expect_eq(marker.problem_count, 0);
    cr_assert_eq(region("big")->thread_count, THREADS);
    for (int i = 0; i < THREADS; i++)
        cr_expect_eq(region("big")->values[2 * i + 1], 1000 * i);
}

/* What is there of a cut file is what the whole one says. */
Test(likwid_marker, cut_at_every_byte)
{
    for (size_t size = 0; size < strlen(two_cpus); size++) {
        char *text = strndup(two_cpus, size);
        parse(text);
        bool ends_a_line = size > 0 && text[size - 1] == '\n';
        cr_expect(ends_a_line || marker.problem_count > 0, "cut after %zu bytes", size);
        for (size_t i = 0; i < marker.region_count; i++) {
            const struct likwid_region *part = &marker.regions[i];
            cr_expect_eq(part->values[0], part->threads[0].calls * 4e6, "after %zu bytes", size);
            cr_expect_eq(part->event_count, 5);
        }
        free(text);
    }
}

/* --- files -------------------------------------------------------------------------------------
 */

/* What versions of LIKWID write; the whole file, to be freed. */
static char *read_sample(const char *name)
{
    char path[512], *text = calloc(1, 1 << 16);
    const char *source = getenv("top_srcdir");
    snprintf(path, sizeof(path), "%s/tests/likwid/markers/%s", source ? source : ".", name);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    cr_assert_not_null(text);
    cr_assert_gt(fread(text, 1, (1 << 16) - 1, file), 0);
    fclose(file);
    return text;
}

/* A region of the cut file is one of the whole file's, as far as its threads go. */
static void expect_part(const struct likwid_region *part, const struct likwid_marker *whole)
{
    const struct likwid_region *is = NULL;
    for (size_t i = 0; i < whole->region_count; i++) {
        if (strcmp(whole->regions[i].tag, part->tag) == 0 &&
            whole->regions[i].group == part->group)
            is = &whole->regions[i];
    }
    cr_assert_not_null(is, "%s", part->tag);
    cr_expect_leq(part->thread_count, is->thread_count);
    cr_expect_eq(part->event_count, is->event_count);
    for (size_t i = 0; i < part->thread_count; i++) {
        cr_expect_eq(part->threads[i].cpu, is->threads[i].cpu);
        cr_expect_eq(part->threads[i].calls, is->threads[i].calls);
        cr_expect_eq(part->threads[i].seconds, is->threads[i].seconds);
    }
    cr_expect_arr_eq(part->values, is->values,
                     part->thread_count * part->event_count * sizeof(*part->values));
}

static void expect_parts(const char *text)
{
    struct likwid_marker whole;
    size_t length = strlen(text), step = length > 4096 ? 13 : 1; /* the long one has like lines */
    cr_assert_eq(likwid_marker_parse(&whole, text, length), 0);
    cr_expect_eq(whole.problem_count, 0, "%s", whole.problem.text);
    for (size_t size = 0; size < length; size += step) {
        likwid_marker_release(&marker);
        cr_assert_eq(likwid_marker_parse(&marker, text, size), 0);
        for (size_t i = 0; i < marker.region_count; i++)
            expect_part(&marker.regions[i], &whole);
    }
    likwid_marker_release(&whole);
}

Test(likwid_marker, samples_cut_at_every_byte)
{
    static const char *const names[] = {"one-cpu",       "two-cpus",    "memory",
                                        "two-groups",    "version-5.4", "version-5.5",
                                        "decimal-comma", "many-threads"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char *text = read_sample(names[i]);
        expect_parts(text);
        free(text);
    }
}

Test(likwid_marker, what_versions_write)
{
    char *text = read_sample("version-5.4");
    parse(text);
    free(text);
    cr_assert_eq(marker.region_count, 3);
    cr_expect_eq(region("init")->thread_count, 1, "others were not there");
    cr_assert_eq(region("a-b/c-d")->thread_count, 4);
    cr_expect_eq(region("a-b/c-d")->threads[3].cpu, 65);
    cr_expect(isnan(region("a-b/c-d")->values[11]));
    cr_expect_eq(region("solve step 2")->threads[0].calls, 4294967295);

    text = read_sample("version-5.5");
    parse(text);
    free(text);
    cr_assert_eq(marker.region_count, 3);
    cr_expect_eq(marker.regions[0].event_count, 2);
    cr_expect_eq(marker.regions[1].group, 1);
    cr_expect_eq(marker.regions[1].values[3], 2000);
    cr_expect_eq(region("io/write")->threads[0].cpu, 3);

    text = read_sample("decimal-comma");
    parse(text);
    free(text);
    cr_expect_eq(region("solve")->values[3], 6.5e6);

    text = read_sample("many-threads");
    parse(text);
    free(text);
    cr_expect_eq(region("all")->thread_count, 256);
    cr_expect_eq(region("some")->thread_count, 86);
    cr_expect_eq(region("some")->threads[85].cpu, 255);
    cr_expect_eq(region("some")->values[171], 255e6);
}

Test(likwid_marker, damage)
{
    static const struct {
        const char *text, *problem;
        size_t regions;
    } cases[] = {
        {"", "line 1 is no THREADS", 0},
        {"hello\n", "line 1 is no THREADS", 0},
        {"1 -1 1\n", "line 1 is no THREADS", 0},
        {"1 2 1\n0:a-0\n", "line 3 is missing", 0},
        {"1 1 1\n1:a-0\n", "line 2 is no ID:TAG", 0},
        {"1 1 1\n0:a\n", "line 2 is no ID:TAG", 0},
        {"1 1 1\n0-a:0\n", "line 2 is no ID:TAG", 0},
        {"1 1 1\n0:a-0\n0 0 0 1 x 0 \n0 0 0 1 1 0 \n", "line 3 is no REGION", 1},
        {"1 1 1\n0:a-0\n1 0 0 1 1 0 \n", "line 3 is no REGION", 0},
        {"1 1 1\n0:a-0\n0 0 0 99999999999999999999 1 0 \n", "line 3 is no REGION", 0},
        {"1 1 1\n0:a-0\n0 0 0 1 1 2 5 \n", "line 3 has fewer values", 0},
        {"1 1 1\n0:a-0\n0 0 0 1 1 1025 5 \n", "line 3 is no REGION", 0},
        {"1 1 1\n0:a-0\n0 1 0 1 1 1 5 \n", "line 3 is of another event set", 0},
        {"2 1 1\n0:a-0\n0 0 0 1 1 1 5 \n0 0 1 1 1 2 5 6 \n", "line 4 is of another event set", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        parse(cases[i].text);
        cr_expect(strncmp(marker.problem.text, cases[i].problem, strlen(cases[i].problem)) == 0,
                  "%zu: %s", i, marker.problem.text);
        cr_expect_eq(marker.region_count, cases[i].regions, "%zu", i);
    }
}

Test(likwid_marker, files)
{
    char directory[] = "/tmp/test_likwid_XXXXXX";
    cr_assert_not_null(mkdtemp(directory));
    int fd = open(directory, O_RDONLY | O_DIRECTORY);
    cr_assert_geq(fd, 0);
    cr_expect_eq(likwid_marker_read(&marker, fd, "none"), 1, "none is no problem");
    cr_expect_eq(marker.problem_count, 0);

    int file = openat(fd, "marker", O_WRONLY | O_CREAT, 0600);
    cr_assert_eq(write(file, two_cpus, strlen(two_cpus)), (ssize_t)strlen(two_cpus));
    cr_expect_eq(likwid_marker_read(&marker, fd, "marker"), 0);
    cr_expect_eq(marker.region_count, 2);
    likwid_marker_release(&marker);

    cr_assert_eq(ftruncate(file, (off_t)LIKWID_MARKER_SIZE_MAX + 1), 0);
    cr_expect_eq(likwid_marker_read(&marker, fd, "marker"), 0);
    cr_expect(strstr(marker.problem.text, "longer than"));
    close(file);

    cr_assert_eq(symlinkat("marker", fd, "link"), 0);
    cr_expect_eq(likwid_marker_read(&marker, fd, "link"), 0);
    cr_expect(strstr(marker.problem.text, "link"));
    cr_assert_eq(mkfifoat(fd, "pipe", 0600), 0);
    cr_expect_eq(likwid_marker_read(&marker, fd, "pipe"), 0);
    cr_expect_eq(marker.problem_count, 1, "nobody waits for it");

    unlinkat(fd, "marker", 0);
    unlinkat(fd, "link", 0);
    unlinkat(fd, "pipe", 0);
    close(fd);
    rmdir(directory);
}

/* --- what a trace has ----------------------------------------------------------------------------
 */

static void read_clocks(struct trace_sync *sync)
{
    *sync = (struct trace_sync){.ticks = 1, .monotonic_ns = 1, .realtime_ns = 1};
}

/* Adds an area of as many regions as there is room for, each of another name. Returns how many. */
static uint32_t add_area(struct trace_writer *writer, int number)
{
    struct trace_area area = {.size = TRACE_AREA_LARGEST,
                              .kind = AREA_COUNTERS,
                              .entry_size = sizeof(struct trace_counters)};
    area.entry_count = (uint32_t)((area.size - sizeof area) / area.entry_size);
    unsigned char *memory = trace_writer_area(writer, &area);
    cr_assert_not_null(memory);
    struct trace_counters *entry = (void *)(memory + sizeof area);
    for (uint32_t i = 0; i < area.entry_count; i++, entry++) {
        *entry = (struct trace_counters){.sequence = 2, .calls = 1};
        snprintf(entry->tag, sizeof entry->tag, "region %d %u", number, i);
    }
    return area.entry_count;
}

/* Each region is looked for among all. */
Test(likwid_marker, a_trace_tells_of_no_more_regions_than_a_writer_has_room_for)
{
    static struct trace_writer writer;
    struct trace_header header = {.rank = 0, .world_size = 1};
    char directory[] = "/tmp/likwid-marker-XXXXXX";
    struct error err;
    uint32_t all = 0;
    cr_assert_not_null(mkdtemp(directory));
    int dirfd = open(directory, O_RDONLY | O_DIRECTORY);
    cr_assert_eq(trace_writer_create(&writer, dirfd, "trace", &header, UINT64_C(1) << 40,
                                     read_clocks, &err),
                 0, "%s", err.text);
    for (int i = 0; i < 3; i++)
        all = add_area(&writer, i);
    trace_writer_close(&writer);
    likwid_marker_release(&marker);
    cr_assert_eq(likwid_snapshot_read(&marker, dirfd, "trace"), 0);
    cr_expect_geq(marker.region_count, all);
    cr_expect_leq(marker.region_count, all + 1);
    region("region 0 0");
    likwid_marker_release(&marker);
    unlinkat(dirfd, "trace", 0);
    close(dirfd);
    rmdir(directory);
}
