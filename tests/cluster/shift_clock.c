/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives the traces of a host another clock: shift_clock OFFSET_NS DRIFT_PPM STEP_NS TRACE...
 *
 * CLOCK_MONOTONIC and CLOCK_REALTIME run faster by DRIFT_PPM from the first trace's first sync
 * point on, CLOCK_REALTIME is ahead by OFFSET_NS, and jumps by STEP_NS in the middle of the run.
 * The ticks, and so all events, stay: only the sync points are rewritten.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/trace_reader.h"

static struct trace_sync *points;
static size_t count;

static void keep(const struct trace_sync *point)
{
    points = realloc(points, (count + 1) * sizeof *points);
    if (!points)
        exit(1);
    points[count++] = *point;
}

static void read_points(const char *name)
{
    struct trace_reader *reader;
    struct trace_record record;
    struct error err;
    if (trace_reader_open(&reader, AT_FDCWD, name, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    keep(&trace_reader_header(reader)->first_sync);
    keep(&trace_reader_state(reader)->last_sync);
    while (trace_reader_next(reader, &record, NULL) > 0) {
        if (record.type == RECORD_SYNC)
            keep(&record.sync);
        if (record.type == RECORD_WINDOW)
            keep(&record.window->sync);
    }
    trace_reader_close(reader);
}

/* The 24 bytes of a sync point are nowhere else in a trace. */
static void replace_all(unsigned char *bytes, size_t size, const struct trace_sync *old,
                        const struct trace_sync *new)
{
    unsigned char *at = bytes;
    while ((at = memmem(at, size - (size_t)(at - bytes), old, sizeof *old))) {
        memcpy(at, new, sizeof *new);
        at += sizeof *new;
    }
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 64;
    double offset = atof(argv[1]), drift = atof(argv[2]) * 1e-6, step = atof(argv[3]);
    read_points(argv[4]);
    int64_t first = points[0].monotonic_ns, middle = first + (points[1].monotonic_ns - first) / 2;
    for (int i = 4; i < argc; i++) {
        count = 0;
        read_points(argv[i]);
        int fd = open(argv[i], O_RDWR);
        struct stat status;
        if (fd < 0 || fstat(fd, &status) < 0)
            return 1;
        size_t size = (size_t)status.st_size;
        unsigned char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (bytes == MAP_FAILED)
            return 1;
        for (size_t j = 0; j < count; j++) {
            struct trace_sync new = points[j];
            double gained = drift * (double)(points[j].monotonic_ns - first);
            new.monotonic_ns += llround(gained);
            new.realtime_ns += llround(gained + offset);
            if (points[j].monotonic_ns > middle)
                new.realtime_ns += llround(step);
            replace_all(bytes, size, &points[j], &new);
        }
        munmap(bytes, size);
        close(fd);
    }
    return 0;
}
