/* SPDX-License-Identifier: BSD-3-Clause */
/* The process that counts for this rank. */
#define _GNU_SOURCE
#include "preload/likwid_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FD_FLOOR = 56 };              /* out of the way of programs that count on numbers */
enum { STACK_SIZE = 64 * 1024 };     /* of each of the two that are started */
enum { VARIABLES_MAX = 32 };

static struct {
    int fd; /* 0: there is none */
    dev_t device;
    ino_t inode;
} helper;

/* --- its start -----------------------------------------------------------------------------------
 */

struct start {
    const char *path;
    char **environment;
    char *stack; /* for the second process */
    int socket;
    bool has_failed;
};

/* All that sp-likwid-count needs; it is no part of the run. */
static void choose_environment(char *chosen[static VARIABLES_MAX])
{
    static const char *const kept[] = {"PATH=",           "HOME=",          "LD_LIBRARY_PATH=",
                                       "LIKWID_MODE=",    "LIKWID_FORCE=",  "LIKWID_EVENTS=",
                                       "LIKWID_THREADS=", "LIKWID_FILEPATH="};
    size_t count = 0;
    for (char **variable = environ; variable && *variable; variable++) {
        for (size_t i = 0; i < sizeof kept / sizeof *kept && count < VARIABLES_MAX - 1; i++) {
            if (strncmp(*variable, kept[i], strlen(kept[i])) == 0)
                chosen[count++] = *variable;
        }
    }
    chosen[count] = NULL;
}

/* Of a group of its own: nobody takes it for a task, no signal to the task's group reaches it. */
static int become_helper(void *data)
{
    struct start *start = data;
    char *arguments[] = {"sp-likwid-count", NULL};
    setpgid(0, 0);
    if (dup2(start->socket, STDIN_FILENO) == STDIN_FILENO)
        execve(start->path, arguments, start->environment);
    start->has_failed = true;
    _exit(127);
}

static int start_second(void *data)
{
    struct start *start = data;
    if (clone(become_helper, start->stack + STACK_SIZE, CLONE_VM | CLONE_VFORK, start) < 0)
        start->has_failed = true;
    _exit(0);
}

/* The program may wait for children of its own, and be told when one ends. So the first process,
 * which only who waits for such sees (__WCLONE) and which tells nobody of its end, starts the second
 * and goes. Both use our memory while we wait, as those of vfork() do. */
static bool start_both(struct start *start)
{
    char *stacks = mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
    if (stacks == MAP_FAILED)
        return false;
    start->stack = stacks + STACK_SIZE;
    pid_t first = clone(start_second, stacks + STACK_SIZE, CLONE_VM | CLONE_VFORK, start);
    while (first > 0 && syscall(SYS_wait4, first, NULL, __WCLONE, NULL) < 0 && errno == EINTR)
        continue;
    munmap(stacks, 2 * STACK_SIZE);
    return first > 0 && !start->has_failed;
}

/* Not fstat(3): that name is newer than the C libraries that this one must start under. */
static int socket_stat(int fd, struct stat *status)
{
    return (int)syscall(SYS_fstat, fd, status);
}

static bool keep_socket(int fd)
{
    struct stat is;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
    if (high >= 0) /* else a low limit on descriptors: the one we have serves */
        close(fd);
    helper.fd = high >= 0 ? high : fd;
    if (socket_stat(helper.fd, &is) < 0)
        return false;
    helper.device = is.st_dev;
    helper.inode = is.st_ino;
    return true;
}

bool likwid_helper_start(const char *path)
{
    char *environment[VARIABLES_MAX];
    int ends[2], error = errno;
    sigset_t all, old;
    if (access(path, X_OK) < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        errno = error;
        return false;
    }
    choose_environment(environment);
    struct start start = {.path = path, .environment = environment, .socket = ends[1]};
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    bool is_started = start_both(&start);
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(ends[1]);
    if (!keep_socket(ends[0]) || !is_started)
        likwid_helper_leave();
    errno = error;
    return helper.fd > 0;
}

/* --- its words -----------------------------------------------------------------------------------
 */

/* The socket; 0: there is none, or the program has closed the descriptor, whose number may be that
 * of a file of its own by now. */
static int socket_of(void)
{
    struct stat is;
    if (helper.fd > 0 &&
        (socket_stat(helper.fd, &is) < 0 || is.st_dev != helper.device ||
         is.st_ino != helper.inode))
        helper.fd = 0;
    return helper.fd;
}

bool likwid_helper_runs(void)
{
    return helper.fd > 0;
}

void likwid_helper_leave(void)
{
    int error = errno, fd = socket_of();
    if (fd > 0)
        (void)syscall(SYS_close, fd);
    helper.fd = 0;
    errno = error;
}

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static bool fail(char reason[static LIKWID_COUNT_REASON], const char *why)
{
    likwid_helper_leave();
    snprintf(reason, LIKWID_COUNT_REASON, "%s", why);
    return false;
}

/* Here and below, by syscall(2): the functions are points at which pthread_cancel ends a thread.
 * Returns false if nothing has come by then. */
static bool await_packet(int fd, int64_t deadline)
{
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        int64_t left = deadline - now_ms();
        struct timespec limit = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
        long status = left > 0 ? syscall(SYS_ppoll, &ready, 1, &limit, NULL, 0) : 0;
        if (status > 0)
            return true;
        if (status == 0 || errno != EINTR)
            return false;
    }
}

/* Results, and the reply behind them. */
static bool take_reply(int fd, void (*see)(const struct likwid_count_result *result), int limit_ms,
                       char reason[static LIKWID_COUNT_REASON])
{
    union {
        struct likwid_count_reply reply;
        struct likwid_count_result result;
    } packet;
    int64_t deadline = now_ms() + limit_ms;
    for (;;) {
        if (!await_packet(fd, deadline))
            return fail(reason, "LIKWID does not come back");
        long got = syscall(SYS_recvfrom, fd, &packet, sizeof packet, 0, NULL, NULL);
        if (got == sizeof packet.result && see)
            see(&packet.result);
        else if (got != sizeof packet.reply)
            return fail(reason, "the process that counts has ended");
        else if (packet.reply.is_failed)
            return fail(reason, packet.reply.reason);
        else
            return true;
    }
}

bool likwid_helper_await(int limit_ms, char reason[static LIKWID_COUNT_REASON])
{
    int error = errno, fd = socket_of();
    bool is_good = fd > 0 ? take_reply(fd, NULL, limit_ms, reason)
                          : fail(reason, "sp-likwid-count cannot be started");
    errno = error;
    return is_good;
}

bool likwid_helper_ask(const struct likwid_count_request *request,
                       void (*see)(const struct likwid_count_result *result), int limit_ms,
                       char reason[static LIKWID_COUNT_REASON])
{
    int error = errno, fd = socket_of();
    size_t size = offsetof(struct likwid_count_request, path) + strlen(request->path);
    sigset_t all, old;
    bool is_good;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    if (fd <= 0 || syscall(SYS_sendto, fd, request, size, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0) !=
                       (long)size)
        is_good = fail(reason, "the process that counts has ended");
    else
        is_good = take_reply(fd, see, limit_ms, reason);
    sigprocmask(SIG_SETMASK, &old, NULL);
    errno = error;
    return is_good;
}
