/* SPDX-License-Identifier: BSD-3-Clause */
/* Why Slurm ended the job of a run, if it did: the file "job-end" in its run directory. */
#define _GNU_SOURCE
#include "schema/job_end.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "schema/regular_file.h"

enum { LINE_SIZE = 128 };

static const char *const words[] = {
    [JOB_END_CANCELLED] = "cancelled",       [JOB_END_TIME_LIMIT] = "time-limit",
    [JOB_END_NODE_FAILURE] = "node-failure", [JOB_END_PREEMPTED] = "preempted",
    [JOB_END_DEADLINE] = "deadline",
};
enum { WORDS = sizeof words / sizeof *words };

/* One writing for each content, so that reading is comparing. */
static size_t print(const struct job_end *end, char line[static LINE_SIZE])
{
    return (size_t)snprintf(line, LINE_SIZE, "job-end=1 cause=%s realtime=%" PRId64 "\n",
                            words[end->cause], end->realtime_ns);
}

int job_end_write(int dirfd, const struct job_end *end)
{
    char line[LINE_SIZE];
    size_t length = print(end, line);
    int fd =
        openat(dirfd, JOB_END_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    ssize_t written = write(fd, line, length);
    int reason = written < 0 ? errno : (size_t)written < length ? ENOSPC : 0;
    if (close(fd) < 0 && reason == 0)
        reason = errno;
    if (reason)
        unlinkat(dirfd, JOB_END_NAME, 0);
    errno = reason;
    return reason ? -1 : 0;
}

static int parse(const char *line, struct job_end *end)
{
    char again[LINE_SIZE];
    const char *time = strstr(line, " realtime=");
    if (!time)
        return -1;
    end->realtime_ns = strtoll(time + strlen(" realtime="), NULL, 10);
    for (int cause = JOB_END_UNKNOWN + 1; cause < WORDS; cause++) {
        end->cause = (enum job_end_cause)cause;
        print(end, again);
        if (strcmp(line, again) == 0)
            return 0;
    }
    return -1;
}

int job_end_read(int dirfd, struct job_end *end, struct error *err)
{
    char line[LINE_SIZE];
    struct job_end found;
    *end = (struct job_end){.cause = JOB_END_UNKNOWN};
    if (faccessat(dirfd, JOB_END_NAME, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
        return 0;
    int fd = regular_file_open(dirfd, JOB_END_NAME, NULL, err);
    if (fd < 0)
        return -1;
    ssize_t length = pread(fd, line, sizeof line - 1, 0);
    close(fd);
    line[length > 0 ? length : 0] = '\0';
    if (strlen(line) != (size_t)(length > 0 ? length : 0) || parse(line, &found) < 0)
        return error_set(err, JOB_END_NAME ": does not tell why the job ended");
    *end = found;
    return 0;
}
