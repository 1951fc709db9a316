/* SPDX-License-Identifier: BSD-3-Clause */
/* A run directory: its records, its worlds, and the traces in them. */
#define _GNU_SOURCE
#include "merge/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merge/containers.h"
#include "merge/file_limit.h"
#include "merge/likwid_rank.h"
#include "schema/exit_record.h"
#include "schema/node_marker.h"
#include "schema/trace_reader.h"

bool run_is_trace_name(const char *name)
{
    size_t length = strlen(name), suffix = strlen(TRACE_SUFFIX);
    if (strncmp(name, "rank-", 5) != 0 || length <= 5 + suffix)
        return false;
    size_t digits = strspn(name + 5, "0123456789");
    return digits >= 6 && digits <= 10 && strcmp(name + 5 + digits, TRACE_SUFFIX) == 0;
}

/* Calls take for every name in the directory; it returns -1 if memory is out. Returns 0, or why not
 * all were taken: ENOMEM, or the directory's errno. */
static int for_each_name(int dirfd, int (*take)(void *data, const char *name), void *data)
{
    int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    int reason = errno;
    if (!directory) {
        if (fd >= 0)
            close(fd);
        return reason;
    }
    reason = 0;
    while (reason == 0) {
        errno = 0;
        struct dirent *entry = readdir(directory);
        if (!entry) {
            reason = errno;
            break;
        }
        if (entry->d_name[0] != '.' && take(data, entry->d_name) < 0)
            reason = ENOMEM;
    }
    closedir(directory);
    return reason;
}

static int take_trace(void *data, const char *name)
{
    struct run_world *world = data;
    struct stat info;
    if (!run_is_trace_name(name))
        return 0;
    if ((world->file_count & (world->file_count - 1)) == 0) {
        size_t room = world->file_count ? 2 * world->file_count : 1;
        char **files = realloc(world->files, room * sizeof(*files));
        if (!files)
            return -1;
        world->files = files;
    }
    char *copy = strdup(name);
    if (!copy)
        return -1;
    world->files[world->file_count++] = copy;
    if (fstatat(world->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && info.st_size > 0)
        world->bytes += (uint64_t)info.st_size;
    return 0;
}

int run_compare_names(const char *left, const char *right)
{
    size_t length_left = strlen(left), length_right = strlen(right);
    if (length_left != length_right) /* more digits: a larger number */
        return length_left < length_right ? -1 : 1;
    return strcmp(left, right);
}

static int compare_files(const void *left, const void *right)
{
    return run_compare_names(*(char *const *)left, *(char *const *)right);
}

static void release_world(struct run_world *world)
{
    for (size_t i = 0; i < world->file_count; i++)
        free(world->files[i]);
    free(world->files);
    free(world->parts);
    free(world->name);
    if (world->fd >= 0)
        close(world->fd);
}

static int keep_world(struct run *run, struct run_world *world)
{
    struct run_world *more = realloc(run->worlds, (run->world_count + 1) * sizeof(*more));
    if (!more)
        return -1;
    run->worlds = more;
    run->worlds[run->world_count++] = *world;
    return 0;
}

/* What could not be looked at may be a world, or hold traces that are not listed. What has gone
 * meanwhile, or is no directory after all, is none. */
static int lose_world(struct run *run, const char *name, int reason)
{
    if (reason == ENOMEM)
        return -1;
    if (reason == ENOENT || reason == ENOTDIR || reason == ELOOP)
        return 0;
    if (run->unread_count++ == 0)
        error_set(&run->unread, "cannot read %s/%s: %s", run->path, name, strerror(reason));
    return 0;
}

static int take_world(struct run *run, const char *name)
{
    struct run_world world = {.first_realtime = INT64_MAX};
    world.fd = openat(run->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (world.fd < 0)
        return lose_world(run, name, errno);
    world.name = strdup(name);
    int reason = world.name ? for_each_name(world.fd, take_trace, &world) : ENOMEM;
    int status = reason == 0 ? 0 : lose_world(run, name, reason);
    if (status < 0 || world.file_count == 0 || keep_world(run, &world) < 0) {
        status = world.file_count == 0 ? status : -1;
        release_world(&world);
        return status;
    }
    qsort(world.files, world.file_count, sizeof(*world.files), compare_files);
    return 0;
}

static int take_name(void *data, const char *name)
{
    struct run *run = data;
    struct stat info;
    if (fstatat(run->fd, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return lose_world(run, name, errno);
    if (S_ISDIR(info.st_mode))
        return take_world(run, name);
    if (containers_note(run, name) < 0)
        return -1;
    return exits_is_name(name) ? exits_add_file(&run->exits, run->fd, name) : 0;
}

static void find_first_instant(struct run_world *world)
{
    for (size_t i = 0; i < world->file_count; i++) {
        struct trace_reader *reader;
        if (run_world_open(world, i, &reader, NULL) < 0)
            continue;
        int64_t first = trace_reader_header(reader)->first_sync.realtime_ns;
        world->first_realtime = first < world->first_realtime ? first : world->first_realtime;
        trace_reader_close(reader);
    }
}

static int compare_worlds(const void *left, const void *right)
{
    const struct run_world *a = left, *b = right;
    if (a->first_realtime != b->first_realtime)
        return a->first_realtime < b->first_realtime ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int list(struct run *run, struct error *err)
{
    if (!run->path)
        return error_set(err, "out of memory");
    int reason = for_each_name(run->fd, take_name, run);
    if (reason != 0 && reason != ENOMEM)
        return error_set(err, "cannot list %s: %s", run->path, strerror(reason));
    if (reason != 0 || containers_read(run) < 0)
        return error_set(err, "out of memory");
    exits_add_job_end(&run->exits, run->fd);
    return exits_settle(&run->exits) < 0 ? error_set(err, "out of memory") : 0;
}

int run_enter(struct run *run, const char *path, struct error *err)
{
    *run = (struct run){.path = strdup(path), .claim = -1};
    file_limit_raise(); /* each world keeps its directory open */
    run->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->fd < 0) {
        int reason = errno;
        error_set(err, "cannot open the run directory %s: %s", path, strerror(reason));
        run_release(run);
        errno = reason;
        return -1;
    }
    if (job_record_read(&run->job, run->fd, &run->job_problem) == 0)
        run->job_problem.text[0] = '\0';
    return 0;
}

int run_list(struct run *run, struct error *err)
{
    if (list(run, err) < 0)
        return -1;
    if (run->world_count > 1) { /* only then is there an order to find */
        for (size_t i = 0; i < run->world_count; i++)
            find_first_instant(&run->worlds[i]);
        qsort(run->worlds, run->world_count, sizeof(*run->worlds), compare_worlds);
    }
    return 0;
}

int run_open(struct run *run, const char *path, struct error *err)
{
    if (run_enter(run, path, err) < 0)
        return -1;
    if (run_list(run, err) == 0)
        return 0;
    run_release(run);
    errno = 0;
    return -1;
}

int run_world_open(const struct run_world *world, size_t number, struct trace_reader **reader,
                   struct error *err)
{
    return trace_reader_open_part(reader, world->fd, world->files[number],
                                  world->parts ? &world->parts[number] : NULL, err);
}

/* Whether the file is still the one of its name: who has it locked removes it at the end. */
static bool is_current(int dirfd, const char *name, int fd)
{
    struct stat ours, there;
    return fstat(fd, &ours) == 0 && fstatat(dirfd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

/* Who may read a file may lock it and keep others out: RUN_LOCK nobody else may read. Where there
 * is no job record, nothing is put into a directory that may be no run: it is itself locked. */
static int open_lock(const struct run *run, const char *name)
{
    if (run->job_problem.text[0])
        return openat(run->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return openat(run->fd, name,
                  O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
}

int run_claim(struct run *run, struct error *err)
{
    enum { ATTEMPTS = 3, PAUSE_MS = 10 };
    const char *name = run->job_problem.text[0] ? "." : RUN_LOCK;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (attempt > 0) /* the epilog looks whether somebody has it by having it for an instant */
            poll(NULL, 0, PAUSE_MS);
        int fd = open_lock(run, name);
        if (fd < 0 && errno == ENOENT)
            return error_set(err, "%s: another process has merged it", run->path);
        if (fd < 0)
            return 0;
        bool is_locked = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        if (is_locked && is_current(run->fd, name, fd)) {
            run->claim = fd;
            return 0;
        }
        close(fd);
    }
    return error_set(err, "%s: another process is merging it", run->path);
}

static int remove_world(const struct run *run, const struct run_world *world, struct error *err)
{
    for (size_t i = 0; i < world->file_count; i++) {
        if (world->parts && world->parts[i].container)
            continue;
        uint32_t number = (uint32_t)strtoul(world->files[i] + strlen("rank-"), NULL, 10);
        if (likwid_rank_remove(world->fd, number) < 0 ||
            (unlinkat(world->fd, world->files[i], 0) < 0 && errno != ENOENT))
            return error_set(err, "cannot remove %s/%s/%s: %s", run->path, world->name,
                             world->files[i], strerror(errno));
    }
    if (unlinkat(run->fd, world->name, AT_REMOVEDIR) < 0 && errno != ENOENT && errno != ENOTEMPTY &&
        errno != EEXIST)
        return error_set(err, "cannot remove %s/%s: %s", run->path, world->name, strerror(errno));
    return 0;
}

static int remove_records(const struct run *run, struct error *err)
{
    char name[EXIT_RECORD_NAME_SIZE];
    bool has_job = run->job_problem.text[0] == '\0'; /* else the file may be someone's own */
    if (has_job && unlinkat(run->fd, JOB_RECORD_NAME, 0) < 0 && errno != ENOENT)
        return error_set(err, "cannot remove %s/" JOB_RECORD_NAME ": %s", run->path,
                         strerror(errno));
    if (run->exits.problem_count > 0) /* likewise */
        return 0;
    for (size_t i = 0; i < run->exits.node_count; i++) {
        if (exit_record_name(run->exits.nodes[i], name) == 0 && unlinkat(run->fd, name, 0) < 0 &&
            errno != ENOENT)
            return error_set(err, "cannot remove %s/%s: %s", run->path, name, strerror(errno));
    }
    if (unlinkat(run->fd, JOB_END_NAME, 0) < 0 && errno != ENOENT)
        return error_set(err, "cannot remove %s/" JOB_END_NAME ": %s", run->path, strerror(errno));
    return 0;
}

int run_remove(struct run *run, struct error *err)
{
    for (size_t i = 0; i < run->world_count; i++) {
        if (remove_world(run, &run->worlds[i], err) < 0)
            return -1;
    }
    if (containers_remove(run, err) < 0 || remove_records(run, err) < 0)
        return -1;
    if (node_marker_remove_all(run->fd) < 0)
        return error_set(err, "cannot remove %s/" NODE_MARKER_PREFIX "NODE: %s", run->path,
                         strerror(errno));
    if (unlinkat(run->fd, RUN_LOCK, 0) < 0 && errno != ENOENT)
        return error_set(err, "cannot remove %s/" RUN_LOCK ": %s", run->path, strerror(errno));
    if (unlinkat(run->fd, RUN_EPILOG_CLAIM, AT_REMOVEDIR) < 0 && errno != ENOENT)
        return error_set(err, "cannot remove %s/" RUN_EPILOG_CLAIM ": %s", run->path,
                         strerror(errno));
    if (rmdir(run->path) < 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
        return error_set(err, "cannot remove %s: %s", run->path, strerror(errno));
    return 0;
}

void run_release(struct run *run)
{
    for (size_t i = 0; i < run->world_count; i++)
        release_world(&run->worlds[i]);
    free(run->worlds);
    containers_release(run);
    free(run->path);
    job_record_release(&run->job);
    exits_release(&run->exits);
    if (run->claim >= 0) {
        if (is_current(run->fd, RUN_LOCK, run->claim))
            unlinkat(run->fd, RUN_LOCK, 0);
        close(run->claim);
    }
    if (run->fd >= 0)
        close(run->fd);
    *run = (struct run){.fd = -1, .claim = -1};
}
