/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of KEY=VALUE lines: each byte but printable ASCII, and '%' itself, as %XX. */
#ifndef SCOPE_PERCENT_H
#define SCOPE_PERCENT_H

#include <stddef.h>

/* The bytes that value takes when it is encoded, without a zero byte. */
size_t percent_size(const char *value);

/* Writes the encoded value to p, without a zero byte, and returns where it ends. */
char *percent_encode(char *p, const char *value);

/* Decodes value in place; it may then hold any byte but zero. Returns 0, or -1 if it is not well
 * encoded. */
int percent_decode(char *value);

#endif
