/* SPDX-License-Identifier: BSD-3-Clause */
/* That a node's part of a run is done: the empty file "done-NODE" in the run directory. */
#define _GNU_SOURCE
#include "schema/node_marker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int node_marker_name(const char *node, uint32_t component, char name[static NODE_MARKER_NAME_SIZE])
{
    char suffix[16] = "";
    if (component != 0)
        snprintf(suffix, sizeof suffix, "+%u", (unsigned)component);
    if (*node == '\0' || strchr(node, '/'))
        return -1;
    int length =
        snprintf(name, NODE_MARKER_NAME_SIZE, NODE_MARKER_PREFIX "%s%s", node, suffix);
    return length > 0 && length < NODE_MARKER_NAME_SIZE ? 0 : -1;
}

bool node_marker_is(const char *name)
{
    size_t length = strlen(NODE_MARKER_PREFIX);
    return strncmp(name, NODE_MARKER_PREFIX, length) == 0 && name[length] != '\0';
}

int node_marker_put(int dirfd, const char *name)
{
    int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno == EEXIST ? 0 : -1;
    return close(fd);
}

/* Calls take for each marker until it fails. */
static int for_each(int dirfd, int (*take)(void *data, int dirfd, const char *name), void *data)
{
    int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), status = 0;
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    if (!directory) {
        int reason = errno;
        if (fd >= 0)
            close(fd);
        errno = reason;
        return -1;
    }
    while (status == 0 && (entry = readdir(directory))) {
        if (node_marker_is(entry->d_name))
            status = take(data, dirfd, entry->d_name);
    }
    int reason = errno;
    closedir(directory);
    errno = reason;
    return status;
}

static int count_one(void *data, int dirfd, const char *name)
{
    int64_t *count = data;
    (void)dirfd, (void)name;
    ++*count;
    return 0;
}

int64_t node_marker_count(int dirfd)
{
    int64_t count = 0;
    return for_each(dirfd, count_one, &count) < 0 ? -1 : count;
}

static int remove_one(void *data, int dirfd, const char *name)
{
    (void)data;
    return unlinkat(dirfd, name, 0) < 0 && errno != ENOENT ? -1 : 0;
}

int node_marker_remove_all(int dirfd)
{
    return for_each(dirfd, remove_one, NULL);
}
