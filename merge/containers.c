/* SPDX-License-Identifier: BSD-3-Clause */
/* The containers of a run: traces that nodes copied out of their spools, several to a file. */
#define _GNU_SOURCE
#include "merge/containers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "schema/node_marker.h"

int containers_note(struct run *run, const char *file)
{
    struct run_container container = {.file = NULL};
    if (!trace_container_is(file, container.part))
        return 0;
    struct run_container *more =
        realloc(run->containers, (run->container_count + 1) * sizeof(*more));
    if (!more)
        return -1;
    run->containers = more;
    if (!(container.file = strdup(file)))
        return -1;
    run->containers[run->container_count++] = container;
    return 0;
}

/* --- worlds ------------------------------------------------------------------------------------
 */

/* The world of this name, a new one if need be; NULL without memory. */
static struct run_world *find_world(struct run *run, const char *name)
{
    for (size_t i = 0; i < run->world_count; i++) {
        if (strcmp(run->worlds[i].name, name) == 0)
            return &run->worlds[i];
    }
    struct run_world *more = realloc(run->worlds, (run->world_count + 1) * sizeof(*more));
    if (!more)
        return NULL;
    run->worlds = more;
    more[run->world_count] =
        (struct run_world){.name = strdup(name),
                           .fd = openat(run->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                           .first_realtime = INT64_MAX};
    return more[run->world_count].name ? &more[run->world_count++] : NULL;
}

static bool is_power_of_two(size_t number)
{
    return (number & (number - 1)) == 0;
}

/* Makes room for one more trace. */
static int grow(struct run_world *world)
{
    size_t count = world->file_count, room = count ? 2 * count : 1;
    if (!world->parts) { /* what is there lies in the directory */
        size_t least = 1;
        while (least < count)
            least *= 2;
        if (!(world->parts = calloc(least, sizeof(*world->parts))))
            return -1;
    }
    if (!is_power_of_two(count))
        return 0;
    char **files = realloc(world->files, room * sizeof(*files));
    if (!files)
        return -1;
    world->files = files;
    struct trace_part *parts = realloc(world->parts, room * sizeof(*parts));
    if (!parts)
        return -1;
    world->parts = parts;
    return 0;
}

static int add_trace(struct run *run, const char *container,
                     const struct trace_container_trace *trace)
{
    struct run_world *world = find_world(run, trace->world);
    if (!world || grow(world) < 0)
        return -1;
    char *file = strdup(trace->file);
    if (!file)
        return -1;
    world->parts[world->file_count] = (struct trace_part){.container = container,
                                                          .dirfd = run->fd,
                                                          .offset = trace->offset,
                                                          .size = trace->size};
    world->files[world->file_count++] = file;
    world->bytes += trace->size;
    return 0;
}

struct entry {
    char *file;
    struct trace_part part;
};

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    return run_compare_names(a->file, b->file);
}

/* Puts names and parts into the order of names. */
static int sort(struct run_world *world)
{
    struct entry *entries = malloc((world->file_count + 1) * sizeof(*entries));
    if (!entries)
        return -1;
    for (size_t i = 0; i < world->file_count; i++)
        entries[i] = (struct entry){world->files[i], world->parts[i]};
    qsort(entries, world->file_count, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < world->file_count; i++) {
        world->files[i] = entries[i].file;
        world->parts[i] = entries[i].part;
    }
    free(entries);
    return 0;
}

/* --- containers --------------------------------------------------------------------------------
 */

static int read_container(struct run *run, struct run_container *container)
{
    struct trace_container reader;
    struct trace_container_trace trace;
    int status = 0;
    if (trace_container_open(&reader, run->fd, container->file, NULL) < 0)
        return 0;
    while (status == 0 && trace_container_next(&reader, &trace) > 0) {
        if (run_is_trace_name(trace.file))
            status = add_trace(run, container->file, &trace);
    }
    container->is_complete = reader.is_complete;
    if (status == 0 && !reader.is_complete && reader.spool[0])
        status = (container->spool = strdup(reader.spool)) ? 0 : -1;
    trace_container_close(&reader);
    return status;
}

static int sort_all(struct run *run)
{
    for (size_t i = 0; i < run->world_count; i++) {
        if (run->worlds[i].parts && sort(&run->worlds[i]) < 0)
            return -1;
    }
    return 0;
}

int containers_read(struct run *run)
{
    for (size_t i = 0; i < run->container_count; i++) {
        if (read_container(run, &run->containers[i]) < 0)
            return -1;
    }
    return sort_all(run);
}

/* --- spools ------------------------------------------------------------------------------------
 */

/* A trace there is a part that is a whole file. */
static int add_spooled(struct run *run, const char *world_name, int directory, const char *name)
{
    struct stat info;
    if (!run_is_trace_name(name) || fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    struct run_world *world = find_world(run, world_name);
    if (!world || grow(world) < 0)
        return -1;
    char *file = strdup(name);
    if (!file)
        return -1;
    world->parts[world->file_count] = (struct trace_part){
        .container = file, .dirfd = directory, .size = (uint64_t)info.st_size};
    world->files[world->file_count++] = file;
    world->bytes += (uint64_t)info.st_size;
    return 0;
}

/* Keeps the directory open until run_release. */
static int keep_spool(struct run *run, int directory)
{
    int *more = realloc(run->spools, (run->spool_count + 1) * sizeof(*more));
    if (!more)
        return -1;
    run->spools = more;
    run->spools[run->spool_count++] = directory;
    return 0;
}

static int read_spooled_world(struct run *run, int spool, const char *name)
{
    int directory = openat(spool, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int again = directory < 0 ? -1 : openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    int status = 0;
    if (!list) {
        if (again >= 0)
            close(again);
        if (directory >= 0)
            close(directory);
        return 0;
    }
    if (keep_spool(run, directory) < 0) {
        close(directory);
        status = -1;
    }
    for (struct dirent *entry; status == 0 && (entry = readdir(list));)
        status = add_spooled(run, name, directory, entry->d_name);
    closedir(list);
    return status;
}

static int read_spool(struct run *run, struct run_container *container)
{
    int fd = open(container->spool, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    int status = 0;
    container->is_elsewhere = !list;
    if (!list && fd >= 0)
        close(fd);
    for (struct dirent *entry; list && status == 0 && (entry = readdir(list));) {
        if (entry->d_name[0] != '.')
            status = read_spooled_world(run, dirfd(list), entry->d_name);
    }
    if (list)
        closedir(list);
    return status;
}

int containers_read_spools(struct run *run)
{
    for (size_t i = 0; i < run->container_count; i++) {
        if (run->containers[i].spool && read_spool(run, &run->containers[i]) < 0)
            return -1;
    }
    return sort_all(run);
}

int containers_remove(const struct run *run, struct error *err)
{
    for (size_t i = 0; i < run->container_count; i++) {
        if (unlinkat(run->fd, run->containers[i].file, 0) < 0 && errno != ENOENT)
            return error_set(err, "cannot remove %s/%s: %s", run->path, run->containers[i].file,
                             strerror(errno));
    }
    return 0;
}

void containers_release(struct run *run)
{
    for (size_t i = 0; i < run->container_count; i++) {
        free(run->containers[i].file);
        free(run->containers[i].spool);
    }
    free(run->containers);
    for (size_t i = 0; i < run->spool_count; i++)
        close(run->spools[i]);
    free(run->spools);
}

/* --- waiting -----------------------------------------------------------------------------------
 */

/* Whether the node with this container has nothing more to copy. */
static bool is_over(int dirfd, const char *file, const char *part)
{
    struct trace_container reader;
    struct trace_container_trace trace;
    char marker[NODE_MARKER_NAME_SIZE];
    struct stat info;
    if (node_marker_name(part, 0, marker) < 0 ||
        fstatat(dirfd, marker, &info, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    if (trace_container_open(&reader, dirfd, file, NULL) < 0)
        return true;
    while (trace_container_next(&reader, &trace) > 0)
        continue;
    trace_container_close(&reader);
    return reader.is_complete;
}

static bool are_over(const char *path)
{
    char part[TRACE_CONTAINER_NAME_SIZE];
    struct dirent *entry;
    bool over = true;
    DIR *directory = opendir(path);
    while (directory && over && (entry = readdir(directory))) {
        if (trace_container_is(entry->d_name, part))
            over = is_over(dirfd(directory), entry->d_name, part);
    }
    if (directory)
        closedir(directory);
    return over;
}

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

void run_wait(const char *path, int limit_ms)
{
    enum { LOOK_MS = 100 };
    int64_t deadline = now_ms() + limit_ms;
    while (!are_over(path) && now_ms() < deadline)
        poll(NULL, 0, LOOK_MS);
}
