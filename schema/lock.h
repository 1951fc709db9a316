/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock that is held for a few instructions only. */
#ifndef SCOPE_LOCK_H
#define SCOPE_LOCK_H

#include <sched.h>

typedef int lock_t; /* zero: free */

static inline void lock_take(lock_t *lock)
{
    for (int spins = 0; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); spins++) {
        if (spins > 100) /* the holder may have been put off the processor */
            sched_yield();
    }
}

static inline void lock_give(lock_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif
