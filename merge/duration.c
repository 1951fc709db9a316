/* SPDX-License-Identifier: BSD-3-Clause */
/* How long something took, as people say it. */
#include "merge/duration.h"

#include <inttypes.h>
#include <stdio.h>

enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR }; /* seconds */

static void print_two(char *text, int64_t first, const char *first_unit, int64_t second,
                      const char *second_unit)
{
    snprintf(text, DURATION_SIZE, "%" PRId64 " %s %" PRId64 " %s", first, first_unit, second,
             second_unit);
}

/* Each limit is half a digit lower than the unit above: 999.96 ms is 1.0 s. */
const char *duration_print(int64_t ns, char text[static DURATION_SIZE])
{
    int64_t seconds = ns / 1000000000 + (ns % 1000000000 >= 500000000);
    if (ns < 1000)
        snprintf(text, DURATION_SIZE, "0 us");
    else if (ns < 999500)
        snprintf(text, DURATION_SIZE, "%.0f us", 1e-3 * (double)ns);
    else if (ns < 999950000)
        snprintf(text, DURATION_SIZE, "%.1f ms", 1e-6 * (double)ns);
    else if (ns < INT64_C(119950000000))
        snprintf(text, DURATION_SIZE, "%.1f s", 1e-9 * (double)ns);
    else if (seconds < 2 * HOUR)
        print_two(text, seconds / MINUTE, "min", seconds % MINUTE, "s");
    else if (seconds < 2 * DAY)
        print_two(text, seconds / HOUR, "h", seconds % HOUR / MINUTE, "min");
    else
        print_two(text, seconds / DAY, "d", seconds % DAY / HOUR, "h");
    return text;
}
