/* SPDX-License-Identifier: BSD-3-Clause */
/* Text on the lines of a terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "report/line.h"

static char printed[1024];

static const char *wrap(const char *text, size_t column, size_t indent, size_t width)
{
    FILE *out = fmemopen(printed, sizeof(printed), "w");
    cr_assert(out);
    line_wrap(out, text, column, indent, width);
    fclose(out);
    return printed;
}

static const char *cut(const char *text, size_t width)
{
    FILE *out = fmemopen(printed, sizeof(printed), "w");
    cr_assert(out);
    line_cut(out, text, width);
    fclose(out);
    return printed;
}

Test(line, breaks_at_blanks)
{
    cr_expect_str_eq(wrap("one two three", 0, 0, 13), "one two three");
    cr_expect_str_eq(wrap("one two three", 0, 0, 12), "one two\nthree");
    cr_expect_str_eq(wrap("one two three", 0, 2, 8), "one two\n  three");
    cr_expect_str_eq(wrap("one two three", 4, 4, 9), "one\n    two\n    three");
    cr_expect_str_eq(wrap("one  two", 0, 0, 0), "one  two");
}

Test(line, breaks_words_that_are_longer_than_a_line)
{
    cr_expect_str_eq(wrap("/a/long/path", 0, 0, 5), "/a/lo\nng/pa\nth");
    cr_expect_str_eq(wrap("a bcdefg", 2, 2, 6), "a\n  bcde\n  fg");
    cr_expect_str_eq(wrap("          x", 0, 0, 5), "x");
}

Test(line, counts_columns_not_bytes)
{
    cr_expect_eq(line_columns("\xc3\xa9t\xc3\xa9"), 3);
    cr_expect_eq(line_columns("\xe6\xbc\xa2"), 2);
    cr_expect_str_eq(wrap("\xc3\xa9t\xc3\xa9", 0, 0, 3), "\xc3\xa9t\xc3\xa9");
    cr_expect_str_eq(wrap("\xe6\xbc\xa2\xe6\xbc\xa2", 0, 0, 3), "\xe6\xbc\xa2\n\xe6\xbc\xa2");
}

Test(line, is_cut_with_dots)
{
    cr_expect_str_eq(cut("abcdef", 6), "abcdef");
    cr_expect_str_eq(cut("abcdefg", 6), "abc...");
    cr_expect_str_eq(cut("abcdefg", 0), "abcdefg");
    cr_expect_str_eq(cut("a\xe6\xbc\xa2\xe6\xbc\xa2z", 5), "a...", "no half of a wide one");
}

/* ESC, DEL, the two spellings of CSI, an overlong ESC, a cut-off character. */
Test(line, commands_to_the_terminal_are_not_passed_on)
{
    cr_expect_str_eq(wrap("\x1b[2J\n\x7f", 0, 0, 0), "?[2J??");
    cr_expect_str_eq(wrap("\xc2\x9b\x9b", 0, 0, 0), "??");
    cr_expect_str_eq(wrap("\xc0\x9b|\xe0\x80\x9b", 0, 0, 0), "??|?");
    cr_expect_str_eq(wrap("\xe6\xbc", 0, 0, 0), "??");
    cr_expect_str_eq(cut("\x1b", 0), "?");
}

Test(line, is_never_wider_than_it_may_be)
{
    char text[200];
    srand(1);
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof(text) - 1; i++)
            text[i] = "  abc-"[rand() % 6];
        text[sizeof(text) - 1] = '\0';
        size_t width = 5 + (size_t)rand() % 30, indent = (size_t)rand() % 5;
        wrap(text, indent, indent, width);
        size_t column = indent;
        for (const char *p = printed; *p; p++) {
            column = *p == '\n' ? 0 : column + 1;
            cr_assert(column <= width, "round %d", round);
        }
    }
}
