/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the fold that need no file: nesting, names, communicators, pauses, tallies, texts. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/communicators.h"
#include "merge/lane.h"
#include "merge/names.h"
#include "merge/pauses.h"
#include "merge/tally.h"
#include "merge/unrecorded.h"

/* --- nesting: calls come in the order of their ends --------------------------------------------
 */

struct nested {
    uint64_t start, end;
    int64_t exclusive;
    int is_outermost;
};

static void check_calls(const struct nested *calls, size_t count)
{
    struct lane lane = {0};
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(lane_learn(&lane, calls[i].start, calls[i].end), 0);
    cr_assert_eq(lane_settle(&lane), 0);
    for (size_t i = 0; i < count; i++) {
        int is_outermost;
        int64_t duration = (int64_t)(calls[i].end - calls[i].start);
        int64_t exclusive =
            lane_exclusive(&lane, calls[i].start, calls[i].end, duration, &is_outermost);
        cr_expect_eq(exclusive, calls[i].exclusive, "call %zu: %ld", i, (long)exclusive);
        cr_expect_eq(is_outermost, calls[i].is_outermost, "call %zu", i);
    }
    lane_release(&lane);
}

Test(lane, calls_one_after_the_other_own_all_their_time)
{
    const struct nested calls[] = {{0, 10, 10, 1}, {10, 15, 5, 1}, {20, 20, 0, 1}};
    check_calls(calls, 3);
}

Test(lane, only_direct_children_are_taken_off)
{
    const struct nested calls[] = {
        {12, 14, 2, 0}, {11, 18, 5, 0}, {20, 30, 10, 0}, {10, 40, 13, 1}, {50, 60, 10, 1},
    };
    check_calls(calls, 5);
}

Test(lane, an_inner_call_may_share_an_end_of_the_outer)
{
    const struct nested calls[] = {{10, 15, 5, 0}, {18, 20, 2, 0}, {10, 20, 3, 1}};
    check_calls(calls, 3);
}

Test(lane, memory_grows_with_enclosing_calls_alone)
{
    struct lane lane = {0};
    for (uint64_t i = 0; i < 100000; i++)
        lane_learn(&lane, 10 * i, 10 * i + 5);
    lane_learn(&lane, 0, 1000000);
    cr_expect_eq(lane.count, 1);
    lane_release(&lane);
}

Test(lane, overlap_that_cannot_be_is_survived)
{
    struct lane lane = {0};
    const uint64_t starts[] = {5, 7, 2, 100, 1}, ends[] = {10, 12, 11, 101, 3};
    for (size_t i = 0; i < 5; i++)
        lane_learn(&lane, starts[i], ends[i]);
    cr_assert_eq(lane_settle(&lane), 0);
    for (size_t i = 0; i < 5; i++) {
        int is_outermost;
        int64_t duration = (int64_t)(ends[i] - starts[i]);
        int64_t exclusive = lane_exclusive(&lane, starts[i], ends[i], duration, &is_outermost);
        cr_expect_geq(exclusive, 0);
        cr_expect_leq(exclusive, duration);
    }
    lane_release(&lane);
}

/* --- names -------------------------------------------------------------------------------------
 */

Test(names, a_text_keeps_its_number)
{
    struct names names = {0};
    char text[32];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5000; i++) {
            snprintf(text, sizeof(text), "region %d", i);
            cr_assert_eq(names_intern(&names, text), i);
        }
    }
    cr_expect_eq(names.count, 5000);
    cr_expect_str_eq(names.texts[4711], "region 4711");
    names_release(&names);
}

/* --- communicators -----------------------------------------------------------------------------
 */

static void add(struct communicators *communicators, uint32_t rank, uint32_t id, uint64_t key,
                uint32_t size)
{
    struct trace_rank_run run = {.first = 0, .count = size, .stride = 1};
    struct trace_communicator definition = {
        .id = id, .parent = 0, .key = key, .size = size, .run_count = 1, .runs = &run};
    cr_assert_eq(communicators_add(communicators, rank, &definition), 0);
}

Test(communicators, world_and_self_have_fixed_numbers)
{
    struct communicators communicators = {0};
    add(&communicators, 0, 0, 0, 4);
    add(&communicators, 0, 1, 0, 1);
    cr_assert_eq(communicators_settle(&communicators), 0);
    cr_expect_eq(communicators_id(&communicators, 0, 0), 0);
    cr_expect_eq(communicators_id(&communicators, 0, 1), 1);
    cr_expect_eq(communicators_id(&communicators, 3, 0), 0);
    cr_expect_eq(communicators_id(&communicators, 0, -1), -1);
    cr_expect_eq(communicators_id(&communicators, 0, 2), -1);
    communicators_release(&communicators);
}

Test(communicators, numbers_follow_every_ranks_order_of_creation)
{
    /* Rank 0 makes A, B, D; rank 1 makes C, D: D is each one's last, although rank 1 calls it 3
     * and rank 0 calls B that. */
    struct communicators communicators = {0};
    enum { A = 100, B, C, D };
    add(&communicators, 0, 2, A, 1);
    add(&communicators, 0, 3, B, 1);
    add(&communicators, 0, 4, D, 2);
    add(&communicators, 1, 2, C, 1);
    add(&communicators, 1, 3, D, 2);
    cr_assert_eq(communicators_settle(&communicators), 0);
    cr_expect_eq(communicators_id(&communicators, 0, 2), 2);
    cr_expect_eq(communicators_id(&communicators, 0, 3), 3);
    cr_expect_eq(communicators_id(&communicators, 1, 2), 4);
    cr_expect_eq(communicators_id(&communicators, 0, 4), 5);
    cr_expect_eq(communicators_id(&communicators, 1, 3), 5);
    communicators_release(&communicators);
}

Test(communicators, a_contradiction_in_the_order_still_ends)
{
    struct communicators communicators = {0};
    add(&communicators, 0, 2, 100, 2);
    add(&communicators, 0, 3, 200, 2);
    add(&communicators, 1, 2, 200, 2);
    add(&communicators, 1, 3, 100, 2);
    cr_assert_eq(communicators_settle(&communicators), 0);
    int64_t a = communicators_id(&communicators, 0, 2), b = communicators_id(&communicators, 0, 3);
    cr_expect(a >= 2 && b >= 2 && a != b);
    cr_expect_eq(communicators_id(&communicators, 1, 3), a);
    communicators_release(&communicators);
}

Test(communicators, members_that_disagree_make_it_unknown)
{
    struct communicators communicators = {0};
    add(&communicators, 0, 2, 100, 2);
    add(&communicators, 1, 2, 100, 3);
    add(&communicators, 0, 3, 0, 2); /* no key */
    cr_assert_eq(communicators_settle(&communicators), 0);
    cr_expect_eq(communicators_id(&communicators, 0, 2), -1);
    cr_expect_eq(communicators_id(&communicators, 1, 2), -1);
    cr_expect_eq(communicators_id(&communicators, 0, 3), -1);
    communicators_release(&communicators);
}

Test(communicators, what_is_told_twice_is_told_once)
{
    struct communicators communicators = {0};
    add(&communicators, 0, 2, 100, 2);
    add(&communicators, 0, 3, 200, 2);
    add(&communicators, 0, 2, 100, 2); /* another thread, or the same one again */
    add(&communicators, 1, 2, 100, 2);
    add(&communicators, 0, 0, 0, 2);
    add(&communicators, 1, 0, 0, 2);
    add(&communicators, 0, 0, 0, 2);
    add(&communicators, 0, 4, 0, 2); /* no key */
    add(&communicators, 0, 4, 0, 2);
    cr_assert_eq(communicators_settle(&communicators), 0);
    cr_expect_eq(communicators_id(&communicators, 0, 2), 2);
    cr_expect_eq(communicators_id(&communicators, 1, 2), 2);
    cr_expect_eq(communicators_id(&communicators, 0, 3), 3);
    cr_expect_eq(communicators.definition_count, 6);
    for (size_t i = 0; i < communicators.count; i++)
        cr_expect(!communicators.list[i].ambiguous);
    communicators_release(&communicators);
}

Test(communicators, one_rank_has_not_two_with_one_key)
{
    struct communicators communicators = {0};
    add(&communicators, 0, 2, 100, 2);
    add(&communicators, 0, 3, 100, 2);
    cr_assert_eq(communicators_settle(&communicators), 0);
    cr_expect_eq(communicators_id(&communicators, 0, 2), -1);
    cr_expect_eq(communicators_id(&communicators, 0, 3), -1);
    communicators_release(&communicators);
}

/* A member of the group of ranks first, first + 1, ... tells of an intercommunicator. */
static void add_inter(struct communicators *communicators, uint32_t rank, uint32_t first,
                      uint32_t size, uint64_t key)
{
    struct trace_rank_run run = {.first = first, .count = size, .stride = 1};
    struct trace_communicator definition = {.id = 2,
                                            .kind = COMMUNICATOR_INTER,
                                            .key = key,
                                            .rank = rank - first,
                                            .size = size,
                                            .run_count = size ? 1 : 0,
                                            .runs = &run};
    cr_assert_eq(communicators_add(communicators, rank, &definition), 0);
}

Test(communicators, the_groups_of_an_intercommunicator_are_each_others_remote_one)
{
    struct communicators communicators = {0};
    for (uint32_t rank = 0; rank < 5; rank++)
        add_inter(&communicators, rank, rank < 2 ? 0 : 2, rank < 2 ? 2 : 3, 100);
    cr_assert_eq(communicators_settle(&communicators), 0);
    const struct communicator *inter = &communicators.list[0];
    cr_expect_eq(communicators.count, 1);
    cr_expect_eq(inter->id, 2);
    cr_expect_str_eq(inter->local.members, "0-1");
    cr_expect_eq(inter->local.size, 2);
    cr_expect_str_eq(inter->remote.members, "2-4");
    cr_expect_eq(inter->remote.size, 3);
    cr_expect_eq(communicators_id(&communicators, 4, 2), 2);
    /* Each side's peers are the other's. */
    cr_expect_eq(communicators_world_rank(&communicators, 0, 2, 2), 4);
    cr_expect_eq(communicators_world_rank(&communicators, 1, 2, 3), -1);
    cr_expect_eq(communicators_world_rank(&communicators, 4, 2, 1), 1);
    cr_expect_eq(communicators_world_rank(&communicators, 4, 2, 2), -1);
    communicators_release(&communicators);
}

Test(communicators, an_intercommunicator_has_two_groups_and_no_more)
{
    struct communicators communicators = {0};
    add_inter(&communicators, 0, 0, 1, 100);
    add_inter(&communicators, 1, 1, 1, 100);
    add_inter(&communicators, 2, 2, 1, 100);
    add_inter(&communicators, 3, 3, 1, 200); /* the other group is of another world */
    cr_assert_eq(communicators_settle(&communicators), 0);
    cr_expect_eq(communicators_id(&communicators, 0, 2), -1);
    cr_expect(communicators.list[0].ambiguous);
    cr_expect_eq(communicators_id(&communicators, 3, 2), 2);
    cr_expect_null(communicators.list[1].remote.members);
    cr_expect_eq(communicators_world_rank(&communicators, 3, 2, 0), -1);
    communicators_release(&communicators);
}

Test(communicators, members_that_were_left_out_show)
{
    struct communicators communicators = {0};
    struct trace_rank_run runs[] = {{0, 2, 1}, {8, 3, 2}, {5, 1, 1}};
    struct trace_communicator definition = {
        .id = 2, .key = 100, .size = 6, .run_count = 3, .runs = runs};
    cr_assert_eq(communicators_add(&communicators, 0, &definition), 0);
    definition.id = 3;
    definition.key = 200;
    definition.size = 7;
    cr_assert_eq(communicators_add(&communicators, 0, &definition), 0);
    definition.id = 4;
    definition.key = 300;
    definition.run_count = 0;
    cr_assert_eq(communicators_add(&communicators, 0, &definition), 0);
    cr_expect_str_eq(communicators.list[0].local.members, "0-1,8-12:2,5");
    cr_expect_str_eq(communicators.list[1].local.members, "0-1,8-12:2,5,...");
    cr_expect_str_eq(communicators.list[2].local.members, "");
    communicators_release(&communicators);
}

Test(communicators, the_lowest_ranks_last_name_holds)
{
    struct communicators communicators = {0};
    for (uint32_t rank = 0; rank < 3; rank++) {
        add(&communicators, rank, 0, 0, 3);
        add(&communicators, rank, 1, 0, 1);
        add(&communicators, rank, 2, 100, 3);
        add(&communicators, rank, 3, 200, 3);
        if (rank == 0)
            continue;
        communicators_name(&communicators, rank, 2, "first");
        communicators_name(&communicators, rank, 2, rank == 1 ? "halo" : "other");
        communicators_name(&communicators, rank, 1, "mine");
        communicators_name(&communicators, rank, 77, "of none");
    }
    cr_assert_eq(communicators_settle(&communicators), 0);
    const char *const expected[] = {"MPI_COMM_WORLD", "mine", "halo", ""};
    for (size_t i = 0; i < 4; i++)
        cr_expect_str_eq(communicator_name(&communicators.list[i]), expected[i]);
    communicators_release(&communicators);
}

Test(communicators, naming_in_a_loop_takes_no_memory)
{
    struct communicators communicators = {0};
    char text[32];
    for (uint32_t id = 0; id < 40; id++)
        add(&communicators, 0, id, 100 + id, 1);
    for (int i = 0; i < 100000; i++) {
        snprintf(text, sizeof(text), "step %d", i);
        cr_assert_eq(communicators_name(&communicators, 0, (uint32_t)i % 40, text), 0);
    }
    cr_expect_leq(communicators.name_room, 128);
    cr_assert_eq(communicators_settle(&communicators), 0);
    cr_expect_str_eq(communicator_name(&communicators.list[39]), "step 99999");
    cr_expect_str_eq(communicator_name(&communicators.list[0]), "step 99960");
    communicators_release(&communicators);
}

/* --- pauses ------------------------------------------------------------------------------------
 */

/* Takes what there is and compares with pairs of start and end, 0 behind the last. */
static void expect_pauses(struct pauses *pauses, const uint64_t *expected)
{
    uint64_t start, end;
    for (; *expected; expected += 2) {
        cr_assert(pauses_take(pauses, &start, &end));
        cr_expect_eq(start, expected[0], "%lu", (unsigned long)start);
        cr_expect_eq(end, expected[1], "%lu", (unsigned long)end);
    }
    cr_expect(!pauses_take(pauses, &start, &end));
}

Test(pauses, last_from_the_first_pause_to_the_next_going_on)
{
    struct pauses pauses = {0};
    pauses_add(&pauses, false, 5); /* was not paused */
    pauses_add(&pauses, true, 10);
    pauses_add(&pauses, true, 12);
    pauses_add(&pauses, false, 20);
    pauses_add(&pauses, false, 25);
    pauses_add(&pauses, true, 30);
    expect_pauses(&pauses, (const uint64_t[]){10, 20, 0});
    pauses_add(&pauses, false, 40); /* the session's end */
    expect_pauses(&pauses, (const uint64_t[]){30, 40, 0});
    pauses_add(&pauses, false, 50);
    expect_pauses(&pauses, (const uint64_t[]){0});
    pauses_release(&pauses);
}

Test(pauses, of_one_thread_may_be_ended_by_another)
{
    struct pauses pauses = {0};
    pauses_add(&pauses, true, 10); /* one thread's */
    pauses_add(&pauses, true, 30);
    pauses_add(&pauses, true, 50);
    pauses_add(&pauses, false, 20); /* the other's */
    pauses_add(&pauses, false, 40);
    pauses_add(&pauses, false, 50); /* at once */
    expect_pauses(&pauses, (const uint64_t[]){10, 20, 30, 40, 50, 50, 0});
    pauses_release(&pauses);
}

Test(pauses, that_begin_after_the_session_are_none)
{
    struct pauses pauses = {0};
    pauses_add(&pauses, true, 100);
    pauses_add(&pauses, false, 90);
    expect_pauses(&pauses, (const uint64_t[]){0});
    pauses_release(&pauses);
}

Test(pauses, by_the_million_take_no_memory)
{
    struct pauses pauses = {0};
    uint64_t start, end, count = 0, sum = 0;
    for (uint64_t i = 0; i < 1000000; i++) {
        cr_assert_eq(pauses_add(&pauses, true, 10 * i), 0);
        cr_assert_eq(pauses_add(&pauses, false, 10 * i + 3), 0);
        while (pauses_are_many(&pauses) && pauses_take(&pauses, &start, &end)) {
            count++;
            sum += end - start;
        }
    }
    while (pauses_take(&pauses, &start, &end)) {
        count++;
        sum += end - start;
    }
    cr_expect_eq(count, 1000000);
    cr_expect_eq(sum, 3000000);
    cr_expect_leq(pauses.room, 1 << 17);
    pauses_release(&pauses);
}

/* --- tallies -----------------------------------------------------------------------------------
 */

Test(tally, adds_up_what_is_of_the_same)
{
    struct tally tally = {0};
    for (uint32_t i = 0; i < 100000; i++) {
        struct tally_row row = {
            .rank = i % 3, .region = i % 5, .error_class = -(int32_t)(i % 2), .count = i, .ns = 2};
        cr_assert_eq(tally_add(&tally, &row), 0);
    }
    cr_expect_leq(tally.room, 128, "memory grows with what is different");
    tally_settle(&tally);
    cr_assert_eq(tally.count, 30);
    uint64_t sum = 0;
    int64_t ns = 0;
    for (size_t i = 0; i < 30; i++) {
        cr_expect_eq(tally.rows[i].rank, i / 10);
        cr_expect_eq(tally.rows[i].region, i / 2 % 5);
        cr_expect_eq(tally.rows[i].error_class, (int)(i % 2) - 1);
        sum += tally.rows[i].count;
        ns += tally.rows[i].ns;
    }
    cr_expect_eq(sum, UINT64_C(100000) * 99999 / 2);
    cr_expect_eq(ns, 200000);
    tally_release(&tally);
}

/* --- calls without room ------------------------------------------------------------------------
 */

/* What is told of a trace that stopped, with `dropped` calls of which total were counted. */
static const char *tell(uint32_t stopped, uint64_t size, uint64_t dropped, uint64_t total,
                        int64_t ns)
{
    static char text[UNRECORDED_TEXT];
    struct unrecorded unrecorded = {.total = total, .ns = ns};
    struct rank rank = {.state_page = {.stopped = stopped, .closed_size = size},
                        .bytes = 405504,
                        .dropped = dropped,
                        .unrecorded = total > 0 ? &unrecorded : NULL};
    unrecorded_tell(&rank, text);
    return text;
}

Test(unrecorded, the_reason_is_told_in_words)
{
    const uint64_t size = 8 << 20;
    cr_expect_str_eq(tell(STOP_LIMIT, size, 0, 0, 0),
                     "its trace was full (8 MiB; max-trace= and max-run= set its limit)");
    cr_expect_str_eq(tell(STOP_LIMIT, 0, 0, 0, 0), /* it was never closed */
                     "its trace was full (396 KiB; max-trace= and max-run= set its limit)");
    cr_expect_str_eq(tell(STOP_NO_SPACE, size, 0, 0, 0),
                     "the file system, or the user's quota, had no space for its trace");
    cr_expect_str_eq(tell(STOP_FILE_SIZE, size, 0, 0, 0),
                     "its trace reached the limit on the size of files (ulimit -f)");
    cr_expect_str_eq(tell(STOP_NO_MEMORY, size, 0, 0, 0), "there was no memory for its trace");
    cr_expect_str_eq(tell(STOP_IO, size, 0, 0, 0), "an I/O error stopped its trace");
    cr_expect_str_eq(tell(STOP_NONE, size, 0, 0, 0), "its trace has no room for some calls");
    cr_expect_str_eq(tell(UINT32_MAX, size, 0, 0, 0), "its trace has no room for some calls");
}

Test(unrecorded, so_is_how_much_is_missing)
{
    cr_expect_str_eq(tell(STOP_NO_MEMORY, 0, 1234567, 1234567, INT64_C(31200000000)),
                     "there was no memory for its trace: "
                     "1234567 calls of 31.200 s were counted, not recorded");
    cr_expect_str_eq(tell(STOP_IO, 0, 3, 1, 0),
                     "an I/O error stopped its trace: "
                     "1 call of 0.000 s was counted, not recorded, 2 were not even counted");
    cr_expect_str_eq(tell(STOP_IO, 0, 1, 0, 0),
                     "an I/O error stopped its trace: 1 was not even counted");
    const char *longest = tell(STOP_LIMIT, UINT64_MAX, UINT64_MAX, UINT64_MAX / 2, INT64_MIN);
    cr_expect_not_null(strstr(longest, "were not even counted"), "%s", longest);
}
