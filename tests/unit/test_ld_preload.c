/* SPDX-License-Identifier: BSD-3-Clause */
/* LD_PRELOAD is edited without losing a byte of the user's own value. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "schema/ld_preload.h"

#define LIBRARY "/opt/sp/libscope_preload.so"

static void adds(const char *value, const char *expected)
{
    char *result = ld_preload_add(value, LIBRARY);
    cr_assert_not_null(result);
    cr_expect_str_eq(result, expected);
    free(result);
}

static void removes(const char *value, const char *expected)
{
    char *left;
    cr_assert_eq(ld_preload_remove(value, LIBRARY, &left), 0);
    if (expected) {
        cr_assert_not_null(left, "%s", value);
        cr_expect_str_eq(left, expected);
    } else {
        cr_expect_null(left);
    }
    free(left);
}

Test(ld_preload, the_library_goes_in_front)
{
    adds(NULL, LIBRARY);
    adds("", LIBRARY ":");
    adds("liba.so", LIBRARY ":liba.so");
    adds("liba.so  libb.so:", LIBRARY ":liba.so  libb.so:");
    adds("/opt/sp/libscope_preload.so.1", LIBRARY ":/opt/sp/libscope_preload.so.1");
    adds("x" LIBRARY, LIBRARY ":x" LIBRARY);
}

Test(ld_preload, it_never_stands_there_twice)
{
    adds(LIBRARY, LIBRARY);
    adds("liba.so:" LIBRARY, "liba.so:" LIBRARY);
    adds("liba.so " LIBRARY " libb.so", "liba.so " LIBRARY " libb.so");
}

Test(ld_preload, taking_out_undoes_putting_in)
{
    static const char *const values[] = {"",  "a.so",   "a.so:b.so", "a.so b.so", ":",
                                         " ", "::a.so", "a.so  :",   ": a.so: ",  ":a.so"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char *added = ld_preload_add(values[i], LIBRARY);
        removes(added, values[i]);
        free(added);
    }
    removes(LIBRARY, NULL);
}

Test(ld_preload, it_is_taken_out_wherever_a_script_moved_it)
{
    removes("a.so:" LIBRARY, "a.so");
    removes("a.so:" LIBRARY ":b.so", "a.so:b.so");
    removes("a.so " LIBRARY " b.so", "a.so b.so");
    removes(LIBRARY ":a.so:" LIBRARY, "a.so");
    removes(LIBRARY ":" LIBRARY, NULL);
    removes("a.so:" LIBRARY ":" LIBRARY, "a.so");
}

Test(ld_preload, other_libraries_stay)
{
    removes("", "");
    removes("a.so", "a.so");
    removes(LIBRARY "2", LIBRARY "2");
    removes("x" LIBRARY ":" LIBRARY "x", "x" LIBRARY ":" LIBRARY "x");
}

Test(ld_preload, a_path_with_a_separator_cannot_be_held)
{
    cr_expect(ld_preload_can_hold(LIBRARY));
    cr_expect_not(ld_preload_can_hold("/opt/my tools/lib.so"));
    cr_expect_not(ld_preload_can_hold("/opt/a:b/lib.so"));
    cr_expect_not(ld_preload_can_hold(""));
}
