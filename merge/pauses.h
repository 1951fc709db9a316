/* SPDX-License-Identifier: BSD-3-Clause */
/* The times in which a rank recorded nothing, from what its threads told of pauses.
 *
 * One thread may pause and another go on, and traces are read thread by thread: what is told is
 * collected, and taken out in the order of time.
 */
#ifndef SCOPE_PAUSES_H
#define SCOPE_PAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise. */
struct pauses {
    struct toggle {
        uint64_t ticks;
        bool paused;
        size_t order; /* of being told: of equal ticks the first comes first */
    } * toggles;
    size_t count, room, next;
    bool is_paused;
    uint64_t since; /* ticks; valid while paused */
};

/* Takes in that recording pauses, or goes on, at ticks. Returns 0, or -1 if memory is out. */
int pauses_add(struct pauses *pauses, bool paused, uint64_t ticks);

/* True when so much was told that it is time to take it out: more is not kept in order. */
bool pauses_are_many(const struct pauses *pauses);

/* Takes the next pause out: from start to end, in ticks. False if there is no more in what was told
 * so far, and only then more may be added; a pause that has not ended stays. */
bool pauses_take(struct pauses *pauses, uint64_t *start, uint64_t *end);

void pauses_release(struct pauses *pauses);

#endif
