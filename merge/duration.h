/* SPDX-License-Identifier: BSD-3-Clause */
/* How long something took, as people say it. */
#ifndef SCOPE_DURATION_H
#define SCOPE_DURATION_H

#include <stdint.h>

enum { DURATION_SIZE = 32 };

/* Writes ns in the unit that fits, e.g. "12.3 ms", "31.2 s", "2 min 5 s", "3 h 4 min", "2 d 4 h";
 * what is below a microsecond, and negative, as "0 us". Returns text. */
const char *duration_print(int64_t ns, char text[static DURATION_SIZE]);

#endif
