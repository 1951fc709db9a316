/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory from the kernel: the application's allocator is not ours to call from inside its calls. */
#ifndef SCOPE_PAGES_H
#define SCOPE_PAGES_H

#include <stddef.h>

/* Zeroed memory of at least size bytes, page aligned, or NULL. errno is kept. */
void *pages_take(size_t size);

/* Gives back what pages_take(size) returned; NULL is fine. errno is kept. */
void pages_give(void *pages, size_t size);

#endif
