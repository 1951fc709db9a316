/* SPDX-License-Identifier: BSD-3-Clause */
/* One offset per host that puts its CLOCK_MONOTONIC on a timeline all hosts share. */
#include "merge/hosts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Realtime lies around 2^61 ns; clocks of two hosts are taken to differ by 36 years at most. Keeps
 * sums of a few times from overflowing. */
#define REALTIME_LIMIT (INT64_C(1) << 62)
#define OFFSET_LIMIT (INT64_C(1) << 60)

static struct host *find_host(struct hosts *hosts, const char *key)
{
    for (size_t i = hosts->count; i > 0; i--) { /* ranks of a host follow one another */
        if (strcmp(hosts->hosts[i - 1].key, key) == 0)
            return &hosts->hosts[i - 1];
    }
    if (hosts->count == hosts->room) {
        size_t room = hosts->room ? 2 * hosts->room : 8;
        struct host *more = realloc(hosts->hosts, room * sizeof(*more));
        if (!more)
            return NULL;
        hosts->hosts = more;
        hosts->room = room;
    }
    char *copy = strdup(key);
    if (!copy || hosts->count == INT_MAX) {
        free(copy);
        return NULL;
    }
    struct host *host = &hosts->hosts[hosts->count++];
    *host = (struct host){.key = copy};
    return host;
}

static int64_t limit(int64_t value, int64_t most)
{
    return value > most ? most : value < -most ? -most : value;
}

static int64_t difference(const struct trace_sync *point)
{
    int64_t result;
    if (__builtin_sub_overflow(point->realtime_ns, point->monotonic_ns, &result))
        return 0;
    return limit(result, REALTIME_LIMIT);
}

int hosts_add(struct hosts *hosts, const char *key, const struct clock *clock)
{
    struct host *host = find_host(hosts, key);
    if (!host)
        return -1;
    if (clock->count > host->room - host->count) {
        size_t room = 2 * host->room + clock->count;
        int64_t *more = realloc(host->differences, room * sizeof(*more));
        if (!more)
            return -1;
        host->differences = more;
        host->room = room;
    }
    for (size_t i = 0; i < clock->count; i++)
        host->differences[host->count++] = difference(&clock->points[i]);
    return (int)(host - hosts->hosts);
}

static int compare_numbers(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

void hosts_settle(struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++) {
        struct host *host = &hosts->hosts[i];
        if (host->count > 1)
            qsort(host->differences, host->count, sizeof(*host->differences), compare_numbers);
        host->offset_ns = host->count ? host->differences[host->count / 2] : 0;
        free(host->differences);
        host->differences = NULL;
        host->count = host->room = 0;
        if (i == 0)
            hosts->reference_ns = host->offset_ns;
    }
}

int64_t hosts_offset(const struct hosts *hosts, int host)
{
    int64_t offset_ns;
    if (__builtin_sub_overflow(hosts->hosts[host].offset_ns, hosts->reference_ns, &offset_ns))
        return 0;
    return limit(offset_ns, OFFSET_LIMIT);
}

void hosts_release(struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++) {
        free(hosts->hosts[i].key);
        free(hosts->hosts[i].differences);
    }
    free(hosts->hosts);
    *hosts = (struct hosts){0};
}
