/* SPDX-License-Identifier: BSD-3-Clause */
/* sp-dump --live: shows what the ranks of a run do, once or again and again. */
#ifndef SCOPE_LIVE_VIEW_H
#define SCOPE_LIVE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

struct live_view {
    const char *path;    /* as of run_choose */
    uint64_t limit;      /* of lines for ranks, of each world */
    bool json;           /* else text */
    unsigned seconds;    /* between two looks; 0: once */
};

enum live_view_status { LIVE_VIEW_ALL = 0, LIVE_VIEW_PART = 1, LIVE_VIEW_NOTHING = 2 };

/* Prints to standard output, and messages to standard error. What is repeated ends when all ranks
 * have ended, or when nobody reads it any more. PART: some traces could not be read. */
enum live_view_status live_view_show(const struct live_view *view);

#endif
