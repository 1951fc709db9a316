/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted by rank and region beside the events: polls, failed and unrecorded calls. */
#ifndef SCOPE_TALLY_H
#define SCOPE_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally_row {
    uint32_t rank, region;
    int32_t error_class;
    uint64_t count;
    int64_t ns;
};

/* Zero-initialise. */
struct tally {
    struct tally_row *rows;
    size_t count, room;
};

/* Adds to what there is of the same rank, region and error class. Memory grows with how many
 * different ones there are. Returns 0, or -1 if memory is out. */
int tally_add(struct tally *tally, const struct tally_row *row);

/* Makes of rows that are of the same things one, and sorts them: by rank, region, error class. */
void tally_settle(struct tally *tally);

void tally_release(struct tally *tally);

#endif
