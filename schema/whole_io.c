/* SPDX-License-Identifier: BSD-3-Clause */
/* pread(2) and pwrite(2) of everything, however often they stop in between. */
#include "schema/whole_io.h"

#include <errno.h>
#include <unistd.h>

int whole_write(int fd, const void *data, size_t size, off_t offset)
{
    const char *next = data;
    while (size > 0) {
        ssize_t written = pwrite(fd, next, size, offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = written < 0 ? errno : ENOSPC;
            return -1;
        }
        next += written;
        offset += written;
        size -= (size_t)written;
    }
    return 0;
}

int whole_read(int fd, void *data, size_t size, off_t offset)
{
    char *next = data;
    while (size > 0) {
        ssize_t got = pread(fd, next, size, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got < 0 ? errno : ENODATA;
            return -1;
        }
        next += got;
        offset += got;
        size -= (size_t)got;
    }
    return 0;
}
