/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library says to the user: at most one line per job. */
#define _GNU_SOURCE
#include "preload/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Known from the launcher, since MPI may not be up yet: from its own first, since below mpirun in a
 * batch script Slurm's number is that of the script. */
static bool first_rank(void)
{
    static const char *const names[] = {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank && *rank)
            return strcmp(rank, "0") == 0;
    }
    return true;
}

void report_once(const char *format, ...)
{
    static int said;
    char line[1200] = "scope-profile: ";
    size_t length = strlen(line);
    int error = errno;
    va_list args;

    if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) || !first_rank())
        return;
    va_start(args, format);
    int added = vsnprintf(line + length, sizeof line - length - 1, format, args);
    va_end(args);
    if (added > 0) {
        length = strlen(line);
        line[length++] = '\n';
        ssize_t written = write(STDERR_FILENO, line, length);
        (void)written; /* where stderr is gone there is nobody to tell */
    }
    errno = error;
}
