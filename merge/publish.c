/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that appears under its name only when it is complete. */
#define _GNU_SOURCE
#include "merge/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
enum { ENDING_SIGNALS = sizeof(ending_signals) / sizeof(*ending_signals), ATTEMPTS = 100 };

/* What the handler removes: a copy, so that it never sees freed memory. */
static char pending[4096];
static volatile sig_atomic_t is_pending;

static void remove_and_die(int number)
{
    if (is_pending)
        unlink(pending);
    signal(number, SIG_DFL);
    raise(number); /* delivered when the handler returns: the parent sees the signal */
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = remove_and_die}, old;
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        sigaddset(&action.sa_mask, ending_signals[i]);
        if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &action, NULL);
    }
}

static void release(struct publication *publication)
{
    is_pending = 0;
    free(publication->path);
    free(publication->directory);
    free(publication->temporary);
    *publication = (struct publication){0};
}

static char *directory_of(const char *path)
{
    char *copy = strdup(path);
    char *result = copy ? strdup(dirname(copy)) : NULL;
    free(copy);
    return result;
}

/* The name of a process's file, which is to be freed. NULL if memory is out. */
static char *temporary_of(const char *directory, pid_t process, int attempt)
{
    char *name;
    int length =
        asprintf(&name, "%s/.sp-merge-%ld-%d.tmp", directory, (long)process, attempt);
    return length < 0 ? NULL : name;
}

/* A name nobody uses; leftovers of a killed merge with our process id are not touched. */
static char *temporary_name(const char *directory)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct stat info;
        char *name = temporary_of(directory, getpid(), attempt);
        if (!name || (lstat(name, &info) < 0 && errno == ENOENT))
            return name;
        free(name);
    }
    return NULL;
}

void publish_discard(const char *path, pid_t merger)
{
    char *directory = directory_of(path);
    for (int attempt = 0, is_there = directory != NULL; is_there && attempt < ATTEMPTS; attempt++) {
        char *name = temporary_of(directory, merger, attempt);
        is_there = name && unlink(name) == 0;
        free(name);
    }
    free(directory);
}

static int check_target(const struct publication *publication, struct error *err)
{
    struct stat info;
    if (lstat(publication->path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return error_set(err, "%s is a directory", publication->path);
        if (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
            return error_set(err, "%s is a device, a socket or a FIFO", publication->path);
        if (!publication->overwrite)
            return error_set(err, "%s is there already: -f overwrites it, -o NAME takes another",
                             publication->path);
    }
    if (access(publication->directory, W_OK | X_OK) < 0)
        return error_set(err, "cannot write to %s: %s", publication->directory, strerror(errno));
    return 0;
}

int publish_begin(struct publication *publication, const char *path, bool overwrite,
                  struct error *err)
{
    *publication = (struct publication){.overwrite = overwrite};
    publication->path = strdup(path);
    publication->directory = directory_of(path);
    if (!publication->path || !publication->directory) {
        release(publication);
        return error_set(err, "%s: out of memory", path);
    }
    if (check_target(publication, err) < 0) {
        release(publication);
        return -1;
    }
    publication->temporary = temporary_name(publication->directory);
    if (!publication->temporary || strlen(publication->temporary) >= sizeof(pending)) {
        error_set(err, "%s: no name for a temporary file beside it", path);
        release(publication);
        return -1;
    }
    strcpy(pending, publication->temporary);
    is_pending = 1;
    catch_signals();
    return 0;
}

/* Renames, or fails with EEXIST if the target is there. */
static int rename_to_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (link(from, to) < 0) /* NFS and others know no RENAME_NOREPLACE */
        return -1;
    unlink(from);
    return 0;
}

static int sync_directory(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int status = fsync(fd);
    if (status < 0 && errno == EINVAL) /* a file system that cannot sync directories */
        status = 0;
    close(fd);
    return status;
}

int publish_commit(struct publication *publication, struct error *err)
{
    int status = publication->overwrite ? rename(publication->temporary, publication->path)
                                        : rename_to_new(publication->temporary, publication->path);
    if (status < 0) {
        error_set(err, "cannot put the file at %s: %s", publication->path, strerror(errno));
        publish_abandon(publication);
        return -1;
    }
    is_pending = 0;
    if (sync_directory(publication->directory) < 0)
        status = error_set(err, "cannot sync %s: %s", publication->directory, strerror(errno));
    release(publication);
    return status;
}

void publish_abandon(struct publication *publication)
{
    if (publication->temporary)
        unlink(publication->temporary);
    release(publication);
}
