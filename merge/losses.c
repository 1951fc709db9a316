/* SPDX-License-Identifier: BSD-3-Clause */
/* What a merge could not take in: told line by line, but not without end. */
#include "merge/losses.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void losses_add(struct losses *losses, const char *format, ...)
{
    losses->count++;
    if (losses->quiet || losses->count > LOSSES_SHOWN)
        return;
    va_list arguments;
    va_start(arguments, format);
    fputs("sp-merge: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void losses_finish(const struct losses *losses)
{
    if (!losses->quiet && losses->count > LOSSES_SHOWN)
        fprintf(stderr, "sp-merge: ... and %" PRIu64 " more like these\n",
                losses->count - LOSSES_SHOWN);
}
