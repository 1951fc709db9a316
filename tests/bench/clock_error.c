/* SPDX-License-Identifier: BSD-3-Clause */
/* How far times from a trace are off: clock_error TRACE SAMPLES, as clock_samples wrote them.
 *
 * Converts the samples' ticks by the trace's sync points, as sp-merge does. Prints lines "NAME
 * NANOSECONDS": p99.9 and max of "error", between CLOCK_MONOTONIC and the converted middle of the
 * two ticks around it; of "reading", half the time between these two, which is how well
 * CLOCK_MONOTONIC can be told from them; and of "proven", how far it is outside of both. Then how
 * many "samples" there are, and how many were "disturbed": their ticks are 1 us or more apart.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/clock.h"
#include "schema/trace_reader.h"
#include "tests/bench/ticks.h"

enum { DISTURBED_NS = 1000, SAMPLES_MAX = 10000000 };

static double *error_ns, *reading_ns, *proven_ns;
static size_t count, disturbed;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "clock_error: %s: %s\n", what, why);
    exit(1);
}

static uint32_t shift; /* of the trace's ticks */

static struct clock read_clock(const char *path)
{
    struct clock clock = {0};
    struct error err = {""};
    struct trace_record record;
    struct trace_reader *reader;
    if (trace_reader_open(&reader, AT_FDCWD, path, &err) < 0)
        die(path, err.text);
    const struct trace_header *header = trace_reader_header(reader);
    const struct trace_state *state = trace_reader_state(reader);
    shift = header->clock_shift;
    int status = clock_add(&clock, &header->first_sync) + clock_add(&clock, &state->last_sync);
    while (status == 0 && trace_reader_next(reader, &record, &err) > 0) {
        if (record.type == RECORD_WINDOW)
            status = clock_add(&clock, &record.window->sync);
        else if (record.type == RECORD_SYNC)
            status = clock_add(&clock, &record.sync);
    }
    if (status < 0 ||
        clock_settle(&clock, header->clock_source, header->clock_shift, &err) < 0)
        die(path, err.text);
    trace_reader_close(reader);
    return clock;
}

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

static void look_at(const struct clock *clock, const struct ticks_sample *sample)
{
    static size_t hint;
    double before = (double)(clock_ns(clock, sample->before >> shift, &hint) - sample->ns);
    double after = (double)(clock_ns(clock, sample->after >> shift, &hint) - sample->ns);
    if (after - before >= DISTURBED_NS) {
        disturbed++;
        return;
    }
    error_ns[count] = magnitude((before + after) / 2);
    reading_ns[count] = (after - before) / 2;
    proven_ns[count] = before > 0 ? before : after < 0 ? -after : 0;
    count++;
}

static int compare(const void *x, const void *y)
{
    double difference = *(const double *)x - *(const double *)y;
    return (difference > 0) - (difference < 0);
}

static void print(const char *name, double *values)
{
    qsort(values, count, sizeof *values, compare);
    printf("%s-99.9 %.0f\n%s-max %.0f\n", name, values[count - 1 - count / 1000], name,
           values[count - 1]);
}

int main(int argc, char **argv)
{
    struct ticks_sample sample;
    if (argc != 3)
        return 64;
    struct clock clock = read_clock(argv[1]);
    FILE *file = fopen(argv[2], "r");
    if (!file)
        die(argv[2], strerror(errno));
    error_ns = calloc(SAMPLES_MAX, sizeof *error_ns);
    reading_ns = calloc(SAMPLES_MAX, sizeof *reading_ns);
    proven_ns = calloc(SAMPLES_MAX, sizeof *proven_ns);
    if (!error_ns || !reading_ns || !proven_ns)
        die("samples", strerror(ENOMEM));
    while (count < SAMPLES_MAX && fread(&sample, sizeof sample, 1, file) == 1)
        look_at(&clock, &sample);
    fclose(file);
    if (count == 0)
        die(argv[2], "no samples");
    print("error", error_ns);
    print("reading", reading_ns);
    print("proven", proven_ns);
    printf("samples %zu\ndisturbed %zu\n", count, disturbed);
    clock_release(&clock);
    return 0;
}
