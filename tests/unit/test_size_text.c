/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes as people write them. */
#include <criterion/criterion.h>
#include <string.h>

#include "schema/size_text.h"

static uint64_t size(const char *text)
{
    uint64_t bytes;
    return size_text_read(text, strlen(text), &bytes) ? bytes : 0;
}

Test(size_text, a_number_is_bytes_and_a_letter_makes_them_more)
{
    cr_expect_eq(size("1"), 1);
    cr_expect_eq(size("4096"), 4096);
    cr_expect_eq(size("1K"), 1024);
    cr_expect_eq(size("3k"), 3072);
    cr_expect_eq(size("500M"), UINT64_C(500) << 20);
    cr_expect_eq(size("10G"), UINT64_C(10) << 30);
    cr_expect_eq(size("2t"), UINT64_C(2) << 40);
    cr_expect_eq(size("9223372036854775807"), INT64_MAX);
    cr_expect_eq(size("8388607T"), UINT64_C(8388607) << 40);
}

Test(size_text, only_the_length_given_is_looked_at)
{
    uint64_t bytes;
    cr_assert(size_text_read("10G,out=x", 3, &bytes));
    cr_expect_eq(bytes, UINT64_C(10) << 30);
    cr_expect_not(size_text_read("10G", 0, &bytes));
}

Test(size_text, anything_else_is_refused)
{
    static const char *const wrong[] = {"",    "0",    "0G",  "G",    "-1",  "+1", " 1",
                                        "1 ",  "1.5G", "1GB", "1KiB", "ten", "1e9", "0x10",
                                        "1GG", "9223372036854775808", "8388608T",
                                        "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_eq(size(wrong[i]), 0, "%s", wrong[i]);
}
