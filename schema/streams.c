/* SPDX-License-Identifier: BSD-3-Clause */
/* The standard streams of a command line tool. */
#define _GNU_SOURCE
#include "schema/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void streams_prepare(void)
{
    signal(SIGXFSZ, SIG_IGN);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) /* closed: what is opened next gets this number */
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

/* Asked of the pipe itself: the errno of a write that failed long ago is gone. */
static int has_no_reader(int fd)
{
    struct pollfd pipe = {.fd = fd};
    return poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR);
}

static bool is_finished; /* who finished knows how that went */

int streams_finish(void)
{
    is_finished = true;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    return has_no_reader(STDOUT_FILENO) ? 0 : -1;
}

static pid_t checked;

static void check_output(void)
{
    enum { CANNOT_WRITE = 3 };
    if (is_finished || getpid() != checked || streams_finish() == 0)
        return;
    fprintf(stderr, "%s: cannot write to standard output\n", program_invocation_short_name);
    _exit(CANNOT_WRITE);
}

void streams_check_at_exit(void)
{
    checked = getpid();
    atexit(check_output);
}
