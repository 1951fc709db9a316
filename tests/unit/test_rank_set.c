/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of ranks as people write them. */
#include <criterion/criterion.h>

#include "report/rank_set.h"

Test(rank_set, ranges_and_single_ranks)
{
    struct rank_set set;
    struct error err;
    cr_assert_eq(rank_set_parse(&set, "0-3,7", &err), 0);
    cr_expect(rank_set_has(&set, 0) && rank_set_has(&set, 3) && rank_set_has(&set, 7));
    cr_expect(!rank_set_has(&set, 4) && !rank_set_has(&set, 8));
    rank_set_release(&set);
}

Test(rank_set, nothing_given_means_all)
{
    struct rank_set set = {0};
    cr_expect(rank_set_has(&set, UINT32_MAX));
}

Test(rank_set, what_is_no_list_is_refused)
{
    static const char *const wrong[] = {"",  ",",   "1,",   "-1",    "3-1",        "1-",
                                        "a", "1 2", "1--2", "1-2-3", "4294967296", "+1"};
    struct rank_set set;
    struct error err;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        cr_expect_eq(rank_set_parse(&set, wrong[i], &err), -1, "\"%s\"", wrong[i]);
}
