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

/* Bits that a tick leaves out of the counter's value. At 2 to 5 GHz they tell less than it takes to
 * read it, and would make most events a byte longer. */
#if defined(__x86_64__)
enum { CLOCK_COUNTER_SHIFT = 3 };
#else
enum { CLOCK_COUNTER_SHIFT = 0 }; /* at 1 GHz at most */
#endif

/* The processor's counter in ticks, whatever the chosen clock. Not a serialising instruction by its manual;
 * it does wait for what stands before it, which is why so little may stand there. */
static inline __attribute__((always_inline)) uint64_t clock_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc() >> CLOCK_COUNTER_SHIFT;
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

/* That of a trace's header. */
static inline uint32_t clock_shift(void)
{
    return clock_is_counter() ? CLOCK_COUNTER_SHIFT : 0;
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
