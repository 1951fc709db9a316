/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening a file that somebody else may have put there. */
#ifndef SCOPE_REGULAR_FILE_H
#define SCOPE_REGULAR_FILE_H

#include <stdint.h>
#include <sys/stat.h>

#include "schema/error.h"

/* Opens dirfd/name (AT_FDCWD works) for reading, close-on-exec, never through a symbolic link in
 * the last component, and never waiting for the other end of a FIFO or a device. Returns the
 * descriptor, which the caller closes, and the size in *size (bytes; may be NULL); or -1 and err,
 * which names the file: cannot be opened, or is no regular file. */
int regular_file_open(int dirfd, const char *name, int64_t *size, struct error *err);

/* What is known of the regular file behind fd. Returns 0, or -1 with errno (EINVAL: it is none). */
int regular_file_stat(int fd, struct stat *status);

/* Its size in bytes, or -1 likewise. */
int64_t regular_file_size(int fd);

#endif
