/* SPDX-License-Identifier: BSD-3-Clause */
/* A child process that is waited for, but not for ever. */
#define _GNU_SOURCE
#include "spank/bounded_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "schema/descriptors.h"

enum { ATTEMPTS = 3, LOOK_MS = 20, DYING_MS = 100 };

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* --- in the child --------------------------------------------------------------------------------
 */

static _Noreturn void be_child(int (*work)(const void *data), const void *data, int ended)
{
    dup2(ended, 0); /* open as long as this process lives */
    descriptors_close_from(1);
    /* Without these a message would go into the next file that is opened. */
    if (open("/dev/null", O_RDWR) == 1)
        dup2(1, 2);
    _exit(work(data) != 0);
}

/* --- in the parent -------------------------------------------------------------------------------
 */

/* Waits until the child has ended: returns true and its wait status. The pipe's end tells it at
 * once, unless another child, started by another thread meanwhile, holds it, too. */
static bool has_ended_by(pid_t child, int ended, int64_t deadline, int *status)
{
    struct pollfd pipe_end = {.fd = ended, .events = POLLIN};
    for (;;) {
        pid_t got = waitpid(child, status, WNOHANG);
        if (got == child)
            return true;
        if (got < 0 && errno != EINTR) {
            *status = 0; /* somebody else has waited for it */
            return true;
        }
        int64_t left = deadline - now_ms();
        if (left <= 0)
            return false;
        if (poll(&pipe_end, 1, (int)(left < LOOK_MS ? left : LOOK_MS)) > 0)
            poll(NULL, 0, 1); /* it is about to end */
    }
}

/* One attempt. Returns 0 and the child's wait status, or -1. */
static int run_once(int (*work)(const void *data), const void *data, int64_t deadline, int *status)
{
    sigset_t all, before;
    int ended[2];
    if (pipe2(ended, O_CLOEXEC) < 0)
        return -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    if (child == 0)
        be_child(work, data, ended[1]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ended[1]);
    bool is_over = child > 0 && has_ended_by(child, ended[0], deadline, status);
    if (child > 0 && !is_over) {
        kill(child, SIGKILL);
        has_ended_by(child, ended[0], now_ms() + DYING_MS, status);
    }
    close(ended[0]);
    return is_over ? 0 : -1;
}

int bounded_child_run(int (*work)(const void *data), const void *data, int limit_ms)
{
    int64_t deadline = now_ms() + limit_ms;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int status;
        if (run_once(work, data, deadline, &status) < 0)
            return -1;
        if (!WIFSIGNALED(status))
            return status != 0;
    }
    return 1;
}
