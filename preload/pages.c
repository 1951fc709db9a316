/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory from the kernel: the application's allocator is not ours to call from inside its calls. */
#define _GNU_SOURCE
#include "preload/pages.h"

#include <errno.h>
#include <sys/mman.h>

void *pages_take(size_t size)
{
    int error = errno;
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = error;
    return pages == MAP_FAILED ? NULL : pages;
}

void pages_give(void *pages, size_t size)
{
    int error = errno;
    if (pages)
        munmap(pages, size);
    errno = error;
}
