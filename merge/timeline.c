/* SPDX-License-Identifier: BSD-3-Clause */
/* The one timeline on which all ranks of a world are. */
#include "merge/timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/duration.h"

static const char *const words[] = {
    [TIMELINE_MESSAGES] = "messages",
    [TIMELINE_REALTIME] = "realtime",
    [TIMELINE_NONE] = "none",
};

const char *timeline_clock_word(enum timeline_clock clock)
{
    return words[clock];
}

bool timeline_clock_read(const char *word, enum timeline_clock *clock)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(word, words[i]) == 0) {
            *clock = (enum timeline_clock)i;
            return true;
        }
    }
    return false;
}

static int no_memory(struct error *err)
{
    return error_set(err, "out of memory");
}

static int find_hosts(struct timeline *timeline, struct rank *ranks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct rank *rank = &ranks[i];
        if (!rank_is_usable(rank))
            continue;
        rank->host = hosts_add(&timeline->hosts, rank->header.host_key, &rank->clock);
        if (rank->host < 0)
            return -1;
    }
    hosts_settle(&timeline->hosts);
    return 0;
}

/* Makes the time of every host begin where that of the first one does. */
static void part_hosts(struct hosts *hosts, const struct rank *ranks, size_t count)
{
    for (size_t i = 0; i < hosts->count; i++)
        hosts->hosts[i].offset_ns = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        size_t hint = 0;
        if (!rank_is_usable(&ranks[i]))
            continue;
        int64_t *offset_ns = &hosts->hosts[ranks[i].host].offset_ns;
        int64_t start_ns = clock_ns(&ranks[i].clock, ranks[i].first_ticks, &hint);
        *offset_ns = -start_ns > *offset_ns ? -start_ns : *offset_ns;
    }
    hosts->reference_ns = hosts->hosts[0].offset_ns;
}

/* The first thing that is known of any rank is at 0. realtime_ns: CLOCK_REALTIME less
 * CLOCK_MONOTONIC of the first host. */
static void find_ends(struct timeline *timeline, struct rank *ranks, size_t count,
                      int64_t realtime_ns)
{
    int64_t zero = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        size_t hint = 0;
        if (!rank_is_usable(&ranks[i]))
            continue;
        int64_t first = rank_ns(&ranks[i], ranks[i].first_ticks, &hint);
        int64_t last = rank_ns(&ranks[i], ranks[i].last_ticks, &hint);
        zero = first < zero ? first : zero;
        end = last > end ? last : end;
    }
    for (size_t i = 0; i < count; i++)
        ranks[i].offset_ns -= zero;
    timeline->zero_ns = zero;
    timeline->end_ns = end - zero;
    if (__builtin_add_overflow(zero, realtime_ns, &timeline->epoch_ns))
        timeline->epoch_ns = 0;
}

int timeline_settle(struct timeline *timeline, struct rank *ranks, size_t count,
                    const struct communicators *communicators, struct error *err)
{
    struct hosts *hosts = &timeline->hosts;
    if (find_hosts(timeline, ranks, count) < 0)
        return no_memory(err);
    int64_t realtime_ns = hosts->reference_ns;
    if (timeline->clock == TIMELINE_NONE)
        part_hosts(hosts, ranks, count);
    for (size_t i = 0; i < count; i++) {
        if (rank_is_usable(&ranks[i]))
            ranks[i].offset_ns = hosts_offset(hosts, ranks[i].host);
    }
    if (timeline->clock == TIMELINE_MESSAGES && hosts->count > 1 &&
        alignment_find(&timeline->alignment, ranks, count, hosts->count, communicators) < 0)
        return no_memory(err);
    find_ends(timeline, ranks, count, realtime_ns);
    return 0;
}

int64_t timeline_offset(const struct timeline *timeline, const struct rank *rank,
                        int64_t monotonic_ns)
{
    int64_t offset_ns = hosts_offset(&timeline->hosts, rank->host);
    const struct alignment *alignment = &timeline->alignment;
    if (alignment->hosts)
        offset_ns += llround(
            alignment_at(alignment, (size_t)rank->host, (double)monotonic_ns + (double)offset_ns));
    return offset_ns - timeline->zero_ns;
}

/* --- what is told of it ----------------------------------------------------------------------- */

static int write_hosts(const struct timeline *timeline, const struct rank *ranks, size_t count,
                       struct profile_writer *writer, struct error *err)
{
    const struct alignment *alignment = &timeline->alignment;
    struct profile_host *rows = calloc(timeline->hosts.count, sizeof(*rows));
    if (!rows)
        return no_memory(err);
    for (size_t i = 0; i < timeline->hosts.count; i++) {
        rows[i] = (struct profile_host){.offset_ns = hosts_offset(&timeline->hosts, (int)i),
                                        .half_width_ns = i == 0 ? 0 : -1};
        if (!alignment->hosts)
            continue;
        const struct alignment_host *host = &alignment->hosts[i];
        rows[i].first_correction_ns = llround(host->ns[0]);
        rows[i].last_correction_ns = llround(host->ns[SKEW_STEPS]);
        rows[i].messages = host->messages;
        if (isfinite(host->half_width_ns))
            rows[i].half_width_ns = llround(host->half_width_ns);
    }
    for (size_t i = 0; i < count; i++) {
        if (!rank_is_usable(&ranks[i]))
            continue;
        rows[ranks[i].host].name = ranks[i].header.host;
        rows[ranks[i].host].ranks++;
    }
    int status = profile_writer_hosts(writer, rows, timeline->hosts.count, err);
    free(rows);
    return status;
}

static int64_t largest_correction(const struct alignment *alignment)
{
    double largest = 0;
    for (size_t i = 0; i < alignment->host_count; i++)
        largest = fmax(largest, alignment_largest_ns(alignment, i));
    return llround(largest);
}

void timeline_text(const struct timeline *timeline, char text[static TIMELINE_TEXT])
{
    const struct alignment *alignment = &timeline->alignment;
    char largest[DURATION_SIZE];
    text[0] = '\0';
    if (timeline->hosts.count < 2)
        return;
    int length = snprintf(text, TIMELINE_TEXT, "clocks of %zu hosts: ", timeline->hosts.count);
    text += length;
    size_t size = TIMELINE_TEXT - (size_t)length;
    if (timeline->clock == TIMELINE_NONE)
        snprintf(text, size, "each begins at 0");
    else if (alignment->messages + alignment->collectives == 0)
        snprintf(text, size, "as CLOCK_REALTIME has them%s",
                 alignment->hosts ? ", since no messages tell" : "");
    else
        snprintf(text, size,
                 "corrected by up to %s by %" PRIu64 " messages and %" PRIu64
                 " comparisons in collectives (%" PRIu64
                 " were over before they began, now %" PRIu64 ")",
                 duration_print(largest_correction(alignment), largest), alignment->messages,
                 alignment->collectives, alignment->violations_before, alignment->violations_after);
}

int timeline_write(const struct timeline *timeline, const struct rank *ranks, size_t count,
                   struct profile_writer *writer, struct error *err)
{
    const struct alignment *alignment = &timeline->alignment;
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"scope_profile_clock_messages", (int64_t)alignment->messages},
        {"scope_profile_clock_collectives", (int64_t)alignment->collectives},
        {"scope_profile_clock_violations_before", (int64_t)alignment->violations_before},
        {"scope_profile_clock_violations_after", (int64_t)alignment->violations_after},
        {"scope_profile_clock_largest_correction_ns", largest_correction(alignment)},
    };
    if (profile_writer_set_text(writer, "scope_profile_clock", timeline_clock_word(timeline->clock),
                                err) < 0)
        return -1;
    for (size_t i = 0; alignment->hosts && i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (profile_writer_set_number(writer, numbers[i].name, numbers[i].value, err) < 0)
            return -1;
    }
    return write_hosts(timeline, ranks, count, writer, err);
}

void timeline_release(struct timeline *timeline)
{
    hosts_release(&timeline->hosts);
    alignment_release(&timeline->alignment);
}
