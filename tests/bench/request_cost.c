/* SPDX-License-Identifier: BSD-3-Clause */
/* Times the table of requests: request_cost COUNT [one-handle] [in DIRECTORY]
 *
 * Keeps COUNT requests in flight, finishes one after another and starts a new one in its place.
 * Prints lines "NAME NANOSECONDS". Medians over batches: "pair", a start and a finish; "clocks",
 * two reads of the clock that stamps calls. Of single calls, from the first start to the last
 * finish, so that what the table does to grow is among them: "call-9999" (the 99.99th percentile)
 * and "call-max"; "idle-9999" and "idle-max" of as many calls that do nothing. Single calls are in
 * the thread's own time, or a busy machine would be all that shows. With `in DIRECTORY` the table
 * lies in areas of a trace there, as it does in a program that is recorded.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/clock.h"
#include "preload/request.h"
#include "schema/trace_writer.h"

enum { BATCH = 1000, BATCHES = 500, PAIRS = BATCH * BATCHES };

static size_t count;
static uint64_t stride = 200; /* between handles, as of objects in memory */
static char *places;          /* addresses; nothing is stored there */
static uint32_t origin, wrong;
static double *samples;
static size_t sample_count;

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void start(size_t i)
{
    request_started(UINT64_C(0x550000000000) + i * stride, places + 8 * i, origin);
}

static void finish(size_t i)
{
    wrong += request_finished(UINT64_C(0x550000000000) + i * stride, places + 8 * i) != origin;
}

static void nothing(size_t i)
{
    (void)i;
}

/* The request that is finished next: all in turn, in no order. 7919 is a prime. */
static size_t turn(void)
{
    static size_t i;
    i += 7919 % count;
    return i = i < count ? i : i - count;
}

static int compare(const void *x, const void *y)
{
    double difference = *(const double *)x - *(const double *)y;
    return (difference > 0) - (difference < 0);
}

static void clocks(size_t i)
{
    (void)i;
    (void)clock_counter();
    (void)clock_counter();
}

static void pair(size_t i)
{
    finish(i);
    start(i);
}

static void time_batches(const char *name, void (*call)(size_t))
{
    static double batch[BATCHES];
    for (size_t i = 0; i < BATCHES; i++) {
        double begin = now(CLOCK_MONOTONIC);
        for (size_t j = 0; j < BATCH; j++)
            call(turn());
        batch[i] = (now(CLOCK_MONOTONIC) - begin) / BATCH;
    }
    qsort(batch, BATCHES, sizeof *batch, compare);
    printf("%s %.3f\n", name, batch[BATCHES / 2]);
}

static void time_call(void (*call)(size_t), size_t i)
{
    double begin = now(CLOCK_THREAD_CPUTIME_ID);
    call(i);
    samples[sample_count++] = now(CLOCK_THREAD_CPUTIME_ID) - begin;
}

/* Times single calls: all are started, some give way to others, all are finished. */
static void time_calls(void (*first)(size_t), void (*second)(size_t), const char *name)
{
    sample_count = 0;
    for (size_t i = 0; i < count; i++)
        time_call(first, i);
    for (size_t i = 0; i < PAIRS; i++) {
        size_t this = turn();
        time_call(second, this);
        time_call(first, this);
    }
    for (size_t i = 0; i < count; i++)
        time_call(second, turn());
    qsort(samples, sample_count, sizeof *samples, compare);
    printf("%s-9999 %.0f\n%s-max %.0f\n", name, samples[sample_count - sample_count / 10000], name,
           samples[sample_count - 1]);
}

static struct trace_writer writer;

static void *take_area(const struct trace_area *area)
{
    return trace_writer_area(&writer, area);
}

static void name_origin(uint32_t operation, struct trace_request_origin *entry)
{
    (void)operation;
    strcpy(entry->name, "isend");
}

/* Lets the table lie in a trace; false if that cannot be. */
static bool use_trace(const char *directory)
{
    struct trace_header header = {.world_size = 1};
    struct error err;
    int dirfd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (trace_writer_create(&writer, dirfd, "rank-000000.sptrace", &header, UINT64_C(1) << 40,
                            clock_read, &err) < 0 ||
        !writer.mapped) {
        fprintf(stderr, "request_cost: no mapped trace in %s\n", directory);
        return false;
    }
    request_use_areas(&(struct request_areas){.take = take_area, .name = name_origin});
    return true;
}

int main(int argc, char **argv)
{
    count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (count == 0)
        return 64;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "one-handle") == 0)
            stride = 0;
        else if (strcmp(argv[i], "in") != 0 || ++i == argc || !use_trace(argv[i]))
            return 64;
    }
    size_t size = (2 * count + 2 * PAIRS) * sizeof *samples;
    places = malloc(8 * count);
    samples = malloc(size);
    if (!places || !samples)
        return 1;
    memset(samples, 1, size); /* so that no page is missing later */
    origin = request_origin_id(&(struct request_origin){.bytes = 8, .operation = 1});

    time_calls(nothing, nothing, "idle");
    time_calls(start, finish, "call");
    for (size_t i = 0; i < count; i++)
        start(i);
    time_batches("clocks", clocks);
    time_batches("pair", pair);
    if (wrong) {
        fprintf(stderr, "request_cost: %u requests had another origin\n", wrong);
        return 1;
    }
    return 0;
}
