/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library says to the user: one line of each kind, and it is the first rank that says it.
 */
#define _GNU_SOURCE
#include "preload/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NODES_MAX = 16 };

/* The first of these variables that is set; NULL if none is. */
static const char *first_set(const char *const names[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return value;
    }
    return NULL;
}

/* Known from the launcher, since MPI may not be up yet: from its own first, since below mpirun in a
 * batch script Slurm's number is that of the script. */
static bool first_rank(void)
{
    static const char *const names[] = {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    const char *rank = first_set(names, sizeof names / sizeof *names);
    return !rank || strcmp(rank, "0") == 0;
}

static bool first_rank_of_early_node(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                        "SLURM_LOCALID"};
    const char *rank = first_set(names, sizeof names / sizeof *names);
    const char *node = getenv("SLURM_NODEID");
    return rank && strcmp(rank, "0") == 0 && (!node || strtoul(node, NULL, 10) < NODES_MAX);
}

/* The line's beginning, which tells the host where it is not the first rank's; "": nothing is said.
 */
static void begin(enum report_kind kind, char line[static 128])
{
    char host[65] = "";
    line[0] = '\0';
    if (first_rank())
        strcpy(line, "scope-profile: ");
    else if (kind == REPORT_LOADING && first_rank_of_early_node()) {
        gethostname(host, sizeof host - 1);
        snprintf(line, 128, "scope-profile: %s: ", host);
    }
}

void report_once(enum report_kind kind, const char *format, ...)
{
    static int said[REPORT_KINDS];
    char line[1200];
    int error = errno;
    va_list args;

    if (__atomic_exchange_n(&said[kind], 1, __ATOMIC_RELAXED))
        return;
    begin(kind, line);
    size_t length = strlen(line);
    if (length == 0) {
        errno = error;
        return;
    }
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
