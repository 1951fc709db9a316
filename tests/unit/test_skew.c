/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks are put where messages in both directions leave them room, and in an order that holds. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "merge/host_pairs.h"
#include "merge/skew.h"

enum { BOUNDS = 400 };
static const double drift_max = 1e6;

/* Evenly spread messages, the fastest of which take delay_ns, the slowest eleven times as long. */
static void make_bounds(struct skew_bound *bounds, double (*truth)(double time), double sign,
                        double delay_ns)
{
    unsigned seed = sign > 0 ? 1 : 2;
    for (int i = 0; i < BOUNDS; i++) {
        double time = (i + (sign > 0 ? 0.2 : 0.7)) / BOUNDS;
        seed = seed * 1103515245u + 12345u;
        double slow = 1 + (seed >> 16) % 1000 / 100.0 * ((seed >> 8) % 4 > 0);
        bounds[i] = (struct skew_bound){time, truth(time) - sign * delay_ns * slow};
    }
}

static double fit_error(double (*truth)(double time), double delay_ns, struct skew *skew)
{
    static struct skew_bound lower[BOUNDS], upper[BOUNDS];
    make_bounds(lower, truth, 1, delay_ns);
    make_bounds(upper, truth, -1, delay_ns);
    const struct skew_bounds bounds = {lower, upper, BOUNDS, BOUNDS};
    cr_assert(skew_fit(skew, &bounds, drift_max));
    double worst = 0;
    for (int i = 0; i <= 1000; i++)
        worst = fmax(worst, fabs(skew_at(skew->ns, i / 1000.0) - truth(i / 1000.0)));
    return worst;
}

static double constant(double time)
{
    (void)time;
    return 5e6;
}

static double drifting(double time)
{
    return -3e6 + 3e5 * time;
}

static double turning(double time)
{
    return time < 0.5 ? 4e5 * time : 4e5 - 4e5 * time;
}

Test(skew, an_offset_is_found_within_the_fastest_message)
{
    struct skew skew;
    cr_expect_lt(fit_error(constant, 10000, &skew), 10000);
    cr_expect_float_eq(skew.half_width_ns, 10000, 2000);
}

Test(skew, a_drift_is_found)
{
    struct skew skew;
    cr_expect_lt(fit_error(drifting, 10000, &skew), 10000);
}

Test(skew, a_drift_that_changes_takes_several_lines)
{
    struct skew skew;
    cr_expect_lt(fit_error(turning, 10000, &skew), 20000);
}

Test(skew, one_side_alone_moves_no_further_than_it_asks_for)
{
    struct skew skew;
    const struct skew_bound low = {0.3, 700}, slack = {0.3, -700};
    cr_expect_not(skew_fit(&skew, &(struct skew_bounds){.lower = &low, .lower_count = 1}, 0));
    cr_expect_eq(skew.ns[0], 700);
    cr_expect_eq(skew.ns[SKEW_STEPS], 700);
    cr_expect(isinf(skew.half_width_ns));
    cr_expect_not(skew_fit(&skew, &(struct skew_bounds){.lower = &slack, .lower_count = 1}, 0));
    cr_expect_eq(skew.ns[0], 0);
    cr_expect_not(skew_fit(&skew, &(struct skew_bounds){.upper = &slack, .upper_count = 1}, 0));
    cr_expect_eq(skew.ns[0], -700);
    cr_expect_not(skew_fit(&skew, &(struct skew_bounds){0}, 0));
    cr_expect_eq(skew.ns[0], 0);
}

Test(skew, bounds_that_contradict_each_other_still_give_numbers)
{
    struct skew skew;
    const struct skew_bound low[] = {{0.1, 5000}, {0.9, 5000}}, high[] = {{0.1, 1000}, {0.9, 1000}};
    cr_assert(skew_fit(&skew, &(struct skew_bounds){low, high, 2, 2}, drift_max));
    for (int i = 0; i < SKEW_KNOTS; i++)
        cr_expect(skew.ns[i] >= 1000 && skew.ns[i] <= 5000);
}

/* --- several hosts ---------------------------------------------------------------------------- */

enum { HOSTS = 5, MESSAGES = 2000 };

/* By how much a host's clock is ahead of the truth. */
static double ahead(int host, double time)
{
    return host * 1e6 + host * host * 2e4 * time;
}

/* Messages in a ring in both directions; a host's clock shows what is ahead. */
static void exchange(struct host_pairs *pairs, int ways)
{
    for (int i = 0; i < MESSAGES; i++) {
        double time = (double)i / MESSAGES;
        int from = i % HOSTS, to = (from + (ways > 1 && i / HOSTS % 2 ? HOSTS - 1 : 1)) % HOSTS;
        double sent = 1e9 * time, received = sent + 8000 + 1000 * (i % 7);
        cr_assert_eq(host_pairs_note(pairs, from, (int64_t)(sent + ahead(from, time)), to,
                                     (int64_t)(received + ahead(to, time)), time),
                     0);
    }
}

Test(host_pairs, hosts_are_found_along_a_ring)
{
    struct host_pairs pairs = {0};
    double ns[HOSTS][SKEW_KNOTS] = {{0}}, half_width[HOSTS];
    exchange(&pairs, 2);
    cr_expect_eq(pairs.count, HOSTS);
    cr_assert_eq(host_pairs_align(&pairs, HOSTS, drift_max, ns, half_width), 0);
    for (int host = 0; host < HOSTS; host++) {
        for (int i = 0; i <= 100; i++) {
            double error = skew_at(ns[host], i / 100.0) + ahead(host, i / 100.0);
            cr_expect(fabs(error) < 12000, "host %d at %d %%: %g ns", host, i, error);
        }
        cr_expect(host == 0 ? half_width[host] == 0
                            : half_width[host] > 3000 && half_width[host] < 30000,
                  "host %d: %g", host, half_width[host]);
    }
    host_pairs_release(&pairs);
}

Test(host_pairs, what_goes_one_way_only_is_put_in_order)
{
    struct host_pairs pairs = {0};
    double ns[HOSTS][SKEW_KNOTS] = {{0}}, half_width[HOSTS];
    for (int i = 0; i < 100; i++) /* received half a millisecond before it was sent */
        cr_assert_eq(host_pairs_note(&pairs, 1, 1000000, 0, 500000, i / 100.0), 0);
    cr_assert_eq(host_pairs_align(&pairs, HOSTS, drift_max, ns, half_width), 0);
    cr_expect_leq(ns[1][SKEW_STEPS / 2], -500000);
    cr_expect_geq(ns[1][SKEW_STEPS / 2], -501000);
    cr_expect(isinf(half_width[1]) && isinf(half_width[4]));
    cr_expect_eq(ns[4][0], 0);
    host_pairs_release(&pairs);
}

Test(host_pairs, too_many_pairs_are_not_noted)
{
    struct host_pairs pairs = {0};
    for (int i = 1; i < 6000; i++)
        cr_assert_eq(host_pairs_note(&pairs, 0, 0, i, 1, 0.5), 0);
    cr_expect_eq(pairs.count, 4096);
    host_pairs_release(&pairs);
}
