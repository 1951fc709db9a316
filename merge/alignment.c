/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of a run's hosts, set so that no message is received before it is sent. */
#include "merge/alignment.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "merge/host_pairs.h"
#include "merge/traffic.h"

enum { ROUNDS = 2 }; /* what was tightest is told better once the clocks do not drift */

static const double drift_rate_max = 1e-3;    /* no clock that is slewed drifts faster */
static const double correction_max_ns = 1e18; /* 32 years; sums of a few fit an int64_t */

/* Two things of which the first was not after the second. */
struct order {
    const struct rank *before, *behind;
    uint64_t start, end; /* ticks: of the first's start, of the second's end */
    bool is_message;
};

struct comparison {
    struct alignment *alignment;
    struct rank *ranks;
    size_t rank_count;
    const struct communicators *communicators;
    struct host_pairs pairs;
    uint64_t violations;
    int (*take)(struct comparison *comparison, const struct order *order);
};

/* --- channels in terms that all ranks share --------------------------------------------------- */

static bool is_intracommunicator(const struct comparison *comparison, uint32_t rank, int64_t id)
{
    const struct communicator *c = communicators_find(comparison->communicators, rank, id);
    return c && c->kind == COMMUNICATOR_INTRA;
}

static void translate(const struct comparison *comparison, const struct rank *rank,
                      struct channel *channel)
{
    const struct communicators *communicators = comparison->communicators;
    uint32_t number = rank->header.rank;
    int64_t local = channel->communicator, id = communicators_id(communicators, number, local);
    bool has_peer = channel->peer >= 0;
    if (has_peer)
        channel->peer = communicators_world_rank(communicators, number, local, channel->peer);
    channel->communicator = id;
    if (id < 0 || id == COMMUNICATOR_SELF || (has_peer && channel->peer < 0) ||
        (channel->use >= CHANNEL_ALL && !is_intracommunicator(comparison, number, local)))
        channel->count = 0;
}

static void translate_all(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->rank_count; i++) {
        struct rank *rank = &comparison->ranks[i];
        for (size_t j = 0; rank->traffic && j < rank->traffic->channel_count; j++)
            translate(comparison, rank, &rank->traffic->channels[j]);
        if (rank->traffic)
            traffic_rekey(rank->traffic);
    }
}

static const struct rank *find_rank(const struct comparison *comparison, int64_t number)
{
    size_t low = 0, high = comparison->rank_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct rank *rank = &comparison->ranks[middle];
        int64_t at = rank_number(rank);
        if (at == number)
            return rank->traffic ? rank : NULL;
        if (at < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* --- messages --------------------------------------------------------------------------------- */

/* Every message of a channel of which both ends are kept. */
static int compare_channel(struct comparison *comparison, const struct rank *sender,
                           const struct channel *sends, const struct rank *receiver,
                           const struct channel *receives)
{
    unsigned shift = sends->shift > receives->shift ? sends->shift : receives->shift;
    uint64_t count = sends->count < receives->count ? sends->count : receives->count;
    for (uint64_t number = 0; number < count; number += UINT64_C(1) << shift) {
        const struct order order = {.before = sender,
                                    .start = sends->starts[number >> sends->shift],
                                    .behind = receiver,
                                    .end = receives->ends[number >> receives->shift],
                                    .is_message = true};
        if (comparison->take(comparison, &order) < 0)
            return -1;
    }
    return 0;
}

static int compare_messages_of(struct comparison *comparison, const struct rank *rank)
{
    const struct traffic *traffic = rank->traffic;
    for (size_t i = 0; traffic && i < traffic->channel_count; i++) {
        const struct channel *sends = &traffic->channels[i];
        if (sends->use != CHANNEL_SENDS || sends->count == 0)
            continue;
        const struct rank *receiver = find_rank(comparison, sends->peer);
        if (!receiver || receiver->host == rank->host)
            continue;
        size_t number = traffic_find(receiver->traffic, CHANNEL_RECEIVES, sends->communicator,
                                     rank->header.rank, sends->tag);
        if (number != SIZE_MAX && compare_channel(comparison, rank, sends, receiver,
                                                  &receiver->traffic->channels[number]) < 0)
            return -1;
    }
    return 0;
}

/* --- collectives ------------------------------------------------------------------------------ */

/* A rank's part in the collectives of one kind on one communicator. */
struct part {
    const struct rank *rank;
    const struct channel *channel;
};

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    const struct channel *x = a->channel, *y = b->channel;
    if (x->communicator != y->communicator)
        return x->communicator < y->communicator ? -1 : 1;
    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    int names = strcmp(x->operation, y->operation);
    if (names != 0)
        return names;
    if (a->rank->host != b->rank->host)
        return a->rank->host < b->rank->host ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static bool is_same_collective(const struct channel *x, const struct channel *y)
{
    return x->communicator == y->communicator && x->peer == y->peer &&
           strcmp(x->operation, y->operation) == 0;
}

/* Who of a host came last into a collective, and who first out of it. */
struct presence {
    const struct rank *last, *first;
    int64_t last_ns, first_ns;
    uint64_t start, end; /* ticks */
};

static void join(struct presence *presence, const struct part *part, uint64_t number)
{
    const struct channel *channel = part->channel;
    size_t place = (size_t)(number >> channel->shift), hint = 0;
    uint64_t start = channel->starts[place], end = channel->ends[place];
    int64_t start_ns = rank_ns(part->rank, start, &hint), end_ns = rank_ns(part->rank, end, &hint);
    if (!presence->last || start_ns > presence->last_ns) {
        presence->last = part->rank;
        presence->last_ns = start_ns;
        presence->start = start;
    }
    if (!presence->first || end_ns < presence->first_ns) {
        presence->first = part->rank;
        presence->first_ns = end_ns;
        presence->end = end;
    }
}

static int compare_hosts(struct comparison *comparison, const struct presence *before,
                         const struct presence *behind)
{
    const struct order order = {.before = before->last,
                                .start = before->start,
                                .behind = behind->first,
                                .end = behind->end};
    return comparison->take(comparison, &order);
}

static int compare_both(struct comparison *comparison, const struct presence *one,
                        const struct presence *other)
{
    return compare_hosts(comparison, one, other) < 0 ? -1 : compare_hosts(comparison, other, one);
}

/* One collective. Where all wait for all, each host is compared with the first one and with
 * its neighbour: pairs are few, and any two hosts are connected. */
static int compare_collective(struct comparison *comparison, const struct part *parts, size_t count,
                              const struct part *root, struct presence *hosts, uint64_t number)
{
    enum channel_use use = parts[0].channel->use;
    size_t host_count = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_new = i == 0 || parts[i].rank->host != parts[i - 1].rank->host;
        if (is_new)
            hosts[host_count++] = (struct presence){.last = NULL};
        join(&hosts[host_count - 1], &parts[i], number);
    }
    struct presence alone = {.last = NULL};
    if (root)
        join(&alone, root, number);
    int status = 0;
    for (size_t i = 0; status == 0 && i < host_count; i++) {
        const struct presence *at = &hosts[i];
        if (use == CHANNEL_ALL && i > 0)
            status = compare_both(comparison, at, &hosts[0]);
        if (use == CHANNEL_ALL && i > 1 && status == 0)
            status = compare_both(comparison, at, &hosts[i - 1]);
        if (use != CHANNEL_ALL && root && at->last->host != root->rank->host)
            status = use == CHANNEL_FROM_ROOT ? compare_hosts(comparison, &alone, at)
                                              : compare_hosts(comparison, at, &alone);
    }
    return status;
}

/* All collectives of one kind on one communicator. */
static int compare_group(struct comparison *comparison, const struct part *parts, size_t count,
                         struct presence *hosts)
{
    unsigned shift = 0;
    uint64_t most = UINT64_MAX;
    const struct part *root = NULL;
    if (count < 2 || parts[0].rank->host == parts[count - 1].rank->host)
        return 0; /* on one host: parts are in the order of hosts */
    for (size_t i = 0; i < count; i++) {
        const struct channel *channel = parts[i].channel;
        shift = channel->shift > shift ? channel->shift : shift;
        most = channel->count < most ? channel->count : most;
        if ((int64_t)parts[i].rank->header.rank == channel->peer)
            root = &parts[i];
    }
    for (uint64_t number = 0; number < most; number += UINT64_C(1) << shift) {
        if (compare_collective(comparison, parts, count, root, hosts, number) < 0)
            return -1;
    }
    return 0;
}

static int compare_collectives(struct comparison *comparison)
{
    size_t count = 0;
    for (size_t i = 0; i < comparison->rank_count; i++) {
        const struct traffic *traffic = comparison->ranks[i].traffic;
        count += traffic ? traffic->channel_count : 0;
    }
    struct part *parts = calloc(count + 1, sizeof(*parts));
    struct presence *hosts = calloc(comparison->alignment->host_count, sizeof(*hosts));
    int status = parts && hosts ? 0 : -1;
    count = 0;
    for (size_t i = 0; status == 0 && i < comparison->rank_count; i++) {
        const struct rank *rank = &comparison->ranks[i];
        for (size_t j = 0; rank->traffic && j < rank->traffic->channel_count; j++) {
            const struct channel *channel = &rank->traffic->channels[j];
            if (channel->use >= CHANNEL_ALL && channel->count > 0)
                parts[count++] = (struct part){rank, channel};
        }
    }
    if (status == 0)
        qsort(parts, count, sizeof(*parts), compare_parts);
    for (size_t i = 0, next; status == 0 && i < count; i = next) {
        for (next = i + 1;
             next < count && is_same_collective(parts[i].channel, parts[next].channel); next++)
            continue;
        status = compare_group(comparison, &parts[i], next - i, hosts);
    }
    free(parts);
    free(hosts);
    return status;
}

/* --- what is done with it --------------------------------------------------------------------- */

static int64_t start_of(const struct order *order)
{
    size_t hint = 0;
    return rank_ns(order->before, order->start, &hint);
}

static int64_t end_of(const struct order *order)
{
    size_t hint = 0;
    return rank_ns(order->behind, order->end, &hint);
}

static int note(struct comparison *comparison, const struct order *order)
{
    const struct alignment *alignment = comparison->alignment;
    int64_t start = start_of(order), end = end_of(order);
    double time = ((double)end - (double)alignment->begin_ns) / alignment->span_ns;
    comparison->violations += end < start;
    return host_pairs_note(&comparison->pairs, order->before->host, start, order->behind->host, end,
                           time);
}

/* The first time everything is counted, too. */
static int note_first(struct comparison *comparison, const struct order *order)
{
    struct alignment *alignment = comparison->alignment;
    if (order->is_message) {
        alignment->messages++;
        alignment->hosts[order->before->host].messages++;
        alignment->hosts[order->behind->host].messages++;
    } else {
        alignment->collectives++;
    }
    return note(comparison, order);
}

static int count(struct comparison *comparison, const struct order *order)
{
    comparison->violations += end_of(order) < start_of(order);
    return 0;
}

/* Collectives come first: they connect all hosts, should the pairs become too many. */
static int compare_all(struct comparison *comparison,
                       int (*take)(struct comparison *comparison, const struct order *order))
{
    comparison->take = take;
    comparison->violations = 0;
    if (compare_collectives(comparison) < 0)
        return -1;
    for (size_t i = 0; i < comparison->rank_count; i++) {
        if (compare_messages_of(comparison, &comparison->ranks[i]) < 0)
            return -1;
    }
    return 0;
}

static double limited(double ns)
{
    return fmin(fmax(ns, -correction_max_ns), correction_max_ns);
}

/* Adds corrections to the clock of a rank: what they are in the middle of the run to the offset,
 * the rest to the clock's points. */
static int move_clock(const struct alignment *alignment, struct rank *rank,
                      const double ns[SKEW_KNOTS])
{
    double rest[SKEW_KNOTS];
    int64_t middle = llround(limited(ns[SKEW_STEPS / 2]));
    for (int i = 0; i < SKEW_KNOTS; i++)
        rest[i] = ns[i] - (double)middle;
    struct error ignored; /* it was settled once, and no point goes */
    if (clock_bend(&rank->clock, rest, alignment->begin_ns - rank->offset_ns, alignment->span_ns) <
        0)
        return -1;
    (void)clock_settle(&rank->clock, rank->header.clock_source, rank->header.clock_shift, &ignored);
    rank->offset_ns += middle;
    return 0;
}

static int align_once(struct comparison *comparison)
{
    struct alignment *alignment = comparison->alignment;
    size_t count = alignment->host_count;
    double(*ns)[SKEW_KNOTS] = calloc(count, sizeof(*ns));
    double *half_widths = calloc(count, sizeof(*half_widths));
    int status = ns && half_widths
                     ? host_pairs_align(&comparison->pairs, count,
                                        drift_rate_max * alignment->span_ns, ns, half_widths)
                     : -1;
    for (size_t i = 0; status == 0 && i < count; i++) {
        struct alignment_host *host = &alignment->hosts[i];
        host->half_width_ns = half_widths[i];
        for (int j = 0; j < SKEW_KNOTS; j++)
            host->ns[j] = limited(host->ns[j] + ns[i][j]);
    }
    for (size_t i = 0; status == 0 && i < comparison->rank_count; i++) {
        struct rank *rank = &comparison->ranks[i];
        if (rank_is_usable(rank))
            status = move_clock(alignment, rank, ns[rank->host]);
    }
    free(ns);
    free(half_widths);
    return status;
}

/* The time from the first to the last that is known of any rank. */
static void find_span(struct comparison *comparison)
{
    int64_t begin = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < comparison->rank_count; i++) {
        const struct rank *rank = &comparison->ranks[i];
        size_t hint = 0;
        if (!rank_is_usable(rank))
            continue;
        int64_t first = rank_ns(rank, rank->first_ticks, &hint);
        int64_t last = rank_ns(rank, rank->last_ticks, &hint);
        begin = first < begin ? first : begin;
        end = last > end ? last : end;
    }
    comparison->alignment->begin_ns = begin;
    comparison->alignment->span_ns = end > begin ? (double)end - (double)begin : 1;
}

int alignment_find(struct alignment *alignment, struct rank *ranks, size_t rank_count,
                   size_t host_count, const struct communicators *communicators)
{
    struct comparison comparison = {.alignment = alignment,
                                    .ranks = ranks,
                                    .rank_count = rank_count,
                                    .communicators = communicators};
    int status = 0;
    alignment->hosts = calloc(host_count + 1, sizeof(*alignment->hosts));
    alignment->host_count = host_count;
    if (!alignment->hosts)
        return -1;
    find_span(&comparison);
    translate_all(&comparison);
    for (int round = 0; status == 0 && round < ROUNDS; round++) {
        status = compare_all(&comparison, round == 0 ? note_first : note);
        if (round == 0)
            alignment->violations_before = comparison.violations;
        if (status == 0)
            status = align_once(&comparison);
        host_pairs_release(&comparison.pairs);
    }
    if (status == 0)
        status = compare_all(&comparison, count);
    alignment->violations_after = comparison.violations;
    for (size_t i = 0; i < rank_count; i++)
        rank_forget_traffic(&ranks[i]);
    return status;
}

double alignment_at(const struct alignment *alignment, size_t host, double ns)
{
    return skew_at(alignment->hosts[host].ns,
                   (ns - (double)alignment->begin_ns) / alignment->span_ns);
}

double alignment_largest_ns(const struct alignment *alignment, size_t host)
{
    double largest = 0;
    for (int i = 0; i < SKEW_KNOTS; i++)
        largest = fmax(largest, fabs(alignment->hosts[host].ns[i]));
    return largest;
}

void alignment_release(struct alignment *alignment)
{
    free(alignment->hosts);
    *alignment = (struct alignment){0};
}
