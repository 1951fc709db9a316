/* SPDX-License-Identifier: BSD-3-Clause */
/* Untrusted text on the lines of a terminal. */
#include "report/line.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* One character of UTF-8, or a byte that is none. */
struct glyph {
    size_t bytes, columns;
    bool is_safe;
};

static struct glyph read_glyph(const char *text)
{
    static const struct glyph unsafe = {1, 1, false};
    const unsigned char *p = (const unsigned char *)text;
    if (*p < 0x80)
        return (struct glyph){1, 1, *p >= ' ' && *p != 0x7f};
    if (*p < 0xc2 || *p > 0xf4)
        return unsafe;
    size_t bytes = *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
    uint32_t code = *p & (0xffU >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) { /* stops at the terminator */
        if ((p[i] & 0xc0) != 0x80)
            return unsafe;
        code = code << 6 | (p[i] & 0x3fU);
    }
    /* Below U+00A0 are control characters (or a longer spelling of ASCII), from U+1100 on the first
     * wide ones. */
    return (struct glyph){bytes, code < 0x1100 ? 1 : 2, code >= 0xa0};
}

static void print_glyph(FILE *out, const char *text, struct glyph glyph)
{
    if (glyph.is_safe)
        fwrite(text, 1, glyph.bytes, out);
    else
        fputc('?', out);
}

static size_t count_columns(const char *text, size_t length)
{
    size_t columns = 0;
    for (const char *end = text + length; text < end;) {
        struct glyph glyph = read_glyph(text);
        columns += glyph.columns;
        text += glyph.bytes;
    }
    return columns;
}

size_t line_columns(const char *text)
{
    return count_columns(text, strlen(text));
}

static void break_line(FILE *out, size_t indent)
{
    fprintf(out, "\n%*s", (int)indent, "");
}

/* Prints a word, broken where a line is full. Returns the column behind it. */
static size_t print_word(FILE *out, const char *word, size_t length, size_t column, size_t indent,
                         size_t width)
{
    for (const char *end = word + length; word < end;) {
        struct glyph glyph = read_glyph(word);
        if (width > 0 && column + glyph.columns > width && column > indent) {
            break_line(out, indent);
            column = indent;
        }
        print_glyph(out, word, glyph);
        column += glyph.columns;
        word += glyph.bytes;
    }
    return column;
}

void line_wrap(FILE *out, const char *text, size_t column, size_t indent, size_t width)
{
    while (*text) {
        size_t blanks = strspn(text, " ");
        const char *word = text + blanks;
        size_t length = strcspn(word, " ");
        if (width > 0 && column + blanks + count_columns(word, length) > width) {
            if (column > indent) {
                break_line(out, indent);
                column = indent;
            }
            blanks = 0;
        }
        fprintf(out, "%*s", (int)blanks, "");
        column = print_word(out, word, length, column + blanks, indent, width);
        text = word + length;
    }
}

void line_cut(FILE *out, const char *text, size_t width)
{
    bool is_cut = width > 0 && line_columns(text) > width;
    size_t room = is_cut ? width - 3 : SIZE_MAX;
    while (*text) {
        struct glyph glyph = read_glyph(text);
        if (glyph.columns > room)
            break;
        print_glyph(out, text, glyph);
        room -= glyph.columns;
        text += glyph.bytes;
    }
    if (is_cut)
        fputs("...", out);
}
