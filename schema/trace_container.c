/* SPDX-License-Identifier: BSD-3-Clause */
/* The traces of a node in one file, "spool-NODE.sptraces": as they were copied out of its spool. */
#include "schema/trace_container.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "schema/regular_file.h"
#include "schema/size_limit.h"

static const size_t prefix = sizeof TRACE_CONTAINER_PREFIX - 1;
static const size_t suffix = sizeof TRACE_CONTAINER_SUFFIX - 1;

int trace_container_name(const char *part, char name[static TRACE_CONTAINER_NAME_SIZE])
{
    if (*part == '\0' || strchr(part, '/'))
        return -1;
    int length = snprintf(name, TRACE_CONTAINER_NAME_SIZE,
                          TRACE_CONTAINER_PREFIX "%s" TRACE_CONTAINER_SUFFIX, part);
    return length > 0 && length < TRACE_CONTAINER_NAME_SIZE ? 0 : -1;
}

bool trace_container_is(const char *name, char part[static TRACE_CONTAINER_NAME_SIZE])
{
    size_t length = strlen(name);
    if (length <= prefix + suffix || length >= TRACE_CONTAINER_NAME_SIZE ||
        strncmp(name, TRACE_CONTAINER_PREFIX, prefix) != 0 ||
        strcmp(name + length - suffix, TRACE_CONTAINER_SUFFIX) != 0)
        return false;
    memcpy(part, name + prefix, length - prefix - suffix);
    part[length - prefix - suffix] = '\0';
    return true;
}

/* --- writing -------------------------------------------------------------------------------------
 */

static int put(int fd, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, (const char *)data + done, size - done);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n == 0) {
            errno = ENOSPC;
            return -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int put_entry(int fd, uint32_t kind, const char *name, uint64_t size)
{
    const struct trace_container_entry entry = {
        .kind = kind, .name_length = (uint32_t)strlen(name), .size = size};
    return put(fd, &entry, sizeof entry) < 0 ? -1 : put(fd, name, entry.name_length);
}

int trace_container_begin(int fd)
{
    struct trace_container_header header = {.version = TRACE_CONTAINER_VERSION,
                                            .header_size = sizeof header};
    memcpy(header.magic, TRACE_CONTAINER_MAGIC, sizeof header.magic);
    return put(fd, &header, sizeof header);
}

int trace_container_announce(int fd, const char *spool)
{
    struct {
        struct trace_container_header header;
        char spool[TRACE_CONTAINER_SPOOL_SIZE];
    } start = {.header = {.version = TRACE_CONTAINER_VERSION}};
    size_t length = strlen(spool), size = sizeof start.header + length;
    if (length >= sizeof start.spool) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if ((errno = size_limit_error(size)) != 0)
        return -1;
    memcpy(start.header.magic, TRACE_CONTAINER_MAGIC, sizeof start.header.magic);
    memcpy(start.spool, spool, length);
    start.header.header_size = (uint32_t)size;
    ssize_t written = pwrite(fd, &start, size, 0);
    return written == (ssize_t)size ? 0 : -1;
}

/* Space that a trace took and never wrote to takes none in the container: what is skipped here
 * comes to be with whatever is written behind it, which is the container's end if nothing else. */
static int put_sparse(int fd, const char *data, size_t size)
{
    bool is_zero = data[0] == 0 && memcmp(data, data + 1, size - 1) == 0;
    if (!is_zero)
        return put(fd, data, size);
    return lseek(fd, (off_t)size, SEEK_CUR) < 0 ? -1 : 0;
}

int trace_container_add(int fd, const char *name, int trace)
{
    char buffer[64 * 1024];
    int64_t size = regular_file_size(trace);
    if (size < 0 || put_entry(fd, TRACE_CONTAINER_TRACE, name, (uint64_t)size) < 0)
        return -1;
    for (int64_t done = 0; done < size;) {
        size_t most = size - done < (int64_t)sizeof buffer ? (size_t)(size - done) : sizeof buffer;
        ssize_t n = pread(trace, buffer, most, done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            memset(buffer, 0, most);
        if (put_sparse(fd, buffer, n == 0 ? most : (size_t)n) < 0)
            return -1;
        done += n == 0 ? (int64_t)most : n;
    }
    return 0;
}

int trace_container_finish(int fd, uint64_t count)
{
    return put_entry(fd, TRACE_CONTAINER_END, "", count);
}

/* --- reading -------------------------------------------------------------------------------------
 */

/* Whether size bytes at offset could be read. */
static bool get(const struct trace_container *container, void *data, size_t size, uint64_t offset)
{
    size_t done = 0;
    if (offset > container->size || container->size - offset < size)
        return false;
    while (done < size) {
        ssize_t n = pread(container->fd, (char *)data + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* What is in the header behind its known part. */
static void get_spool(struct trace_container *container, uint32_t header_size)
{
    size_t length = header_size - sizeof(struct trace_container_header);
    if (length >= sizeof container->spool ||
        !get(container, container->spool, length, sizeof(struct trace_container_header)))
        length = 0;
    container->spool[length] = '\0';
    if (container->spool[0] != '/')
        container->spool[0] = '\0';
}

int trace_container_open(struct trace_container *container, int dirfd, const char *name,
                         struct error *err)
{
    struct trace_container_header header;
    int64_t size;
    *container = (struct trace_container){.fd = regular_file_open(dirfd, name, &size, err)};
    if (container->fd < 0)
        return -1;
    container->size = (uint64_t)size;
    if (size == 0)
        return 0;
    if (!get(container, &header, sizeof header, 0) ||
        memcmp(header.magic, TRACE_CONTAINER_MAGIC, sizeof header.magic) != 0 ||
        header.version != TRACE_CONTAINER_VERSION || header.header_size < sizeof header) {
        trace_container_close(container);
        return error_set(err, "%s: holds no traces of this version", name);
    }
    container->offset = header.header_size;
    get_spool(container, header.header_size);
    return 0;
}

/* Splits "WORLD/rank-000003.sptrace". */
static bool split(const char *name, struct trace_container_trace *trace)
{
    const char *slash = strchr(name, '/');
    if (!slash || slash == name || slash[1] == '\0' || *name == '.' || strchr(slash + 1, '/'))
        return false;
    memcpy(trace->world, name, (size_t)(slash - name));
    trace->world[slash - name] = '\0';
    strcpy(trace->file, slash + 1);
    return true;
}

int trace_container_next(struct trace_container *container, struct trace_container_trace *trace)
{
    struct trace_container_entry entry;
    char name[TRACE_CONTAINER_NAME_SIZE];
    if (container->is_complete || container->offset >= container->size ||
        !get(container, &entry, sizeof entry, container->offset))
        return 0; /* a copy that was stopped */
    uint64_t offset = container->offset + sizeof entry;
    if (entry.kind == TRACE_CONTAINER_END && entry.name_length == 0) {
        container->is_complete = entry.size == container->count;
        return container->is_complete ? 0 : -1;
    }
    if (entry.kind != TRACE_CONTAINER_TRACE || entry.name_length >= sizeof name)
        return -1;
    if (!get(container, name, entry.name_length, offset))
        return 0;
    name[entry.name_length] = '\0';
    offset += entry.name_length;
    if (strlen(name) != entry.name_length || !split(name, trace))
        return -1;
    uint64_t left = container->size - offset;
    trace->offset = offset;
    trace->size = entry.size < left ? entry.size : left;
    container->offset = offset + trace->size;
    container->count++;
    return 1;
}

void trace_container_close(struct trace_container *container)
{
    if (container->fd >= 0)
        close(container->fd);
    container->fd = -1;
}
