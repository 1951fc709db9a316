/* SPDX-License-Identifier: BSD-3-Clause */
/* The event columns of a profile file: what profile_writer.h says of reserving, putting, getting
 * and compressing them. */
#ifndef SCOPE_PROFILE_EVENTS_H
#define SCOPE_PROFILE_EVENTS_H

#include <stdbool.h>

#include "schema/profile_stage.h"
#include "schema/profile_table.h"

enum profile_event_column { COLUMN_STARTS, COLUMN_DURATIONS, COLUMN_LANES, COLUMNS };

struct profile_events {
    const struct profile_file *file;
    int fd; /* of HDF5's own; events that are not compressed are written past the library */
    uint64_t count;
    size_t columns;            /* 0: none */
    uint64_t offsets[COLUMNS]; /* of the columns in the file */
    int level;                 /* of compression; 0: none */
    uint64_t chunk;            /* events */
    hid_t chunked[COLUMNS];    /* datasets; -1 */
    uint64_t kept_bytes;       /* of chunks */
    struct profile_stage stage;
};

void profile_events_begin(struct profile_events *events, const struct profile_file *file);
void profile_events_end(struct profile_events *events);

#endif
