/* SPDX-License-Identifier: BSD-3-Clause */
/* The standard streams of a command line tool. */
#include "schema/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
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

int streams_finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    return has_no_reader(STDOUT_FILENO) ? 0 : -1;
}
