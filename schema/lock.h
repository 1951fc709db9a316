/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks that are held for a short time. */
#ifndef SCOPE_LOCK_H
#define SCOPE_LOCK_H

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int lock_t; /* zero: free */

/* For a few instructions, on the path of calls that no signal handler may make. */
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

/* Lets no handler run on this thread until signals_let; returns what was blocked before. Handlers
 * end programs, by exit() and by MPI_Abort: what these want must not be half done, nor locked by
 * the thread that would then wait for itself. By syscall(2), which blocks glibc's own signals as
 * well. errno is kept. */
static inline uint64_t signals_hold(void)
{
    uint64_t all = UINT64_MAX, before = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof all);
    return before;
}

static inline void signals_let(uint64_t before)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}

/* The same for a lock that handlers may want as well: none runs while it is held. Returns what
 * lock_give_let takes. */
static inline uint64_t lock_take_hold(lock_t *lock)
{
    uint64_t before = signals_hold();
    lock_take(lock);
    return before;
}

static inline void lock_give_let(lock_t *lock, uint64_t before)
{
    lock_give(lock);
    signals_let(before);
}

#endif
