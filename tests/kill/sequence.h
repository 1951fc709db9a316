/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that the victim makes, which its killer knows beforehand, and how it logs them. */
#ifndef SCOPE_KILL_SEQUENCE_H
#define SCOPE_KILL_SEQUENCE_H

#include <stdint.h>

enum { LOG_FD = 100, THREADS_MAX = 4, TAGS = 61, SIZES = 7 };

/* Calls of a thread below `returned` have come back, and none from `begun` on was begun. A log is a
 * row of these; the last one of a thread holds. */
struct progress {
    uint32_t thread;
    uint32_t begun, returned;
};

enum sequence_call { CALL_INIT, CALL_SEND, CALL_BARRIER, CALL_IPROBE, CALL_ISEND, CALL_WAIT };

/* Which call a thread makes as its index'th; the first thread's first one is MPI_Init_thread. */
static inline enum sequence_call sequence_call(uint32_t thread, uint32_t index)
{
    static const enum sequence_call pairs[][2] = {{CALL_SEND, CALL_SEND},
                                                  {CALL_ISEND, CALL_WAIT},
                                                  {CALL_BARRIER, CALL_IPROBE},
                                                  {CALL_IPROBE, CALL_IPROBE}};
    if (thread == 0 && index-- == 0)
        return CALL_INIT;
    uint32_t pair = index / 2 * 2654435761U;
    return pairs[pair >> 30][index % 2];
}

/* Arguments of a send, many of them new ones for a while. */
static inline int sequence_tag(uint32_t thread, uint32_t index)
{
    return (int)(thread * TAGS + index % TAGS);
}

static inline int sequence_ints(uint32_t index)
{
    return (int)(index % SIZES);
}

#endif
