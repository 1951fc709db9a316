/* SPDX-License-Identifier: BSD-3-Clause */
/* How many files this process may have open. */
#ifndef SCOPE_FILE_LIMIT_H
#define SCOPE_FILE_LIMIT_H

#include <stddef.h>

/* Allows as many as the hard limit does. Returns how many those are; 0: not known. */
size_t file_limit_raise(void);

#endif
