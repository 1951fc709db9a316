/* SPDX-License-Identifier: BSD-3-Clause */
/* The merge that srun starts when the step has ended. */
#define _GNU_SOURCE
#include "spank/merge_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int spawn(pid_t *child, const char *tool, const char *run, const struct epilog_terms *terms)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    sigset_t none, all;
    char wait[32], threads[32];
    char *argv[] = {(char *)tool, (char *)"--auto", wait, threads, (char *)"--", (char *)run, NULL};
    snprintf(wait, sizeof wait, "--wait=%u", (unsigned)terms->wait_s);
    snprintf(threads, sizeof threads, "--threads=%u", (unsigned)terms->threads);

    /* srun blocks its signals in this thread, and a child would inherit that. */
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    int reason = posix_spawn(child, tool, &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return reason;
}

/* Hands a signal for srun on to the child. A terminal sends Ctrl-C to both by itself. */
static void forward(int signals, pid_t child)
{
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_code != SI_KERNEL)
            kill(child, (int)info.ssi_signo);
    }
}

/* Whether the child has ended; it is then reaped, and *status is its own. flags as for waitpid. */
static bool has_ended(pid_t child, int flags, int *status)
{
    pid_t got = waitpid(child, status, flags);
    return got == child || (got < 0 && errno != EINTR);
}

/* Waits until the child has ended and returns its wait status. The pipe's end tells it at once,
 * unless the child left another process behind that holds it, which the look every so often finds
 * out. */
static int wait_for(pid_t child, int ended, const sigset_t *stop)
{
    enum { LOOK_MS = 200 };
    int signals = signalfd(-1, stop, SFD_NONBLOCK | SFD_CLOEXEC);
    struct pollfd wait[] = {{.fd = ended, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
    int flags = WNOHANG, status = 0;
    while (!has_ended(child, flags, &status)) {
        if (poll(wait, 2, LOOK_MS) <= 0)
            continue;
        if (wait[1].revents)
            forward(signals, child);
        if (wait[0].revents)
            flags = 0; /* it is about to end */
    }
    if (signals >= 0)
        close(signals);
    return status;
}

void merge_child_run(const char *tool, const char *run, const struct epilog_terms *terms)
{
    sigset_t stop, before;
    int ended[2];
    pid_t child;

    if (access(run, F_OK) < 0)
        return;                /* no rank came past MPI_Init */
    if (pipe2(ended, 0) < 0) { /* the child keeps the writing end open as long as it lives */
        fprintf(stderr, "scope-profile: no merge: %s; the traces are in %s\n", strerror(errno),
                run);
        return;
    }
    fcntl(ended[0], F_SETFD, FD_CLOEXEC);
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGHUP);
    sigaddset(&stop, SIGQUIT);
    sigprocmask(SIG_BLOCK, &stop, &before);
    int reason = spawn(&child, tool, run, terms);
    close(ended[1]);
    int status = reason == 0 ? wait_for(child, ended[0], &stop) : 0;
    if (WIFSIGNALED(status))
        fprintf(stderr, "scope-profile: the merge was stopped; \"sp-merge %s\" makes the profile\n",
                run);
    if (reason != 0)
        fprintf(stderr, "scope-profile: cannot start %s: %s; the traces are in %s\n", tool,
                strerror(reason), run);
    close(ended[0]);
    sigprocmask(SIG_SETMASK, &before, NULL);
}
