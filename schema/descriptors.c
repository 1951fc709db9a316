/* SPDX-License-Identifier: BSD-3-Clause */
/* The open descriptors of a process that is about to do something else. */
#define _GNU_SOURCE
#include "schema/descriptors.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { LOOKED_AT = 16384 };

void descriptors_close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0U, 0) == 0)
        return;
#endif
    long limit = sysconf(_SC_OPEN_MAX);
    int end = limit < 0 || limit > LOOKED_AT ? LOOKED_AT : (int)limit;
    for (int fd = first; fd < end; fd++)
        close(fd);
}
