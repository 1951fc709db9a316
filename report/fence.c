/* SPDX-License-Identifier: BSD-3-Clause */
/* Work on an untrusted file in a child process. */
#define _GNU_SOURCE
#include "report/fence.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MIN = 10, BYTES_PER_SECOND = 4 << 20, MEMORY_FACTOR = 64 };
#define MEMORY_MIN ((rlim_t)1 << 30)
#define SIZE_MAX_LIMITED ((rlim_t)1 << 50)

/* Lowers a limit; never raises it. */
static void lower(int resource, rlim_t value)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) < 0)
        return;
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= value)
        return;
    limit.rlim_cur = value;
    setrlimit(resource, &limit);
}

static void limit_self(const char *path)
{
    struct stat info;
    rlim_t size = stat(path, &info) == 0 && info.st_size > 0 ? (rlim_t)info.st_size : 0;
    size = size < SIZE_MAX_LIMITED ? size : SIZE_MAX_LIMITED;
    lower(RLIMIT_CORE, 0);
    lower(RLIMIT_CPU, SECONDS_MIN + size / BYTES_PER_SECOND);
#ifndef __SANITIZE_ADDRESS__ /* whose shadow memory alone is larger than any limit */
    lower(RLIMIT_AS, MEMORY_MIN + MEMORY_FACTOR * size);
#endif
}

int fence_run(const char *path, int (*work)(void *data), void *data, struct error *err)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return error_set(err, "%s: cannot start a process: %s", path, strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        limit_self(path);
        _exit(work(data));
    }
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return error_set(err, "%s: cannot wait: %s", path, strerror(errno));
    }
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    if (WTERMSIG(status) == SIGPIPE) { /* who read our output has seen enough */
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return error_set(err, "%s: damaged: the HDF5 library fails on it (%s)", path,
                     strsignal(WTERMSIG(status)));
}
