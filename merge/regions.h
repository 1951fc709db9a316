/* SPDX-License-Identifier: BSD-3-Clause */
/* The regions of a profile: each label kept once and known by a dense number.
 *
 * To print a label takes much longer than to tell it from others, and most of those that are met
 * while the grain of labels is being chosen are never printed: texts come when all regions are
 * known.
 */
#ifndef SCOPE_REGIONS_H
#define SCOPE_REGIONS_H

#include <stddef.h>
#include <stdint.h>

#include "schema/region_label.h"

/* Zero-initialise. */
struct regions {
    struct region_label *labels; /* by number; the session's has no operation */
    size_t count, room;
    uint32_t *slots; /* number + 1; 0: free */
    size_t slot_count;
    char **texts;      /* by number, once they are named: what the file calls them, ... */
    const char **tags; /* ... and what the package keeps beside that, JSON */
};

/* The number of a label, which is that of an equal one, or a new one; label NULL: of the session.
 * Its operation and request are compared as pointers, and stay the caller's. Returns -1 if memory
 * is out. */
int64_t regions_intern(struct regions *regions, const struct region_label *label);

/* Prints all texts and tags, by so many threads. Returns 0, or -1 if memory is out. */
int regions_name(struct regions *regions, unsigned threads);

/* Leaves regions as they were at first. */
void regions_release(struct regions *regions);

#endif
