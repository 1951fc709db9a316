/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of right-aligned cells, as wide as what is in them. */
#include "report/table.h"

#include <string.h>

void table_measure(struct table *table)
{
    char text[TABLE_CELL];
    for (size_t column = 0; column < table->column_count; column++)
        table->widths[column] = strlen(table->titles[column]);
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t column = 0; column < table->column_count; column++) {
            size_t width = strlen(table->cell(table->data, row, column, text));
            if (table->widths[column] < width)
                table->widths[column] = width;
        }
    }
}

void table_fit(struct table *table, const size_t *expendable, size_t count, size_t width)
{
    for (size_t i = 0; i < count && width > 0 && table_width(table) > width; i++)
        table->widths[expendable[i]] = 0;
}

size_t table_width(const struct table *table)
{
    size_t width = 0;
    for (size_t column = 0; column < table->column_count; column++) {
        if (table->widths[column] > 0)
            width += table->widths[column] + (width > 0 ? TABLE_GAP : 0);
    }
    return width;
}

static void print_cell(FILE *out, const struct table *table, size_t column, const char *text,
                       int *gap)
{
    if (table->widths[column] == 0)
        return;
    fprintf(out, "%*s%*s", *gap, "", (int)table->widths[column], text);
    *gap = TABLE_GAP;
}

void table_print_titles(FILE *out, const struct table *table)
{
    int gap = 0;
    for (size_t column = 0; column < table->column_count; column++)
        print_cell(out, table, column, table->titles[column], &gap);
}

void table_print_row(FILE *out, const struct table *table, size_t row)
{
    char text[TABLE_CELL];
    int gap = 0;
    for (size_t column = 0; column < table->column_count; column++) {
        if (table->widths[column] > 0)
            print_cell(out, table, column, table->cell(table->data, row, column, text), &gap);
    }
}
