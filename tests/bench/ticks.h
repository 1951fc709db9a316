/* SPDX-License-Identifier: BSD-3-Clause */
/* The counter that stamps calls, for programs that measure. */
#ifndef SCOPE_BENCH_TICKS_H
#define SCOPE_BENCH_TICKS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t ticks_now(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

static inline double monotonic_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* A time that is measured by both clocks, which tells how long a tick is. */
struct ticks_span {
    uint64_t ticks;
    double ns;
};

static inline struct ticks_span ticks_begin(void)
{
    return (struct ticks_span){ticks_now(), monotonic_now()};
}

/* Nanoseconds of a tick, from begin until now. */
static inline double ticks_length(const struct ticks_span *begin)
{
    struct ticks_span now = ticks_begin();
    return (now.ns - begin->ns) / (double)(now.ticks - begin->ticks);
}

/* CLOCK_MONOTONIC between two readings of the counter. */
struct ticks_sample {
    uint64_t before, after;
    int64_t ns;
};

static inline struct ticks_sample ticks_sample(void)
{
    struct timespec time;
    uint64_t before = ticks_now();
    clock_gettime(CLOCK_MONOTONIC, &time);
    uint64_t after = ticks_now();
    return (struct ticks_sample){before, after, (int64_t)time.tv_sec * 1000000000 + time.tv_nsec};
}

#endif
