/* SPDX-License-Identifier: BSD-3-Clause */
/* A child process that this one stands for: it passes signals on and takes over the exit status. */
#define _GNU_SOURCE
#include "launch/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127, KILLED = 128 };

static _Noreturn void become(char *const argv[], const struct child_variable *variables)
{
    for (; variables->name; variables++) {
        if (variables->value && setenv(variables->name, variables->value, 1) < 0)
            break; /* out of memory, and execvp will say so */
    }
    execvp(argv[0], argv);
    int reason = errno;
    fprintf(stderr, "sp-run: cannot run %s: %s\n", argv[0], strerror(reason));
    _exit(reason == ENOENT || reason == ENOTDIR ? NOT_FOUND : NOT_EXECUTABLE);
}

static int exit_status(int status)
{
    return WIFSIGNALED(status) ? KILLED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Takes signals, which are blocked, until the child has ended. */
static int wait_for(pid_t child, const sigset_t *signals, struct child_end *end)
{
    for (;;) {
        siginfo_t info;
        int status, number = sigwaitinfo(signals, &info);
        pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child) {
            *end = (struct child_end){child, status};
            return exit_status(status);
        }
        if (got < 0 && errno != EINTR) {
            fprintf(stderr, "sp-run: the child's exit status is lost: %s\n", strerror(errno));
            return NOT_EXECUTABLE;
        }
        if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL)
            kill(child, number);
    }
}

int child_run(char *const argv[], const struct child_variable *variables, struct child_end *end)
{
    static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                    SIGUSR2, SIGALRM, SIGXCPU, SIGCHLD};
    sigset_t signals, before;
    struct child_end unwanted;
    int status = NOT_EXECUTABLE;
    if (!end)
        end = &unwanted;
    *end = (struct child_end){.pid = -1};
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(&signals, passed_on[i]);
    signal(SIGCHLD, SIG_DFL); /* ignored, as some parents leave it, no status could be had */
    sigprocmask(SIG_BLOCK, &signals, &before);
    pid_t child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        become(argv, variables);
    }
    if (child < 0)
        fprintf(stderr, "sp-run: cannot start a process: %s\n", strerror(errno));
    else
        status = wait_for(child, &signals, end);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
