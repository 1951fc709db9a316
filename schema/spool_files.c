/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks left in a step's directory of a spool, and whatever else its user put there. */
#define _GNU_SOURCE
#include "schema/spool_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "schema/regular_file.h"
#include "schema/trace_container.h"
#include "schema/trace_format.h"

enum {
    NAMES_SIZE = 16 * 1024,
    ROUNDS = 3,
    DEPTH_MAX = 32 /* of directories that a user may have made in the spool */
};

/* As the kernel gives it. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    unsigned char type;
    char name[];
};

/* Calls take for every name in the directory, until it fails. */
static int for_each(int directory, int (*take)(void *data, int directory, const char *name),
                    void *data)
{
    _Alignas(struct entry) char names[NAMES_SIZE];
    long size;
    while ((size = syscall(SYS_getdents64, directory, names, sizeof names)) > 0) {
        for (long at = 0; at < size;) {
            const struct entry *entry = (const void *)(names + at);
            at += entry->length;
            if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0 &&
                take(data, directory, entry->name) < 0)
                return -1;
        }
    }
    return size < 0 ? -1 : 0;
}

static int open_directory(int parent, const char *name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* --- copying -------------------------------------------------------------------------------------
 */

struct copy {
    const char *file; /* of the container */
    int run, container; /* -1: not begun */
    uint64_t count;
    char name[TRACE_CONTAINER_NAME_SIZE]; /* of the world, then of the trace in it */
};

/* Whether an earlier attempt copied all, of which the spool may since have lost a part. */
static bool is_copied(int run, const char *name)
{
    struct trace_container container;
    struct trace_container_trace trace;
    if (trace_container_open(&container, run, name, NULL) < 0)
        return false;
    while (trace_container_next(&container, &trace) > 0)
        continue;
    trace_container_close(&container);
    return container.is_complete;
}

/* A container that ranks began, or an earlier attempt: the user's file, whatever it is. */
static int begin(struct copy *copy)
{
    copy->container =
        openat(copy->run, copy->file,
               O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644);
    if (copy->container < 0 || regular_file_size(copy->container) < 0 ||
        ftruncate(copy->container, 0) < 0)
        return -1;
    return trace_container_begin(copy->container);
}

static bool is_trace(const char *name)
{
    size_t length = strlen(name), suffix = strlen(TRACE_SUFFIX);
    return length > suffix && strcmp(name + length - suffix, TRACE_SUFFIX) == 0;
}

/* Whether there is something that could not be opened, but may hold a trace: one more is counted than
 * there is, and the container is not complete. */
static bool is_loss(int error)
{
    return error != ENOENT && error != ENOTDIR && error != ELOOP && error != ENXIO;
}

static int copy_trace(void *data, int directory, const char *name)
{
    struct copy *copy = data;
    size_t world = strlen(copy->name);
    if (!is_trace(name) || world + 1 + strlen(name) >= sizeof copy->name)
        return 0;
    int trace = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (trace < 0) {
        copy->count += is_loss(errno);
        return 0;
    }
    int status = 0;
    if (regular_file_size(trace) > 0) {
        copy->name[world] = '/';
        strcpy(copy->name + world + 1, name);
        if (copy->container < 0)
            status = begin(copy);
        if (status == 0)
            status = trace_container_add(copy->container, copy->name, trace);
        copy->name[world] = '\0';
        copy->count++;
    }
    close(trace);
    return status;
}

static int copy_world(void *data, int directory, const char *name)
{
    struct copy *copy = data;
    if (strlen(name) >= sizeof copy->name)
        return 0;
    int world = open_directory(directory, name);
    if (world < 0) {
        copy->count += is_loss(errno) && errno != EACCES; /* which is of the user's making */
        return 0;
    }
    strcpy(copy->name, name);
    int status = for_each(world, copy_trace, copy);
    close(world);
    return status;
}

int spool_files_copy(const char *path, const char *run, const char *container)
{
    struct copy copy = {.file = container, .container = -1};
    int spool = open_directory(AT_FDCWD, path);
    copy.run = open_directory(AT_FDCWD, run);
    if (copy.run >= 0 && is_copied(copy.run, container))
        return 0;
    if (spool < 0 || copy.run < 0 || for_each(spool, copy_world, &copy) < 0)
        return spool >= 0 && copy.run < 0 && errno == ENOENT ? 0 : -1; /* no rank came so far */
    /* A rank that began the container may have found no room in the spool. */
    if (copy.container < 0 && copy.count == 0 && faccessat(copy.run, container, F_OK, 0) < 0)
        return 0;
    if (copy.container < 0 && begin(&copy) < 0)
        return -1;
    return trace_container_finish(copy.container, copy.count);
}

/* --- emptying ------------------------------------------------------------------------------------
 */

static int remove_one(void *data, int directory, const char *name)
{
    int *depth = data;
    if (unlinkat(directory, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return 0;
    /* The user may have forbidden it. */
    bool may = fchmodat(directory, name, 0700, 0) == 0 && *depth < DEPTH_MAX;
    int inner = may ? open_directory(directory, name) : -1;
    if (inner >= 0) {
        ++*depth;
        for_each(inner, remove_one, depth);
        --*depth;
        close(inner);
    }
    unlinkat(directory, name, AT_REMOVEDIR);
    return 0;
}

int spool_files_remove(const char *path)
{
    int depth = 0;
    int spool = chmod(path, 0700) == 0 ? open_directory(AT_FDCWD, path) : -1;
    /* What is removed may make the rest move on. */
    for (int i = 0; spool >= 0 && i < ROUNDS && lseek(spool, 0, SEEK_SET) == 0; i++)
        for_each(spool, remove_one, &depth);
    return spool < 0 ? -1 : 0;
}
