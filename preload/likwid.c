/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the counters of this rank go that LIKWID's markers read. */
#define _GNU_SOURCE
#include "preload/likwid.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/identity.h"
#include "preload/likwid_regions.h"
#include "preload/likwid_snapshot.h"
#include "schema/likwid_record.h"
#include "schema/options.h"
#include "schema/size_limit.h"

static char markers[PATH_MAX]; /* where they go; "": nothing is counted */

/* Behind what there is; each tab becomes the end of a line. Returns -1 if not all of it could be
 * written. */
static int write_record(int fd, const char *record)
{
    char part[1024];
    off_t have = lseek(fd, 0, SEEK_END);
    if (have < 0 || size_limit_error((uint64_t)have + strlen(record)) != 0)
        return -1;
    while (*record) {
        size_t length = 0;
        while (record[length] && length < sizeof part) {
            part[length] = record[length] == '\t' ? '\n' : record[length];
            length++;
        }
        ssize_t written = write(fd, part, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return -1;
        record += written;
    }
    return 0;
}

void likwid_attach(int world, const char *path, uint32_t rank, const char *record)
{
    char name[32], reason[LIKWID_COUNT_REASON];
    char instead[sizeof reason + 64];
    const char *now = getenv("LIKWID_FILEPATH");
    if (!likwid_regions_await(reason)) {
        snprintf(instead, sizeof instead,
                 LIKWID_RECORD_FIRST "\t" LIKWID_RECORD_REASON "=%s\t", reason);
        record = instead;
    }
    snprintf(name, sizeof name, "rank-%06u" LIKWID_RECORD_SUFFIX, rank);
    int fd = openat(world, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    int status = fd < 0 ? -1 : write_record(fd, record);
    if (fd >= 0 && close(fd) < 0)
        status = -1;
    int length = snprintf(markers, sizeof markers, "%s/rank-%06u" LIKWID_MARKER_SUFFIX, path, rank);
    if (status < 0 && fd >= 0)
        unlinkat(world, name, 0);
    bool is_named = status == 0 && length > 0 && (size_t)length < sizeof markers;
    if (!is_named)
        *markers = '\0';
    /* Another value is not ours to change. liblikwid reads it when it closes its markers. */
    if (is_named && now && strcmp(now, LIKWID_RECORD_NOWHERE) == 0)
        setenv("LIKWID_FILEPATH", markers, 1);
}

/* The record, which lies beside the markers, gets a line more. */
static void add_line(const char *key, const char *value)
{
    char name[sizeof markers + sizeof LIKWID_RECORD_SUFFIX];
    size_t length = strlen(markers) - strlen(LIKWID_MARKER_SUFFIX);
    snprintf(name, sizeof name, "%.*s" LIKWID_RECORD_SUFFIX, (int)length, markers);
    int fd = open(name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    snprintf(name, sizeof name, "%s=%s\t", key, value);
    write_record(fd, name);
    close(fd);
}

static void note_loss(const char *reason)
{
    add_line(LIKWID_RECORD_REASON, reason);
}

void likwid_begin(uint64_t ticks, uint64_t second, void *(*take)(const struct trace_area *area))
{
    size_t length;
    if (!*markers)
        return;
    likwid_snapshot_use(take);
    if (likwid_regions_begin(markers, options_value(identity_what(), "likwid-mpi", &length), ticks,
                             second, note_loss))
        add_line(LIKWID_RECORD_OWN, LIKWID_COUNT_APP);
}
