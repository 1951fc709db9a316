/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program of ours prints, within bounds. */
#define _GNU_SOURCE
#include "spank/tool_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "schema/descriptors.h"

enum { FIRST_OTHER = 3, LOOK_MS = 2, DYING_MS = 100 };

static _Noreturn void be_tool(const char *const *arguments, char *const *environment, int output)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    descriptors_close_from(FIRST_OTHER);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(arguments[0], (char *const *)arguments, environment);
    _exit(127);
}

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Reads to the end of what is printed; false: it did not come, or there was no room. */
static bool read_to_end(int fd, int64_t deadline, char *text, size_t size)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    size_t length = 0;
    while (length < size - 1) {
        int64_t left = deadline - now_ms();
        if (left <= 0)
            return false;
        if (poll(&ready, 1, (int)left) <= 0)
            continue;
        ssize_t got = read(fd, text + length, size - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            text[length] = '\0';
            return got == 0;
        }
        length += (size_t)got;
    }
    return false;
}

/* A process that is asleep in a file system which hangs does not even end when it is killed. */
static bool has_ended_by(pid_t child, int64_t deadline, int *status)
{
    for (;;) {
        pid_t got = waitpid(child, status, WNOHANG);
        if (got == child)
            return true;
        if ((got < 0 && errno != EINTR) || now_ms() >= deadline)
            return false;
        poll(NULL, 0, LOOK_MS);
    }
}

int tool_output_read(const char *const *arguments, char *const *environment, int limit_ms,
                     char *text, size_t size, struct error *err)
{
    int64_t deadline = now_ms() + limit_ms;
    int ends[2], status = -1;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set(err, "%s cannot be started: %s", arguments[0], strerror(errno));
    pid_t child = fork();
    if (child == 0)
        be_tool(arguments, environment, ends[1]);
    close(ends[1]);
    bool is_whole = child > 0 && read_to_end(ends[0], deadline, text, size);
    close(ends[0]);
    bool has_ended = is_whole && has_ended_by(child, deadline, &status);
    if (child > 0 && !has_ended) {
        kill(child, SIGKILL);
        has_ended_by(child, now_ms() + DYING_MS, &status);
    }
    if (has_ended && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return error_set(err, "%s is not there", arguments[0]);
    return error_set(err, "%s did not come to its end", arguments[0]);
}
