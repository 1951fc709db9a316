/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of right-aligned cells, as wide as what is in them. */
#ifndef SCOPE_TABLE_H
#define SCOPE_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum { TABLE_COLUMNS_MAX = 8, TABLE_CELL = 32, TABLE_GAP = 2 };

struct table {
    const char *const *titles;
    size_t column_count, row_count;
    /* The text of a cell, in text or elsewhere; ASCII. */
    const char *(*cell)(const void *data, size_t row, size_t column, char text[static TABLE_CELL]);
    const void *data;
    size_t widths[TABLE_COLUMNS_MAX]; /* 0: the column is not shown */
};

/* Shows every column, each as wide as it needs. */
void table_measure(struct table *table);

/* Hides columns, in this order, until the table is at most width wide or there are no more of them;
 * width 0: no limit. */
void table_fit(struct table *table, const size_t *expendable, size_t count, size_t width);

/* The width of a line. */
size_t table_width(const struct table *table);

/* A line without its newline. */
void table_print_titles(FILE *out, const struct table *table);
void table_print_row(FILE *out, const struct table *table, size_t row);

#endif
