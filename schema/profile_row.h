/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a profile file's tables, as they are written and read back. */
#ifndef SCOPE_PROFILE_ROW_H
#define SCOPE_PROFILE_ROW_H

#include <stdint.h>

/* One (rank, region) pair: which events are its own, and what they sum up to. Times in ns. */
struct profile_row {
    uint32_t region; /* index into the names given to profile_writer_index */
    uint32_t rank;
    uint64_t first; /* event */
    uint64_t count; /* of events, not 0 */
    int64_t total, minimum, maximum;
    int64_t first_duration, last_duration; /* of the first and last event in stored order */
    int64_t earliest_start, latest_end;
    int64_t exclusive; /* total less the time in directly nested calls */
    double mean, m2;   /* of the durations; m2: sum of squared deviations from mean */
    const char *tags;  /* JSON array; NULL: [] */
};

/* Calls of one rank that were counted beside the events, by region label: a row of
 * /scope_profile/polls or /scope_profile/unrecorded. */
struct profile_counted {
    uint32_t rank;
    const char *region; /* what such a call alone would be called */
    uint64_t count;
    int64_t ns; /* spent in them */
};

/* Calls of one rank that returned an error, by region label: a row of /scope_profile/failed. */
struct profile_failed {
    uint32_t rank;
    const char *region;
    int32_t error_class; /* of the MPI library; PROFILE_FAILED_* */
    uint64_t count;
};

enum {
    PROFILE_FAILED_LEFT = 0,   /* the call did not return: an error handler jumped out of it */
    PROFILE_FAILED_OTHER = -1, /* a class that is not told apart from others */
};

/* A time in which a rank recorded nothing: a row of /scope_profile/pauses. */
struct profile_pause {
    uint32_t rank;
    int64_t start_ns, duration_ns;
};

/* Requests that a rank had outstanding, of which the same is told: a row of
 * /scope_profile/outstanding. */
struct profile_outstanding {
    uint32_t rank;
    const char *operation; /* that started them; "unknown"; "others": more than there are rows */
    int64_t bytes;
    int32_t peer, tag;
    int64_t communicator; /* job-wide */
    uint64_t count;
    uint32_t is_waited, has_completed; /* 1: as of struct trace_outstanding */
};

/* How a rank ended: what a row of /scope_profile/ranks says of it. */
struct profile_end {
    uint32_t rank;
    const char *state, *text; /* "complete", "normal"; "cut off", "exit status 3 ..." */
    int32_t status;           /* as waitpid(2) has it; -1 unknown */
    int64_t ns;               /* -1 unknown */
    const char *in_flight, *outstanding; /* in words; "" where there is nothing */
};

/* The sum of two times; wraps where a hostile file makes it overflow, which real ones are far from.
 */
static inline int64_t profile_add(int64_t left, int64_t right)
{
    return (int64_t)((uint64_t)left + (uint64_t)right);
}

/* Adds event number (from 0, of its row) to all of the row but count and exclusive. */
void profile_row_add(struct profile_row *row, uint64_t number, int64_t start, int64_t duration);

#endif
