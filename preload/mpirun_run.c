/* SPDX-License-Identifier: BSD-3-Clause */
/* The run directory that the ranks of one mpirun share, and find without talking to each other. */
#define _GNU_SOURCE
#include "preload/mpirun_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RUNS_MAX = 10000, /* of one job */
    CLAIMS_MAX = 100  /* attempts on one number that others got, but do not seem to have */
};

enum holder { HOLDER_NOBODY, HOLDER_OURS, HOLDER_OTHER };

/* Whose run has the name. One whose profile was made, and which is gone since, keeps it. */
static enum holder look(int parent, const char *name, const char *first)
{
    char profile[NAME_MAX + 8];
    int run = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (run < 0) {
        snprintf(profile, sizeof profile, "%s.h5", name);
        return errno == ENOENT && faccessat(parent, profile, F_OK, 0) < 0 ? HOLDER_NOBODY
                                                                          : HOLDER_OTHER;
    }
    bool ours = faccessat(run, first, F_OK, 0) == 0;
    close(run);
    return ours ? HOLDER_OURS : HOLDER_OTHER;
}

/* Puts a directory that holds first into the place of name at once, so that nobody ever sees it
 * without. Returns 0; or -1 with errno: EEXIST or ENOTEMPTY if somebody else has the name. */
static int claim(int parent, const char *prefix, const char *name, const char *first)
{
    char host[64] = "", own[NAME_MAX + 1], inner[2 * (NAME_MAX + 1)];
    gethostname(host, sizeof host - 1);
    snprintf(own, sizeof own, ".%s-%s-%ld", prefix, host, (long)getpid());
    snprintf(inner, sizeof inner, "%s/%s", own, first);
    if (mkdirat(parent, own, 0777) < 0)
        return -1;
    if (mkdirat(parent, inner, 0777) == 0 && renameat(parent, own, parent, name) == 0)
        return 0;
    int reason = errno;
    unlinkat(parent, inner, AT_REMOVEDIR);
    unlinkat(parent, own, AT_REMOVEDIR);
    errno = reason;
    return -1;
}

int mpirun_run_find(int parent, const char *prefix, const char *world, int restart, char *name,
                    size_t size, struct error *err)
{
    char first[NAME_MAX + 1], again[16] = "";
    int claims = 0;
    snprintf(first, sizeof first, "%s-0", world);
    if (restart > 0)
        snprintf(again, sizeof again, "-r%d", restart);
    for (unsigned number = 1; number <= RUNS_MAX;) {
        int length = snprintf(name, size, "%s-%u%s", prefix, number, again);
        if (length < 0 || (size_t)length >= size)
            return error_set(err, "the run directory's name is too long");
        enum holder holder = look(parent, name, first);
        if (holder == HOLDER_OURS)
            return 0;
        if (holder == HOLDER_OTHER) {
            number++;
            continue;
        }
        if (claim(parent, prefix, name, first) == 0)
            return 0;
        if ((errno != EEXIST && errno != ENOTEMPTY) || ++claims == CLAIMS_MAX)
            return error_set(err, "cannot make the directory %s: %s", name, strerror(errno));
    }
    return error_set(err, "%d runs are named %s-N", RUNS_MAX, prefix);
}
