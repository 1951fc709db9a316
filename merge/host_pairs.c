/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of the clocks of two hosts against one another, for all pairs that have met. */
#include "merge/host_pairs.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAIRS_MAX = 4096,
    PARTS = 1024, /* of the run */
    SLOTS = 4 * PAIRS_MAX,
    SWEEPS_MAX = 200,
};

static const double slack_ns = 10; /* what is in order stays so when times are rounded */

/* --- noting ----------------------------------------------------------------------------------- */

static struct skew_bound *make_bounds(double ns)
{
    struct skew_bound *bounds = calloc(PARTS, sizeof(*bounds));
    for (size_t i = 0; bounds && i < PARTS; i++)
        bounds[i].ns = ns;
    return bounds;
}

static uint32_t *find_slot(const struct host_pairs *pairs, int first, int second)
{
    size_t i = ((size_t)first * 0x9e3779b1u + (size_t)second * 0x85ebca6bu) % SLOTS;
    while (pairs->slots[i] && (pairs->list[pairs->slots[i] - 1].first != first ||
                               pairs->list[pairs->slots[i] - 1].second != second))
        i = (i + 1) % SLOTS;
    return &pairs->slots[i];
}

/* The pair, which is made if it is new; *pair is NULL if there are too many. */
static int get_pair(struct host_pairs *pairs, int first, int second, struct host_pair **pair)
{
    *pair = NULL;
    if (!pairs->slots && !(pairs->slots = calloc(SLOTS, sizeof(*pairs->slots))))
        return -1;
    uint32_t *slot = find_slot(pairs, first, second);
    if (!*slot) {
        if (pairs->count == PAIRS_MAX)
            return 0;
        if (pairs->count == pairs->room) {
            size_t room = pairs->room ? 2 * pairs->room : 16;
            struct host_pair *list = realloc(pairs->list, room * sizeof(*list));
            if (!list)
                return -1;
            pairs->list = list;
            pairs->room = room;
        }
        struct host_pair *made = &pairs->list[pairs->count++];
        *made = (struct host_pair){.first = first,
                                   .second = second,
                                   .lower = make_bounds(-INFINITY),
                                   .upper = make_bounds(INFINITY)};
        if (!made->lower || !made->upper)
            return -1;
        *slot = (uint32_t)pairs->count;
    }
    *pair = &pairs->list[*slot - 1];
    return 0;
}

int host_pairs_note(struct host_pairs *pairs, int before, int64_t before_ns, int behind,
                    int64_t behind_ns, double time)
{
    struct host_pair *pair;
    bool is_forward = before < behind;
    if (get_pair(pairs, is_forward ? before : behind, is_forward ? behind : before, &pair) < 0)
        return -1;
    if (!pair)
        return 0;
    time = time < 0 ? 0 : time > 1 ? 1 : time;
    size_t part = (size_t)(time * (PARTS - 1));
    double ns = (double)before_ns - (double)behind_ns;
    if (is_forward && ns > pair->lower[part].ns)
        pair->lower[part] = (struct skew_bound){time, ns};
    if (!is_forward && -ns < pair->upper[part].ns)
        pair->upper[part] = (struct skew_bound){time, -ns};
    return 0;
}

void host_pairs_release(struct host_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        free(pairs->list[i].lower);
        free(pairs->list[i].upper);
    }
    free(pairs->list);
    free(pairs->slots);
    *pairs = (struct host_pairs){0};
}

/* --- from host to host ------------------------------------------------------------------------ */

static size_t pack(const struct skew_bound *bounds, struct skew_bound *packed)
{
    size_t count = 0;
    for (size_t i = 0; i < PARTS; i++) {
        if (isfinite(bounds[i].ns))
            packed[count++] = bounds[i];
    }
    return count;
}

static bool fit(const struct host_pair *pair, double drift_max, struct skew *skew)
{
    struct skew_bound lower[PARTS], upper[PARTS];
    const struct skew_bounds bounds = {.lower = lower,
                                       .upper = upper,
                                       .lower_count = pack(pair->lower, lower),
                                       .upper_count = pack(pair->upper, upper)};
    return skew_fit(skew, &bounds, drift_max);
}

/* The pair that leads from a host that is reached to one that is not, and knows it best, seen from
 * the first host; of those bounded from one side only, any. SIZE_MAX: none. */
static size_t best_pair(const struct host_pairs *pairs, const struct skew *skews,
                        const bool *is_reached, const double *half_width_ns)
{
    size_t best = SIZE_MAX;
    double best_ns = INFINITY;
    for (size_t i = 0; i < pairs->count; i++) {
        const struct host_pair *pair = &pairs->list[i];
        if (is_reached[pair->first] == is_reached[pair->second])
            continue;
        int from = is_reached[pair->first] ? pair->first : pair->second;
        double ns = half_width_ns[from] + skews[i].half_width_ns;
        if (best == SIZE_MAX || ns < best_ns) {
            best = i;
            best_ns = ns;
        }
    }
    return best;
}

/* Goes from the first host along the best known pairs. */
static void grow_tree(const struct host_pairs *pairs, const struct skew *skews, bool *is_reached,
                      double (*ns)[SKEW_KNOTS], double *half_width_ns)
{
    size_t next;
    is_reached[0] = true;
    half_width_ns[0] = 0;
    while ((next = best_pair(pairs, skews, is_reached, half_width_ns)) != SIZE_MAX) {
        const struct host_pair *pair = &pairs->list[next];
        bool is_forward = is_reached[pair->first];
        int from = is_forward ? pair->first : pair->second;
        int to = is_forward ? pair->second : pair->first;
        for (int i = 0; i < SKEW_KNOTS; i++)
            ns[to][i] += ns[from][i] + (is_forward ? 1 : -1) * skews[next].ns[i];
        half_width_ns[to] = half_width_ns[from] + skews[next].half_width_ns;
        is_reached[to] = true;
    }
}

/* --- what the tree left out of order ---------------------------------------------------------- */

/* Moves two hosts apart by excess at a time: with the knots on either side, by their share in it.
 */
static void move(double *first, double *second, double time, double excess, bool is_first_fixed)
{
    double place = time * SKEW_STEPS;
    int knot = place >= SKEW_STEPS ? SKEW_STEPS - 1 : (int)place;
    double share[2] = {1 - (place - knot), place - knot};
    double norm = share[0] * share[0] + share[1] * share[1];
    double part = is_first_fixed ? 1 : 0.5;
    for (int i = 0; i < 2; i++) {
        double by = excess * share[i] / norm;
        second[knot + i] += part * by;
        if (!is_first_fixed)
            first[knot + i] -= part * by;
    }
}

/* Puts the bounds of one side in order; true if some were not. sign: 1 lower, -1 upper bounds. */
static bool put_in_order(const struct host_pair *pair, const struct skew_bound *bounds, double sign,
                         double (*ns)[SKEW_KNOTS])
{
    double *first = ns[pair->first], *second = ns[pair->second];
    bool has_moved = false;
    for (size_t i = 0; i < PARTS; i++) {
        double time = bounds[i].time;
        double excess =
            sign * (bounds[i].ns - (skew_at(second, time) - skew_at(first, time))) + slack_ns;
        if (!isfinite(bounds[i].ns) || excess <= 0)
            continue;
        move(first, second, time, sign * excess, pair->first == 0);
        has_moved = true;
    }
    return has_moved;
}

static void relax(const struct host_pairs *pairs, double (*ns)[SKEW_KNOTS])
{
    bool has_moved = true;
    for (int sweep = 0; has_moved && sweep < SWEEPS_MAX; sweep++) {
        has_moved = false;
        for (size_t i = 0; i < pairs->count; i++) {
            const struct host_pair *pair = &pairs->list[i];
            has_moved |= put_in_order(pair, pair->lower, 1, ns);
            has_moved |= put_in_order(pair, pair->upper, -1, ns);
        }
    }
}

int host_pairs_align(const struct host_pairs *pairs, size_t host_count, double drift_max,
                     double (*ns)[SKEW_KNOTS], double *half_width_ns)
{
    struct skew *skews = calloc(pairs->count + 1, sizeof(*skews));
    bool *is_reached = calloc(host_count + 1, sizeof(*is_reached));
    double(*found)[SKEW_KNOTS] = calloc(host_count + 1, sizeof(*found));
    int status = skews && is_reached && found ? 0 : -1;
    for (size_t i = 0; i < host_count; i++)
        half_width_ns[i] = INFINITY;
    for (size_t i = 0; status == 0 && i < pairs->count; i++)
        fit(&pairs->list[i], drift_max, &skews[i]);
    if (status == 0) {
        grow_tree(pairs, skews, is_reached, found, half_width_ns);
        relax(pairs, found);
    }
    for (size_t i = 0; status == 0 && i < host_count; i++) {
        for (int j = 0; j < SKEW_KNOTS; j++)
            ns[i][j] += found[i][j];
    }
    free(skews);
    free(is_reached);
    free(found);
    return status;
}
