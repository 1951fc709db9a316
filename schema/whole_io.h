/* SPDX-License-Identifier: BSD-3-Clause */
/* pread(2) and pwrite(2) of everything, however often they stop in between. */
#ifndef SCOPE_WHOLE_IO_H
#define SCOPE_WHOLE_IO_H

#include <stddef.h>
#include <sys/types.h>

/* Return 0, or -1 and errno: ENOSPC where nothing more can be written, ENODATA where the file ends.
 */
int whole_write(int fd, const void *data, size_t size, off_t offset);
int whole_read(int fd, void *data, size_t size, off_t offset);

#endif
