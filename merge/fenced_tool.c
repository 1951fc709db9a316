/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that may crash, hang or say anything: what it answers, within bounds. */
#define _GNU_SOURCE
#include "merge/fenced_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "schema/descriptors.h"

enum { VARIABLES_MAX = 16, LOOK_MS = 200, ENDING_MS = 1000, FAILED = 127 };

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* --- in the child --------------------------------------------------------------------------------
 */

static _Noreturn void be_tool(const struct fenced_tool *tool, char *const *environment, int output,
                              int messages)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR), input = tool->input;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    setpgid(0, 0);
    if (input == FENCED_TOOL_INPUT)
        fcntl(input, F_SETFD, 0);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(messages, STDERR_FILENO) < 0 || dup2(input, FENCED_TOOL_INPUT) < 0)
        _exit(FAILED);
    descriptors_close_from(FENCED_TOOL_INPUT + 1);
    execve(tool->arguments[0], (char *const *)tool->arguments, environment);
    _exit(FAILED);
}

/* --- in the parent -------------------------------------------------------------------------------
 */

/* "NAME=value" for each variable that there is. */
static int make_environment(const struct fenced_tool *tool, char *environment[VARIABLES_MAX + 1])
{
    size_t count = 0;
    memset(environment, 0, (VARIABLES_MAX + 1) * sizeof(*environment));
    for (size_t i = 0; tool->variables[i] && count < VARIABLES_MAX; i++) {
        const char *value = getenv(tool->variables[i]);
        if (value && asprintf(&environment[count++], "%s=%s", tool->variables[i], value) < 0) {
            environment[count - 1] = NULL;
            return -1;
        }
    }
    return 0;
}

static void take_message(struct fenced_tool *tool, struct pollfd *ready)
{
    char text[4096];
    size_t have = strlen(tool->said);
    ssize_t got = read(ready->fd, text, sizeof text);
    if (got <= 0 && !(got < 0 && errno == EINTR))
        ready->fd = -1;
    for (ssize_t i = 0; i < got && have + 1 < sizeof tool->said; i++)
        tool->said[have++] = text[i] ? text[i] : '?';
    tool->said[have] = '\0';
}

/* Returns whether there may be more. */
static bool take_answer(struct fenced_tool *tool, size_t *room, int fd)
{
    if (tool->length + 1 >= *room) {
        size_t size = *room ? 2 * *room : 64 * 1024;
        char *more = tool->length < tool->most ? realloc(tool->text, size) : NULL;
        tool->is_too_long = !more;
        if (!more)
            return false;
        tool->text = more;
        *room = size;
    }
    ssize_t got = read(fd, tool->text + tool->length, *room - 1 - tool->length);
    if (got > 0)
        tool->length += (size_t)got;
    return got > 0 || (got < 0 && errno == EINTR);
}

/* Returns whether the child has ended; it is then reaped. What it started may still hold the pipes,
 * so that their end is not waited for. */
static bool read_all(struct fenced_tool *tool, pid_t child, int output, int messages)
{
    struct pollfd ready[] = {{.fd = output, .events = POLLIN}, {.fd = messages, .events = POLLIN}};
    int64_t deadline = now_ms() + tool->limit_ms;
    bool has_ended = false, goes_on = true;
    size_t room = 0;
    while (goes_on) {
        int64_t left = deadline - now_ms();
        tool->is_too_slow = left <= 0 && !has_ended;
        int got = left <= 0 ? 0 : poll(ready, 2, (int)(left < LOOK_MS ? left : LOOK_MS));
        if (left <= 0 || (got == 0 && has_ended) || (got < 0 && errno != EINTR))
            break;
        if (got > 0 && ready[1].fd >= 0 && ready[1].revents)
            take_message(tool, &ready[1]);
        if (got > 0 && ready[0].revents)
            goes_on = take_answer(tool, &room, output);
        if (got == 0)
            has_ended = waitpid(child, &tool->status, WNOHANG) == child;
    }
    if (tool->text)
        tool->text[tool->length] = '\0';
    return has_ended;
}

/* One that has closed its output is about to end. */
static void end(struct fenced_tool *tool, pid_t child, bool has_ended)
{
    int64_t deadline = now_ms() + ENDING_MS;
    while (!has_ended && !tool->is_too_slow && !tool->is_too_long && now_ms() < deadline) {
        has_ended = waitpid(child, &tool->status, WNOHANG) == child;
        if (!has_ended)
            poll(NULL, 0, 1);
    }
    kill(-child, SIGKILL);
    if (has_ended)
        return;
    kill(child, SIGKILL); /* it may not have made its group yet */
    while (waitpid(child, &tool->status, 0) < 0 && errno == EINTR)
        continue;
}

/* What it said before it ended: no more than a pipe holds, for who left its group may go on. */
static void take_rest(struct fenced_tool *tool, int messages)
{
    enum { READS = 16 };
    struct pollfd ready = {.fd = messages, .events = POLLIN};
    for (int i = 0; i < READS && ready.fd >= 0 && poll(&ready, 1, 0) > 0; i++)
        take_message(tool, &ready);
}

static void keep_first_line(char *said)
{
    size_t blank = strspn(said, " \t\r\n");
    memmove(said, said + blank, strlen(said + blank) + 1);
    said[strcspn(said, "\r\n")] = '\0';
    for (; *said; said++) {
        if ((unsigned char)*said < ' ' || *said == 127)
            *said = '?';
    }
}

static pid_t start(const struct fenced_tool *tool, const int output[2], const int messages[2])
{
    char *environment[VARIABLES_MAX + 1];
    pid_t child = make_environment(tool, environment) < 0 ? -1 : fork();
    int reason = errno;
    if (child == 0)
        be_tool(tool, environment, output[1], messages[1]);
    for (size_t i = 0; i < VARIABLES_MAX; i++)
        free(environment[i]);
    errno = reason;
    return child;
}

int fenced_tool_run(struct fenced_tool *tool)
{
    int output[2], messages[2];
    int64_t begun = now_ms();
    if (pipe2(output, O_CLOEXEC) < 0)
        return -1;
    if (pipe2(messages, O_CLOEXEC) < 0) {
        close(output[0]);
        close(output[1]);
        return -1;
    }
    pid_t child = start(tool, output, messages);
    int reason = errno;
    close(output[1]);
    close(messages[1]);
    if (child > 0) {
        bool has_ended = read_all(tool, child, output[0], messages[0]);
        end(tool, child, has_ended);
        take_rest(tool, messages[0]);
        keep_first_line(tool->said);
    }
    close(output[0]);
    close(messages[0]);
    tool->took_ms = now_ms() - begun;
    errno = reason;
    return child > 0 ? 0 : -1;
}
