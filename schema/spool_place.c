/* SPDX-License-Identifier: BSD-3-Clause */
/* A site's spool: a directory of root's on each node, in which steps have theirs. */
#define _GNU_SOURCE
#include "schema/spool_place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int spool_place_open(const char *path, struct error *err)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0) {
        int reason = errno;
        if (fd >= 0)
            close(fd);
        return error_set(err, "the spool %s: %s", path, strerror(reason));
    }
    if (status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return fd;
    close(fd);
    return error_set(err, "the spool %s must be root's, and writable by nobody else", path);
}

int spool_place_remove(const char *path, struct error *err)
{
    char place[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) >= sizeof place)
        return error_set(err, "the spool has no directory %s", path);
    snprintf(place, sizeof place, "%.*s", (int)(slash - path), path);
    int fd = spool_place_open(place, err);
    if (fd < 0)
        return -1;
    int status = unlinkat(fd, slash + 1, AT_REMOVEDIR);
    int reason = errno;
    close(fd);
    return status == 0 || reason == ENOENT
               ? 0
               : error_set(err, "cannot remove %s: %s", path, strerror(reason));
}

bool spool_place_is_step(const char *name, uint32_t *job, uint32_t *step)
{
    uint32_t restart, node;
    int length = 0;
    return sscanf(name, "%" SCNu32 ".%" SCNu32 "-%" SCNu32 "-%" SCNu32 "%n", job, step, &restart,
                  &node, &length) == 4 &&
           name[length] == '\0';
}
