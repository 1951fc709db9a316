/* SPDX-License-Identifier: BSD-3-Clause */
/* Editing the value of LD_PRELOAD, a list of libraries separated by ':' or ' '. */
#ifndef SCOPE_LD_PRELOAD_H
#define SCOPE_LD_PRELOAD_H

#include <stdbool.h>

/* Whether library can stand in LD_PRELOAD at all: it is not empty and holds no separator. */
bool ld_preload_can_hold(const char *library);

/* Puts library in front of value (NULL: the variable is not set), whose bytes are kept as they are.
 * Where library is an element already, the value stays what it was.
 * Returns the new value, to be freed, or NULL without memory. */
char *ld_preload_add(const char *value, const char *library);

/* Takes every element that equals library out of value, with one separator each, so that it undoes
 * ld_preload_add to the byte. *left is the rest, to be freed, or NULL: the variable is to be unset.
 * Returns 0, or -1 without memory. */
int ld_preload_remove(const char *value, const char *library, char **left);

#endif
