/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a profile file's tables, as they are written and read back. */
#include "schema/profile_row.h"

void profile_row_add(struct profile_row *row, uint64_t number, int64_t start, int64_t duration)
{
    int64_t end = profile_add(start, duration);
    double delta = (double)duration - row->mean; /* Welford: no cancellation */
    row->mean += delta / (double)(number + 1);
    row->m2 += delta * ((double)duration - row->mean);
    row->total = profile_add(row->total, duration);
    row->last_duration = duration;
    if (number == 0) {
        row->minimum = row->maximum = row->first_duration = duration;
        row->earliest_start = start;
        row->latest_end = end;
        return;
    }
    row->minimum = duration < row->minimum ? duration : row->minimum;
    row->maximum = duration > row->maximum ? duration : row->maximum;
    row->earliest_start = start < row->earliest_start ? start : row->earliest_start;
    row->latest_end = end > row->latest_end ? end : row->latest_end;
}
