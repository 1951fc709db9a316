/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the summary of a profile file: what its index says, without its events.
 *
 * Files of schema 2 and 3 are read, columnar or aggregate, whoever wrote them. The file is not
 * trusted: memory grows with what it really stores, and a damaged one is an error.
 */
#ifndef SCOPE_PROFILE_READER_H
#define SCOPE_PROFILE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"
#include "schema/profile_row.h"

/* An attribute of /metadata: a scalar text or integer. */
struct profile_attribute {
    char *name;
    char *text; /* the number in decimal if is_number */
    bool is_number;
    int64_t number;
};

/* A table of counted calls. */
struct profile_counts {
    struct profile_counted *rows;
    size_t count;
    char **regions; /* what the rows point to */
};

struct profile {
    int schema;
    uint64_t ranks; /* size of the world: mpi_size, or the highest rank in the index + 1 */
    char **names;   /* of the regions */
    size_t name_count;
    struct profile_row *rows; /* region and rank are in bounds, count is not 0; tags is NULL;
                                 exclusive -1: not known */
    size_t row_count;
    struct profile_attribute *attributes;
    size_t attribute_count;
    struct profile_counts polls, unrecorded; /* these and the next three: none where the file has no
                                                such table */
    struct profile_failed *failed;
    size_t failed_count;
    char **failed_regions; /* what the rows point to */
    struct profile_pause *pauses;
    size_t pause_count;
    struct profile_end *ends;
    size_t end_count, state_count; /* equal */
    char **end_states, **end_texts, **end_calls, **end_requests; /* what the rows point to */
    size_t call_count, request_count;
};

/* Returns 0 and *profile, to be given to profile_release, or -1 and err, which names the file. In
 * the aggregate layout first, first_duration, last_duration, m2 and the starts and ends are 0. */
int profile_read(struct profile *profile, const char *path, struct error *err);
void profile_release(struct profile *profile);

/* The attribute called name, or NULL. */
const struct profile_attribute *profile_attribute(const struct profile *profile, const char *name);

#endif
