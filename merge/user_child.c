/* SPDX-License-Identifier: BSD-3-Clause */
/* A child process that has the ids of a user and nothing of root's. */
#define _GNU_SOURCE
#include "merge/user_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "schema/descriptors.h"

enum { LOOK_MS = 50, CLEANING_MS = 500, DYING_MS = 200, NICE = 10 };

#define ADDRESS_SPACE ((rlim_t)1 << 31)

int64_t user_child_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* --- in the child --------------------------------------------------------------------------------
 */

static int redirect(int output)
{
    if (dup2(output, STDERR_FILENO) < 0)
        return -1;
    close(STDIN_FILENO);
    if (open("/dev/null", O_RDWR) != STDIN_FILENO || dup2(STDIN_FILENO, STDOUT_FILENO) < 0)
        return -1;
    descriptors_close_from(STDERR_FILENO + 1);
    return 0;
}

static void lower(int resource, rlim_t most)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) < 0)
        return;
    if (limit.rlim_max > most)
        limit.rlim_max = most;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
}

static void reset_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* All that does not depend on who this process is. */
static int prepare(int output)
{
    reset_signals();
    if (redirect(output) < 0 || clearenv() != 0 || setenv("PATH", "/usr/bin:/bin", 1) < 0 ||
        setenv("HOME", "/", 1) < 0 || chdir("/") < 0)
        return -1;
    umask(077);
    setpriority(PRIO_PROCESS, 0, NICE);
    lower(RLIMIT_AS, ADDRESS_SPACE);
    lower(RLIMIT_CORE, 0);
    return 0;
}

static _Noreturn void be_child(const struct user_ids *ids, int output, pid_t parent,
                               int (*work)(const void *data), const void *data)
{
    enum { FAILED = 125 };
    /* The kernel forgets both when the ids change. Untraced, because the user's other processes
     * could otherwise take over this one, which no job's limits hold. */
    if (prepare(output) < 0 || user_ids_assume(ids) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
        _exit(FAILED);
    _exit(work(data));
}

int user_child_start(struct user_child *child, const struct user_ids *ids,
                     int (*work)(const void *data), const void *data)
{
    int output[2];
    pid_t parent = getpid();
    child->length = 0;
    child->text[0] = '\0';
    if (pipe2(output, O_CLOEXEC) < 0)
        return -1;
    child->pid = fork();
    if (child->pid == 0)
        be_child(ids, output[1], parent, work, data);
    int reason = errno;
    close(output[1]);
    child->output = output[0];
    if (child->pid > 0)
        return 0;
    close(output[0]);
    errno = reason;
    return -1;
}

/* --- in the parent -------------------------------------------------------------------------------
 */

/* Takes what was said; what is too much is dropped. Returns whether more may come. */
static bool take_text(struct user_child *child)
{
    char text[USER_CHILD_TEXT];
    ssize_t got = read(child->output, text, sizeof text);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    for (ssize_t i = 0; i < got && child->length + 1 < sizeof child->text; i++)
        child->text[child->length++] = text[i] ? text[i] : '?';
    child->text[child->length] = '\0';
    return true;
}

/* Whether the child has ended by then; it is then reaped. The pipe's end tells it at once. */
static bool has_ended_by(struct user_child *child, int64_t deadline, int *status)
{
    struct pollfd output = {.fd = child->output, .events = POLLIN};
    int look_ms = LOOK_MS;
    for (;;) {
        pid_t got = waitpid(child->pid, status, WNOHANG);
        if (got == child->pid || (got < 0 && errno != EINTR))
            return true;
        int64_t left = deadline - user_child_now();
        if (left <= 0)
            return false;
        if (poll(&output, 1, (int)(left < look_ms ? left : look_ms)) > 0 && !take_text(child)) {
            output.fd = -1; /* it is about to end */
            look_ms = 1;
        }
    }
}

static void take_rest(struct user_child *child)
{
    struct pollfd output = {.fd = child->output, .events = POLLIN};
    while (poll(&output, 1, 0) > 0 && take_text(child))
        ;
    close(child->output);
}

int user_child_wait(struct user_child *child, int64_t deadline)
{
    int status = 0;
    bool is_over = has_ended_by(child, deadline, &status), was_ended = !is_over;
    if (!is_over) {
        kill(child->pid, SIGTERM);
        is_over = has_ended_by(child, user_child_now() + CLEANING_MS, &status);
    }
    if (!is_over) {
        kill(child->pid, SIGKILL);
        is_over = has_ended_by(child, user_child_now() + DYING_MS, &status);
    }
    take_rest(child);
    if (!is_over)
        return -2;
    return was_ended || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
}
