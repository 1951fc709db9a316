/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts, each kept once and known by a dense number. */
#ifndef SCOPE_NAMES_H
#define SCOPE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialise. texts[0 .. count) are in the order in which they came. */
struct names {
    char **texts;
    size_t count, room;
    uint32_t *slots; /* number + 1, 0: free; a power of two of them */
    size_t slot_count;
};

enum { NAMES_NONE = -1 };

/* The number of text, a new one if it was not there; NAMES_NONE if memory is out. */
int64_t names_intern(struct names *names, const char *text);

void names_release(struct names *names);

#endif
