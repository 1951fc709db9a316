/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls a thread has made before, by their plain arguments.
 *
 * Most calls of a program repeat others to the argument. A memo leads from the arguments as they
 * stand to the signature, past asking for sizes, communicators and requests: this is what keeps the
 * cost of a call near that of its two clock reads. A memo is never wrong: whatever may change the
 * meaning of an argument (a freed communicator or datatype) changes the generation, which is part
 * of it.
 */
#ifndef SCOPE_MEMO_H
#define SCOPE_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMO_WORDS = 6, MEMOS = 256 };

/* One cache line. */
struct memo {
    uint64_t word[MEMO_WORDS]; /* function and generation, then the arguments; 0: free */
    uint32_t signature;        /* id in the thread's stream */
    uint32_t origin;           /* for a call that starts a request: request_origin_id */
    uint64_t padding;
};

_Static_assert(sizeof(struct memo) == 64, "a memo is one cache line");

/* Changes when a handle may come to mean something else. */
extern uint32_t memo_generation;

static inline void memo_invalidate(void)
{
    __atomic_add_fetch(&memo_generation, 1, __ATOMIC_RELEASE);
}

/* The first word of a memo. Never 0, since generations begin at 1. */
static inline __attribute__((always_inline)) uint64_t memo_function(uint32_t function)
{
    return function | (uint64_t)__atomic_load_n(&memo_generation, __ATOMIC_RELAXED) << 32;
}

/* Two int arguments as one word. */
static inline __attribute__((always_inline)) uint64_t memo_pair(int first, int second)
{
    return (uint32_t)first | (uint64_t)(uint32_t)second << 32;
}

/* The place of a call's memo; words beyond count are not looked at. */
static inline __attribute__((always_inline)) struct memo *
memo_at(struct memo memos[static MEMOS], const uint64_t *word, size_t count)
{
    uint64_t x = count > 1 ? word[1] : 0;
    if (count > 2)
        x ^= word[2] << 21;
    return &memos[(x * UINT64_C(0x9e3779b97f4a7c15) >> 56 ^ (uint32_t)word[0]) % MEMOS];
}

/* True if the memo is of this very call. */
static inline __attribute__((always_inline)) bool memo_is(const struct memo *memo,
                                                          const uint64_t *word, size_t count)
{
#pragma GCC unroll 6
    for (size_t i = 0; i < count; i++) {
        if (__builtin_expect(memo->word[i] != word[i], 0))
            return false;
    }
    return true;
}

#endif
