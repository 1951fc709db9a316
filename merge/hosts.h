/* SPDX-License-Identifier: BSD-3-Clause */
/* One offset per host that puts its CLOCK_MONOTONIC on a timeline all hosts share. */
#ifndef SCOPE_HOSTS_H
#define SCOPE_HOSTS_H

#include <stddef.h>
#include <stdint.h>

#include "merge/clock.h"

/* Zero-initialise; add the settled clock of every rank; settle; ask. */
struct hosts {
    struct host {
        char *key;
        int64_t *differences; /* realtime - monotonic of each sync point, ns */
        size_t count, room;
        int64_t offset_ns;
    } * hosts;
    size_t count, room;
    int64_t
        reference_ns; /* realtime - monotonic of the first host, whose clock the others follow */
};

/* Adds the sync points of a rank on the host called key (trace_header.host_key: who shares it
 * shares a CLOCK_MONOTONIC). Returns the host's number, or -1 if memory is out. */
int hosts_add(struct hosts *hosts, const char *key, const struct clock *clock);

/* Finds the offsets: per host the median of the differences, so that single sync points that were
 * interrupted between two clocks, or lie behind a step of the realtime clock, do not count. All
 * ranks of a host share it, so their order among each other is that of CLOCK_MONOTONIC. */
void hosts_settle(struct hosts *hosts);

/* What to add to monotonic ns of this host to get those of the first host. */
int64_t hosts_offset(const struct hosts *hosts, int host);

void hosts_release(struct hosts *hosts);

#endif
