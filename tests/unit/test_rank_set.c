/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of ranks as people write them. */
#include <string.h>

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

Test(rank_set, ranks_in_any_order_become_ranges)
{
    uint32_t ranks[] = {3, 1, 0, 1, UINT32_MAX, 9, 2};
    struct rank_set set;
    struct error err;
    cr_assert_eq(rank_set_of(&set, ranks, sizeof(ranks) / sizeof(*ranks), &err), 0);
    cr_assert_eq(set.count, 3);
    cr_expect(set.ranges[0].first == 0 && set.ranges[0].last == 3);
    cr_expect(set.ranges[1].first == 9 && set.ranges[1].last == 9);
    cr_expect(set.ranges[2].first == UINT32_MAX);
    rank_set_release(&set);
}

/* What rank_set_check says of wanted in a file that has count ranks; "" if nothing. */
static const char *check(const char *wanted_text, uint32_t *ranks, size_t count)
{
    static struct error err;
    struct rank_set wanted, present;
    cr_assert_eq(rank_set_parse(&wanted, wanted_text, &err), 0);
    cr_assert_eq(rank_set_of(&present, ranks, count, &err), 0);
    int status = rank_set_check(&wanted, &present, &err);
    rank_set_release(&wanted);
    rank_set_release(&present);
    return status == 0 ? "" : err.text;
}

Test(rank_set, each_part_of_a_list_must_be_there)
{
    uint32_t ranks[] = {0, 1, 3};
    cr_expect_str_eq(check("0-9", ranks, 3), "");
    cr_expect_str_eq(check("3,0", ranks, 3), "");
    cr_expect_str_eq(check("0,2", ranks, 3), "no rank 2: the file has calls of ranks 0-1,3");
    cr_expect_str_eq(check("4-9", ranks, 3),
                     "none of the ranks 4-9: the file has calls of ranks 0-1,3");
    cr_expect_str_eq(check("0", ranks, 0), "no rank 0: the file has calls of no rank at all");
}

Test(rank_set, a_long_list_is_cut_in_the_message)
{
    uint32_t ranks[1000];
    for (uint32_t i = 0; i < 1000; i++)
        ranks[i] = 4000000000U + 2 * i;
    const char *text = check("7", ranks, 1000);
    cr_expect(strlen(text) > 200 && strlen(text) < 320, "%s", text);
    cr_expect_str_eq(text + strlen(text) - 4, ",...");
}
