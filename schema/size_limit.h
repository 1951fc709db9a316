/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit of a file's size: who writes beyond gets SIGXFSZ, which ends a program. */
#ifndef SCOPE_SIZE_LIMIT_H
#define SCOPE_SIZE_LIMIT_H

#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>

/* The error number that a file which is to have size bytes meets at the limit, EFBIG, or 0. To be
 * asked before a write in a process that is not ours alone. */
static inline int size_limit_error(uint64_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        size > limit.rlim_cur)
        return EFBIG;
    return 0;
}

#endif
