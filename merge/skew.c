/* SPDX-License-Identifier: BSD-3-Clause */
/* How far one clock is ahead of another, from bounds on it that hold at some times. */
#include "merge/skew.h"

#include <math.h>
#include <string.h>

enum {
    BOUNDS_LEAST = 8, /* of either side, for a line of their own */
    TRIALS = 100,     /* halvings of the range of slopes are fewer than this */
};

/* Two lines take the place of one if the room between the bounds grows by half, and by more than
 * reading a clock may be off. */
static const double gain_least = 1.5, gain_least_ns = 1000;

/* Bounds of a piece of the run: those from first on, before last. */
struct piece {
    const struct skew_bound *bounds;
    size_t first, last;
};

struct line {
    double ns, slope; /* at time 0 */
    double margin;    /* to the nearest bound; negative: it breaks one */
};

/* --- one line --------------------------------------------------------------------------------- */

/* The highest of the lower bounds, or the negative of the lowest upper one, seen along a slope. */
static double extreme(const struct piece *piece, double slope, double sign)
{
    double most = -INFINITY;
    for (size_t i = piece->first; i < piece->last; i++) {
        double ns = sign * (piece->bounds[i].ns - slope * piece->bounds[i].time);
        most = ns > most ? ns : most;
    }
    return most;
}

static struct line line_of_slope(const struct piece *lower, const struct piece *upper, double slope)
{
    double low = extreme(lower, slope, 1), high = -extreme(upper, slope, -1);
    return (struct line){.ns = low + (high - low) / 2, .slope = slope, .margin = (high - low) / 2};
}

/* The line with the widest margin: as a function of the slope it has one maximum, for it is the
 * difference between a minimum and a maximum of linear functions. */
static struct line widest_line(const struct piece *lower, const struct piece *upper,
                               double slope_max)
{
    double low = -slope_max, high = slope_max;
    for (int i = 0; i < TRIALS && high - low > 1; i++) { /* 1 ns over the run */
        double third = (high - low) / 3;
        if (line_of_slope(lower, upper, low + third).margin <
            line_of_slope(lower, upper, high - third).margin)
            low += third;
        else
            high -= third;
    }
    return line_of_slope(lower, upper, low + (high - low) / 2);
}

/* --- pieces ----------------------------------------------------------------------------------- */

/* Lines of pieces of the run, each from one knot to another. */
struct lines {
    struct line line[SKEW_STEPS];
    int last[SKEW_STEPS]; /* the knot at which it ends */
    int count;
    double slope_max;
};

/* Where bounds from this time on begin. */
static size_t split(const struct piece *piece, double time)
{
    size_t i = piece->first;
    while (i < piece->last && piece->bounds[i].time < time)
        i++;
    return i;
}

static bool is_enough(const struct piece *lower, const struct piece *upper)
{
    return lower->last - lower->first >= BOUNDS_LEAST && upper->last - upper->first >= BOUNDS_LEAST;
}

/* Adds the lines for a piece from knot to knot, for which one line is known. */
static void add_lines(struct lines *lines, const struct piece *lower, const struct piece *upper,
                      int first, int last, const struct line *whole)
{
    int middle = first + (last - first) / 2;
    double time = (double)middle / SKEW_STEPS;
    size_t low = split(lower, time), high = split(upper, time);
    const struct piece lower_half[] = {{lower->bounds, lower->first, low},
                                       {lower->bounds, low, lower->last}};
    const struct piece upper_half[] = {{upper->bounds, upper->first, high},
                                       {upper->bounds, high, upper->last}};
    bool is_divided = middle > first && is_enough(&lower_half[0], &upper_half[0]) &&
                      is_enough(&lower_half[1], &upper_half[1]);
    struct line half[2];
    for (int i = 0; is_divided && i < 2; i++)
        half[i] = widest_line(&lower_half[i], &upper_half[i], lines->slope_max);
    if (is_divided) {
        double margin = fmin(half[0].margin, half[1].margin);
        is_divided = whole->margin < 0 || (margin > gain_least * whole->margin &&
                                           margin > whole->margin + gain_least_ns);
    }
    if (!is_divided) {
        lines->line[lines->count] = *whole;
        lines->last[lines->count++] = last;
        return;
    }
    add_lines(lines, &lower_half[0], &upper_half[0], first, middle, &half[0]);
    add_lines(lines, &lower_half[1], &upper_half[1], middle, last, &half[1]);
}

/* The value where two lines meet is that in the middle between them. */
static void join(const struct lines *lines, struct skew *skew)
{
    double knots[SKEW_STEPS + 1];
    int first = 0;
    for (int i = 0; i <= lines->count; i++) {
        const struct line *before = &lines->line[i > 0 ? i - 1 : 0];
        const struct line *behind = &lines->line[i < lines->count ? i : i - 1];
        double time = (double)(i > 0 ? lines->last[i - 1] : 0) / SKEW_STEPS;
        knots[i] = (before->ns + before->slope * time + behind->ns + behind->slope * time) / 2;
    }
    for (int i = 0; i < lines->count; i++) {
        int last = lines->last[i];
        for (int knot = first; knot <= last; knot++)
            skew->ns[knot] = knots[i] + (knots[i + 1] - knots[i]) * (knot - first) / (last - first);
        first = last;
    }
}

bool skew_fit(struct skew *skew, const struct skew_bounds *bounds, double drift_max)
{
    const struct piece lower = {bounds->lower, 0, bounds->lower_count};
    const struct piece upper = {bounds->upper, 0, bounds->upper_count};
    struct lines lines = {.count = 0, .slope_max = drift_max};
    skew->half_width_ns = INFINITY;
    if (lower.last == 0 || upper.last == 0) {
        double low = fmax(extreme(&lower, 0, 1), 0), high = fmin(-extreme(&upper, 0, -1), 0);
        for (int i = 0; i < SKEW_KNOTS; i++)
            skew->ns[i] = low + high; /* one of them is 0 */
        return false;
    }
    struct line whole = widest_line(&lower, &upper, drift_max);
    add_lines(&lines, &lower, &upper, 0, SKEW_STEPS, &whole);
    join(&lines, skew);
    for (int i = 0; i < lines.count; i++)
        skew->half_width_ns = fmin(skew->half_width_ns, fabs(lines.line[i].margin));
    return true;
}
