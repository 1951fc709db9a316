/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening a file that somebody else may have put there. */
#include "schema/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int regular_file_stat(int fd, struct stat *status)
{
    /* Not fstat(3): that name is new in glibc 2.33, and the preload library must start under 2.17.
     * The kernel's struct is glibc's on 64-bit machines. */
    if (syscall(SYS_fstat, fd, status) < 0)
        return -1;
    if (S_ISREG(status->st_mode))
        return 0;
    errno = EINVAL;
    return -1;
}

int64_t regular_file_size(int fd)
{
    struct stat status;
    return regular_file_stat(fd, &status) < 0 ? -1 : status.st_size;
}

int regular_file_open(int dirfd, const char *name, int64_t *size, struct error *err)
{
    int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ELOOP)
            return error_set(err, "%s: is a symbolic link, which is not followed", name);
        return error_set(err, "%s: cannot be opened: %s", name, strerror(errno));
    }
    int64_t bytes = regular_file_size(fd);
    if (bytes < 0) {
        int reason = errno;
        close(fd);
        return error_set(err, "%s: %s", name,
                         reason == EINVAL ? "is no regular file" : strerror(reason));
    }
    if (size)
        *size = bytes;
    return fd;
}
