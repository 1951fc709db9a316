/* SPDX-License-Identifier: BSD-3-Clause */
/* What a merge could not take in: told line by line, but not without end. */
#ifndef SCOPE_LOSSES_H
#define SCOPE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

enum { LOSSES_SHOWN = 10 };

struct losses {
    bool quiet; /* count only */
    uint64_t count;
};

/* Counts a loss and prints "sp-merge: ..." on stderr, the first LOSSES_SHOWN times. */
void losses_add(struct losses *losses, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says how many more there were. */
void losses_finish(const struct losses *losses);

#endif
