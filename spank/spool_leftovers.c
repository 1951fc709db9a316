/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories in the spool whose step's slurmstepd was killed, or whose node was started anew. */
#define _GNU_SOURCE
#include "spank/spool_leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "schema/registry.h"
#include "schema/spool_place.h"
#include "spank/spool_child.h"

enum {
    LIMIT_MS = 2000, /* of all together */
    AGE_S = 60       /* one that another slurmstepd is about to hold is younger */
};

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Whether it has been given up; then *owner is whose it is. Its age is by what users cannot set. */
static bool is_left(int place, const char *name, struct user_ids *owner)
{
    struct stat status;
    int fd = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool is_held = fd < 0 || fstat(fd, &status) < 0 || status.st_ctime > time(NULL) - AGE_S ||
                   flock(fd, LOCK_EX | LOCK_NB) < 0;
    if (fd >= 0)
        close(fd);
    if (!is_held)
        *owner = (struct user_ids){.user = status.st_uid, .group = status.st_gid};
    return !is_held;
}

/* One that root did not come to give away is empty. */
static void remove_one(int place, const char *path, const char *name, const struct user_ids *owner,
                       int limit_ms)
{
    const struct spool_child child = {.ids = *owner, .spool = path};
    if (owner->user != 0)
        spool_child_empty(&child, limit_ms);
    unlinkat(place, name, AT_REMOVEDIR);
}

void spool_leftovers_remove(int place, const struct settings *settings)
{
    int64_t deadline = now_ms() + LIMIT_MS, left;
    int registry = registry_open(settings->registry, false, NULL);
    int fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    char path[PATH_MAX + NAME_MAX + 2];
    for (struct dirent *entry;
         list && (left = deadline - now_ms()) > 0 && (entry = readdir(list));) {
        uint32_t job, step;
        struct user_ids owner;
        if (!spool_place_is_step(entry->d_name, &job, &step) ||
            (registry >= 0 && registry_has(registry, job, step)) ||
            !is_left(place, entry->d_name, &owner))
            continue;
        snprintf(path, sizeof path, "%s/%s", settings->spool, entry->d_name);
        remove_one(place, path, entry->d_name, &owner, (int)left);
    }
    if (list)
        closedir(list);
    else if (fd >= 0)
        close(fd);
    if (registry >= 0)
        close(registry);
}
