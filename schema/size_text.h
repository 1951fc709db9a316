/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes as people write them: "10G". */
#ifndef SCOPE_SIZE_TEXT_H
#define SCOPE_SIZE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a whole number of bytes, or of KiB, MiB, GiB or TiB with K, M, G or T behind it (either
 * case), from text of that length. False if it is anything else, 0, or more than an int64_t holds. */
bool size_text_read(const char *text, size_t length, uint64_t *bytes);

#endif
