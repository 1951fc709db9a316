/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock that stamps calls: the processor's counter where the kernel trusts it itself. */
#ifndef SCOPE_CLOCK_H
#define SCOPE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "schema/trace_format.h"

/* Chosen by clock_choose; CLOCK_SOURCE_MONOTONIC before. */
extern enum trace_clock clock_source;

/* Chooses the clock: the counter if the kernel keeps its own time by it, else CLOCK_MONOTONIC. */
void clock_choose(void);

/* Reads all three clocks as close together as the machine allows. */
void clock_read(struct trace_sync *sync);

/* The processor's counter, whatever the chosen clock. Not a serialising instruction by its manual;
 * it does wait for what stands before it, which is why so little may stand there. */
static inline __attribute__((always_inline)) uint64_t clock_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

static inline bool clock_is_counter(void)
{
    return clock_source != CLOCK_SOURCE_MONOTONIC;
}

/* Now, in ticks of clock_source (CLOCK_MONOTONIC: nanoseconds). */
static inline uint64_t clock_ticks(void)
{
    if (__builtin_expect(clock_is_counter(), 1))
        return clock_counter();
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
