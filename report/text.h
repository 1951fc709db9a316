/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as text, for people. */
#ifndef SCOPE_TEXT_H
#define SCOPE_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "report/summary.h"
#include "schema/profile_reader.h"

struct text_layout {
    size_t width; /* of the terminal in columns; 0: no terminal, lines are as long as they need */
    size_t top;   /* regions to print; 0: all */
};

/* The layout for standard output: COLUMNS, or what the terminal says; at least 40 columns. */
struct text_layout text_layout(size_t top);

/* Prints the report; no line is wider than the layout. There, columns that matter less are left out
 * and names of regions are shortened, but never so that two of them look the same. */
void text_print(FILE *out, const char *path, const struct profile *profile,
                const struct summary *summary, const struct text_layout *layout);

#endif
