/* SPDX-License-Identifier: BSD-3-Clause */
/* Untrusted text on the lines of a terminal.
 *
 * What a terminal would take for a command is printed as "?". Columns are counted for UTF-8; where
 * it is not sure how wide a character is, it counts as wide. A width of 0 means no limit.
 */
#ifndef SCOPE_LINE_H
#define SCOPE_LINE_H

#include <stddef.h>
#include <stdio.h>

/* The columns that text takes. */
size_t line_columns(const char *text);

/* Prints text from column on, without a newline at its end. Breaks at blanks, in words only when
 * they are longer than a line; further lines begin at column indent, less than width. */
void line_wrap(FILE *out, const char *text, size_t column, size_t indent, size_t width);

/* Prints at most width (3 or more) columns of text, "..." at their end if that is not all. */
void line_cut(FILE *out, const char *text, size_t width);

#endif
