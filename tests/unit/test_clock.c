/* SPDX-License-Identifier: BSD-3-Clause */
/* Ticks to nanoseconds, and hosts onto one timeline. */
#include <criterion/criterion.h>
#include <string.h>

#include "merge/clock.h"
#include "merge/hosts.h"

static struct clock make_clock(const struct trace_sync *points, size_t count)
{
    struct clock clock = {0};
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(clock_add(&clock, &points[i]), 0);
    return clock;
}

Test(clock, goes_through_its_sync_points_in_any_order)
{
    const struct trace_sync points[] = {{3000, 2001000000, 0}, {1000, 0, 0}, {2000, 1000000000, 0}};
    struct clock clock = make_clock(points, 3);
    size_t hint = 0;
    cr_assert_eq(clock_settle(&clock, CLOCK_SOURCE_TSC, 0, NULL), 0);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(clock_ns(&clock, points[i].ticks, &hint), points[i].monotonic_ns);
    cr_expect_eq(clock_ns(&clock, 1500, &hint), 500000000);
    cr_expect_eq(clock_ns(&clock, 2500, &hint), 1500500000);
    clock_release(&clock);
}

Test(clock, goes_on_beyond_its_ends_at_the_nearest_speed)
{
    const struct trace_sync points[] = {
        {1000, 5000000000, 0}, {2000, 6000000000, 0}, {3000, 8000000000, 0}};
    struct clock clock = make_clock(points, 3);
    size_t hint = 0;
    cr_assert_eq(clock_settle(&clock, CLOCK_SOURCE_TSC, 0, NULL), 0);
    cr_expect_eq(clock_ns(&clock, 0, &hint), 4000000000);
    cr_expect_eq(clock_ns(&clock, 4000, &hint), 10000000000);
    clock_release(&clock);
}

Test(clock, the_noise_of_two_close_points_is_no_speed)
{
    /* The last two points are 10 ticks apart and read 50 ns instead of 10. */
    const struct trace_sync points[] = {
        {0, 0, 0}, {10000000, 10000000, 0}, {10000010, 10000050, 0}};
    struct clock clock = make_clock(points, 3);
    size_t hint = 0;
    cr_assert_eq(clock_settle(&clock, CLOCK_SOURCE_TSC, 0, NULL), 0);
    int64_t ns = clock_ns(&clock, 20000010, &hint);
    cr_expect_geq(ns, 20000000);
    cr_expect_leq(ns, 20000200);
    clock_release(&clock);
}

Test(clock, never_runs_backwards)
{
    /* Two points contradict the others; the slope is no whole number of ns per tick. */
    const struct trace_sync points[] = {{100, 1000, 0}, {103, 1010, 0}, {110, 900, 0},
                                        {110, 1011, 0}, {200, 1200, 0}, {150, 1300, 0}};
    struct clock clock = make_clock(points, 6);
    size_t hint = 0;
    cr_assert_eq(clock_settle(&clock, CLOCK_SOURCE_TSC, 0, NULL), 0);
    int64_t before = clock_ns(&clock, 0, &hint);
    for (uint64_t ticks = 1; ticks < 400; ticks++) {
        int64_t ns = clock_ns(&clock, ticks, &hint);
        cr_assert_geq(ns, before, "at %llu", (unsigned long long)ticks);
        before = ns;
    }
    clock_release(&clock);
}

/* A counter of 2.6 GHz, in ticks of eight, whose speed against CLOCK_MONOTONIC goes from 20 parts per
 * million more to 20 less in a minute, and back in the next. */
static int64_t drifting_ns(uint64_t ticks)
{
    const double minute = 60e9;
    int64_t ns = (int64_t)((unsigned __int128)ticks * 8 * 10 / 26);
    double minutes = (double)ns / minute, part = minutes - (double)(int64_t)minutes;
    double ahead = 20e-6 * minute * part * (1 - part);
    return ns + (int64_t)((int64_t)minutes % 2 ? -ahead : ahead);
}

Test(clock, is_right_to_a_microsecond_while_the_speed_changes)
{
    const uint64_t second = 325000000, minutes = 5;
    struct clock clock = {0};
    size_t hint = 0;
    int64_t worst = 0;
    /* Read 40 ns too early and too late by turns, at no particular times. */
    for (uint64_t i = 0; i <= 60 * minutes; i++) {
        uint64_t ticks = i * second + i * 7919 % 1000;
        int64_t noise = i % 2 ? 40 : -40;
        struct trace_sync point = {ticks, drifting_ns(ticks) + noise, 0};
        cr_assert_eq(clock_add(&clock, &point), 0);
    }
    cr_assert_eq(clock_settle(&clock, CLOCK_SOURCE_TSC, 3, NULL), 0);
    for (uint64_t ticks = 0; ticks <= 60 * minutes * second; ticks += 99991) {
        int64_t error = clock_ns(&clock, ticks, &hint) - drifting_ns(ticks);
        worst = error > worst ? error : -error > worst ? -error : worst;
    }
    cr_expect_lt(worst, 1000, "%lld ns", (long long)worst);
    cr_expect_gt(worst, 30, "the noise shows");
    clock_release(&clock);
}

Test(clock, rounds_down_and_never_passes_the_next_point)
{
    /* Slopes below and above 1; the last one is over more ticks than can be exact everywhere. */
    const struct trace_sync points[] = {
        {7, 1000, 0}, {1000007, 386615, 0}, {2000010, 8386622, 0}, {UINT64_C(1) << 61, 1 << 30, 0}};
    struct clock clock = make_clock(points, 4);
    size_t hint = 0;
    cr_assert_eq(clock_settle(&clock, CLOCK_SOURCE_TSC, 0, NULL), 0);
    for (int i = 0; i < 2; i++) {
        const struct trace_sync *from = &points[i], *to = from + 1;
        for (uint64_t ticks = from->ticks; ticks < to->ticks; ticks += 3) {
            unsigned __int128 part = (unsigned __int128)(ticks - from->ticks) *
                                     (uint64_t)(to->monotonic_ns - from->monotonic_ns);
            int64_t exact = from->monotonic_ns + (int64_t)(part / (to->ticks - from->ticks));
            cr_assert_eq(clock_ns(&clock, ticks, &hint), exact, "at %lu", (unsigned long)ticks);
        }
    }
    int64_t before = points[2].monotonic_ns;
    for (uint64_t left = UINT64_C(1) << 60; left > 0; left -= left / 64 + 1) {
        int64_t ns = clock_ns(&clock, points[3].ticks - left, &hint);
        cr_assert(ns >= before && ns <= points[3].monotonic_ns, "%lu ticks before the point",
                  (unsigned long)left);
        before = ns;
    }
    clock_release(&clock);
}

Test(clock, extreme_ticks_stay_in_range)
{
    const struct trace_sync points[] = {{1, 0, 0}, {2, INT64_C(1) << 60, 0}};
    struct clock clock = make_clock(points, 2);
    size_t hint = 0;
    cr_assert_eq(clock_settle(&clock, CLOCK_SOURCE_TSC, 0, NULL), 0);
    cr_expect_eq(clock_ns(&clock, UINT64_MAX, &hint), INT64_C(1) << 60);
    cr_expect_eq(clock_ns(&clock, 0, &hint), -(INT64_C(1) << 60));
    clock_release(&clock);
}

Test(clock, bends_as_it_is_told_and_never_backwards)
{
    struct clock clock = {0};
    struct error err;
    double ns[SKEW_KNOTS];
    size_t hint = 0;
    for (int i = 0; i <= 10; i++)
        clock_add(&clock, &(struct trace_sync){(uint64_t)i * 1000000, i * 1000000, 0});
    cr_assert_eq(clock_settle(&clock, CLOCK_SOURCE_TSC, 0, &err), 0);
    for (int i = 0; i < SKEW_KNOTS; i++) /* up by 1000 ns to the middle, and back */
        ns[i] = i <= SKEW_STEPS / 2 ? i * 1000.0 / (SKEW_STEPS / 2)
                                    : (SKEW_STEPS - i) * 1000.0 / (SKEW_STEPS / 2);
    cr_assert_eq(clock_bend(&clock, ns, 0, 10e6), 0);
    cr_assert_eq(clock_settle(&clock, CLOCK_SOURCE_TSC, 0, &err), 0);
    cr_expect_eq(clock_ns(&clock, 0, &hint), 0);
    cr_expect_leq(llabs(clock_ns(&clock, 2500000, &hint) - 2500500), 2);
    cr_expect_leq(llabs(clock_ns(&clock, 5000000, &hint) - 5001000), 2);
    cr_expect_leq(llabs(clock_ns(&clock, 7500000, &hint) - 7500500), 2);
    for (int i = 0; i < SKEW_KNOTS; i++) /* what no clock does */
        ns[i] = i % 2 ? 1e19 : -1e19;
    cr_assert_eq(clock_bend(&clock, ns, 0, 10e6), 0);
    cr_assert_eq(clock_settle(&clock, CLOCK_SOURCE_TSC, 0, &err), 0);
    int64_t before = 0;
    for (uint64_t ticks = 0; ticks <= 10000000; ticks += 10000) {
        int64_t now = clock_ns(&clock, ticks, &hint);
        cr_assert_geq(now, before);
        before = now;
    }
    clock_release(&clock);
}

Test(clock, one_point_is_enough_only_if_ticks_are_nanoseconds)
{
    const struct trace_sync point = {100, 800, 0};
    struct error err = {""};
    size_t hint = 0;
    struct clock clock = make_clock(&point, 1);
    cr_assert_eq(clock_settle(&clock, CLOCK_SOURCE_MONOTONIC, 3, &err), 0, "%s", err.text);
    cr_expect_eq(clock_ns(&clock, 102, &hint), 816);
    clock_release(&clock);
    clock = make_clock(&point, 1);
    cr_expect_eq(clock_settle(&clock, CLOCK_SOURCE_TSC, 0, &err), -1);
    clock_release(&clock);
    cr_expect_eq(clock_settle(&clock, CLOCK_SOURCE_MONOTONIC, 0, &err), -1);
}

/* A clock of a host whose monotonic clock is ahead by shift. */
static struct clock host_clock(int64_t shift, int64_t noise)
{
    const struct trace_sync points[] = {
        {0, 100 + shift, 5100}, {1000, 1100 + shift, 6100 + noise}, {2000, 2100 + shift, 7100}};
    struct clock clock = make_clock(points, 3);
    cr_assert_eq(clock_settle(&clock, CLOCK_SOURCE_TSC, 0, NULL), 0);
    return clock;
}

Test(hosts, clocks_a_thousand_seconds_apart_meet)
{
    struct hosts hosts = {0};
    struct clock first = host_clock(0, 0), second = host_clock(1000000000000, 999);
    int a = hosts_add(&hosts, "a", &first), b = hosts_add(&hosts, "b", &second);
    int c = hosts_add(&hosts, "a", &first);
    cr_assert_geq(a, 0);
    cr_expect_eq(a, c);
    cr_expect_neq(a, b);
    hosts_settle(&hosts);
    cr_expect_eq(hosts_offset(&hosts, a), 0);
    cr_expect_eq(hosts_offset(&hosts, b), -1000000000000);
    cr_expect_eq(hosts.reference_ns, 5000);
    hosts_release(&hosts);
    clock_release(&first);
    clock_release(&second);
}

Test(hosts, wild_numbers_do_not_overflow)
{
    struct hosts hosts = {0};
    const struct trace_sync low = {0, INT64_MAX / 8, INT64_MIN}, high = {0, 0, INT64_MAX};
    struct clock first = make_clock(&low, 1), second = make_clock(&high, 1);
    int a = hosts_add(&hosts, "a", &first), b = hosts_add(&hosts, "b", &second);
    hosts_settle(&hosts);
    cr_expect_leq(hosts_offset(&hosts, a), INT64_C(1) << 60);
    cr_expect_leq(hosts_offset(&hosts, b), INT64_C(1) << 60);
    cr_expect_geq(hosts_offset(&hosts, b), -(INT64_C(1) << 60));
    hosts_release(&hosts);
    clock_release(&first);
    clock_release(&second);
}
