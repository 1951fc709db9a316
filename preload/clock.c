/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock that stamps calls: the processor's counter where the kernel trusts it itself. */
#define _GNU_SOURCE
#include "preload/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum trace_clock clock_source = CLOCK_SOURCE_MONOTONIC;

#if defined(__x86_64__)
static const char counter_name[] = "tsc";
static const enum trace_clock counter = CLOCK_SOURCE_TSC;
#elif defined(__aarch64__)
static const char counter_name[] = "arch_sys_counter";
static const enum trace_clock counter = CLOCK_SOURCE_CNTVCT;
#endif

void clock_choose(void)
{
    char name[64] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t size = read(fd, name, sizeof name - 1);
    close(fd);
    if (size > 0 && name[size - 1] == '\n')
        name[size - 1] = '\0';
    if (strcmp(name, counter_name) == 0)
        clock_source = counter;
}

static int64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The closest of a few tries: an interrupt in between would pull the three apart. */
void clock_read(struct trace_sync *sync)
{
    uint64_t closest = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = clock_ticks();
        int64_t monotonic = now(CLOCK_MONOTONIC);
        int64_t realtime = now(CLOCK_REALTIME);
        uint64_t after = clock_ticks();
        if (after - before >= closest)
            continue;
        closest = after - before;
        /* CLOCK_MONOTONIC was read in the first half of the span. */
        sync->ticks = before + (after - before) / 4;
        sync->monotonic_ns = monotonic;
        sync->realtime_ns = realtime;
    }
}
