/* SPDX-License-Identifier: BSD-3-Clause */
/* The one timeline on which all ranks of a world are: it begins at 0 with the first of them. */
#ifndef SCOPE_TIMELINE_H
#define SCOPE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/alignment.h"
#include "merge/hosts.h"
#include "merge/rank.h"
#include "schema/error.h"
#include "schema/profile_writer.h"

enum { TIMELINE_TEXT = 256 };

enum timeline_clock {
    TIMELINE_MESSAGES, /* no message is received before it is sent */
    TIMELINE_REALTIME, /* the hosts' CLOCK_REALTIME is taken to be one */
    TIMELINE_NONE,     /* each host's time begins at 0 */
};

struct timeline {
    enum timeline_clock clock;
    struct hosts hosts;
    struct alignment alignment; /* TIMELINE_MESSAGES, and several hosts */
    int64_t zero_ns;
    int64_t end_ns;
    int64_t epoch_ns; /* CLOCK_REALTIME at 0, on the first host */
};

/* The name of a clock as --clock= has it, and the clock of that name: false if there is none. */
const char *timeline_clock_word(enum timeline_clock clock);
bool timeline_clock_read(const char *word, enum timeline_clock *clock);

/* Puts the ranks (in the order of their numbers, at least one usable) on the timeline: their host,
 * offset_ns and clock. For TIMELINE_MESSAGES they have traffic, if there is more than one host, and
 * their communicators are settled. Returns 0, or -1 and err if memory is out. */
int timeline_settle(struct timeline *timeline, struct rank *ranks, size_t count,
                    const struct communicators *communicators, struct error *err);

/* What to add to CLOCK_MONOTONIC of the rank's host, where that is monotonic_ns. */
int64_t timeline_offset(const struct timeline *timeline, const struct rank *rank,
                        int64_t monotonic_ns);

/* Writes in one sentence how hosts were put on the timeline; "" if there is one host. */
void timeline_text(const struct timeline *timeline, char text[static TIMELINE_TEXT]);

/* Writes what is known of the hosts' clocks. Returns 0, or -1 and err. */
int timeline_write(const struct timeline *timeline, const struct rank *ranks, size_t count,
                   struct profile_writer *writer, struct error *err);

void timeline_release(struct timeline *timeline);

#endif
