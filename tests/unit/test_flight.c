/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls in flight, durations and members as text. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "merge/duration.h"
#include "merge/flight.h"
#include "merge/members.h"

/* --- durations ---------------------------------------------------------------------------------
 */

Test(duration, is_told_in_the_unit_that_fits)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {-1, "0 us"},
        {0, "0 us"},
        {999, "0 us"},
        {1000, "1 us"},
        {999499, "999 us"},
        {999500, "1.0 ms"},
        {12340000, "12.3 ms"},
        {999949999, "999.9 ms"},
        {999950000, "1.0 s"},
        {31200000000, "31.2 s"},
        {119949999999, "119.9 s"},
        {119950000000, "2 min 0 s"},
        {125000000000, "2 min 5 s"},
        {7199499999999, "119 min 59 s"},
        {7199500000000, "2 h 0 min"},
        {11040000000000, "3 h 4 min"},
        {172799000000000, "47 h 59 min"},
        {172800000000000, "2 d 0 h"},
        {INT64_MAX, "106751 d 23 h"},
    };
    char text[DURATION_SIZE];
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        cr_expect_str_eq(duration_print(cases[i].ns, text), cases[i].text, "%ld ns: %s",
                         (long)cases[i].ns, text);
}

/* --- calls -------------------------------------------------------------------------------------
 */

static struct flight flight(const char *operation, const char *request, int64_t peer, int64_t root,
                            int64_t tag, int64_t communicator)
{
    return (struct flight){.call = {.operation = operation,
                                    .request = request,
                                    .bytes = 64,
                                    .peer = peer,
                                    .root = root,
                                    .tag = tag,
                                    .communicator = communicator},
                           .world_peer = -1};
}

static void check(struct flight of, const char *expected)
{
    char text[FLIGHT_SIZE];
    cr_expect_str_eq(flight_print(&of, text), expected);
}

Test(flight, a_message_goes_to_or_comes_from)
{
    check(flight("send", NULL, 1, -1, 7, 0), "mpi:send to 1 (tag 7)");
    check(flight("ssend", NULL, 0, -1, 0, 0), "mpi:ssend to 0 (tag 0)");
    check(flight("recv", NULL, 1, -1, 7, 0), "mpi:recv from 1 (tag 7)");
    check(flight("recv", NULL, -1, -1, 7, 0), "mpi:recv from any (tag 7)");
    check(flight("recv", NULL, 1, -1, -1, 0), "mpi:recv from 1 (any tag)");
    check(flight("probe", NULL, -1, -1, -1, 0), "mpi:probe from any (any tag)");
    check(flight("recv", NULL, -2, -1, 7, 0), "mpi:recv from MPI_PROC_NULL (tag 7)");
    check(flight("sendrecv", NULL, 3, -1, 2, 0), "mpi:sendrecv to 3 (tag 2)");
    check(flight("mrecv", NULL, -1, -1, -1, -1), "mpi:mrecv");
}

Test(flight, a_communicator_is_told_unless_it_goes_without_saying)
{
    check(flight("recv", NULL, 1, -1, 7, 2), "mpi:recv from 1 (tag 7) on comm 2");
    struct flight known = flight("recv", NULL, 1, -1, 7, 2);
    known.world_peer = 5;
    check(known, "mpi:recv from 1 (tag 7) on comm 2 (world rank 5)");
    check(flight("barrier", NULL, -1, -1, -1, 0), "mpi:barrier on comm 0");
    check(flight("barrier", NULL, -1, -1, -1, 3), "mpi:barrier on comm 3");
    check(flight("barrier", NULL, -1, -1, -1, -1), "mpi:barrier");
}

Test(flight, a_rooted_collective_has_its_root)
{
    check(flight("bcast", NULL, -1, 0, -1, 0), "mpi:bcast with root 0 on comm 0");
    check(flight("reduce", NULL, -1, 3, -1, 2), "mpi:reduce with root 3 on comm 2");
    check(flight("bcast", NULL, -1, -3, -1, 2), "mpi:bcast as root on comm 2");
    check(flight("bcast", NULL, -1, -2, -1, 2), "mpi:bcast with root MPI_PROC_NULL on comm 2");
}

Test(flight, a_wait_tells_the_request)
{
    check(flight("wait", "irecv", 1, -1, 7, 0), "mpi:wait for irecv from 1 (tag 7)");
    check(flight("wait", "irecv", -1, -1, 7, 0), "mpi:wait for irecv from any (tag 7)");
    check(flight("wait", "isend", 2, -1, 0, 2), "mpi:wait for isend to 2 (tag 0) on comm 2");
    check(flight("wait", "ibarrier", -1, -1, -1, 0), "mpi:wait for ibarrier on comm 0");
    check(flight("wait", "recv_init", 2, -1, 1, 0), "mpi:wait for recv_init from 2 (tag 1)");
    check(flight("waitall", "unknown", -1, -1, -1, -1), "mpi:waitall");
    check(flight("waitall", "mixed", -1, -1, -1, 0),
          "mpi:waitall for requests of several kinds on comm 0");
}

Test(flight, one_sided_calls_have_a_target)
{
    check(flight("put", NULL, 3, -1, -1, 0), "mpi:put to 3");
    check(flight("rget", NULL, 3, -1, -1, 2), "mpi:rget from 3 on comm 2");
    check(flight("win_lock", NULL, 3, -1, -1, 0), "mpi:win_lock at 3");
    check(flight("fetch_and_op", NULL, 3, -1, -1, 0), "mpi:fetch_and_op with 3");
    check(flight("win_fence", NULL, -1, -1, -1, 0), "mpi:win_fence on comm 0");
}

/* In what several polls have in common, -1 is no wildcard. */
Test(flight, what_calls_do_not_have_in_common_is_left_out)
{
    struct flight polls = flight("iprobe", NULL, -1, -1, -1, 0);
    polls.is_common = true;
    check(polls, "mpi:iprobe on comm 0");
    polls = flight("test", "irecv", -1, -1, 7, 0);
    polls.is_common = true;
    check(polls, "mpi:test for irecv (tag 7)");
    struct flight receives = flight("recv", NULL, -1, -1, 7, 0);
    receives.is_common = receives.has_several_peers = true;
    check(receives, "mpi:recv from several ranks (tag 7)");
    receives.call.communicator = 2;
    check(receives, "mpi:recv from several ranks (tag 7) on comm 2");
}

Test(flight, the_longest_names_and_numbers_fit)
{
    char name[TRACE_NAME_MAX + 1] = {0}, text[FLIGHT_SIZE];
    memset(name, 'x', TRACE_NAME_MAX);
    struct flight longest = flight(name, name, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX);
    longest.world_peer = INT64_MAX;
    flight_print(&longest, text);
    cr_expect_str_eq(text + strlen(text) - 2, "7)");
}

Test(flight, polls_are_known_by_their_names)
{
    static const char *const polls[] = {"test",   "testall",  "testany",  "testsome",
                                        "iprobe", "improbe",  "win_test", "request_get_status",
                                        "parrived"};
    static const char *const others[] = {"wait", "probe", "recv", "barrier", "init", "start"};
    for (size_t i = 0; i < sizeof(polls) / sizeof(*polls); i++)
        cr_expect(flight_is_poll(polls[i]), "%s", polls[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        cr_expect_not(flight_is_poll(others[i]), "%s", others[i]);
}

/* --- members -----------------------------------------------------------------------------------
 */

static void check_run(uint32_t first, uint32_t count, int32_t stride, const char *expected)
{
    char text[MEMBERS_RUN_SIZE];
    struct trace_rank_run run = {first, count, stride}, again;
    const char *rest = members_print_run(&run, text);
    cr_expect_str_eq(text, expected);
    cr_assert(members_next(&rest, &again));
    cr_expect_eq(again.first, first);
    cr_expect_eq(again.count, count);
    cr_expect(count == 1 || again.stride == stride);
    cr_expect_str_eq(rest, "");
}

Test(members, a_run_comes_back)
{
    check_run(5, 1, 1, "5");
    check_run(0, 4, 1, "0-3");
    check_run(8, 4, 2, "8-14:2");
    check_run(9, 3, -4, "9-1:-4");
}

Test(members, are_found_by_their_index)
{
    static const struct trace_rank_run runs[] = {{0, 4, 1}, {8, 4, 2}, {7, 1, 1}, {5, 3, -2}};
    static const int64_t expected[] = {0, 1, 2, 3, 8, 10, 12, 14, 7, 5, 3, 1, -1, -1};
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
        cr_expect_eq(members_at(runs, 4, i), expected[i], "member %zu", i);
    cr_expect_eq(members_at(runs, 1, 3), 3);
    cr_expect_eq(members_at(runs, 1, 4), -1, "what is not told");
    cr_expect_eq(members_at(&(struct trace_rank_run){1, 9, -1}, 1, 2), -1, "nobody");
    cr_expect_eq(members_at(NULL, 0, 0), -1);
}

Test(members, impossible_texts_have_nobody)
{
    static const char *const texts[] = {"x", "-5", "5-", "0-3:0", "0-3:", "3-0", "0-9:99999999999",
                                        "99999999999", "0-3:-1"};
    struct trace_rank_run run;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        const char *text = texts[i];
        cr_expect_not(members_next(&text, &run), "%s", texts[i]);
    }
}
