/* SPDX-License-Identifier: BSD-3-Clause */
/* Items that several threads work on, and that are joined in their order. */
#ifndef SCOPE_WORKERS_H
#define SCOPE_WORKERS_H

#include <stddef.h>

#include "schema/error.h"

enum { WORKERS_MAX = 256 }; /* threads */

struct workers {
    unsigned threads; /* at most; the caller's is one of them */
    void *context;
    /* Both return 0, or -1 and err. work runs in any thread, beside others; join one item after the
     * other, from the first on, each when it and all before it have been worked on. So what join
     * does is the same whatever the threads. Without join (NULL) nothing is. */
    int (*work)(void *context, size_t item, struct error *err);
    int (*join)(void *context, size_t item, struct error *err);
};

/* As many threads as there are processors that the process may use, up to a reasonable number. */
unsigned workers_default(void);

/* Goes through items 0 to count - 1. Returns 0, or -1 and err: the first thing that failed, after
 * which nothing is begun or joined any more. */
int workers_run(const struct workers *workers, size_t count, struct error *err);

#endif
