/* SPDX-License-Identifier: BSD-3-Clause */
/* A child process that this one stands for: it passes signals on and takes over the exit status. */
#ifndef SCOPE_CHILD_H
#define SCOPE_CHILD_H

#include <sys/types.h>

/* How the child ended. */
struct child_end {
    pid_t pid;  /* -1: it was not started, or its end is not known */
    int status; /* as waitpid(2) has it */
};

/* A change of the child's environment: value NULL leaves the variable as it is. */
struct child_variable {
    const char *name, *value;
};

/* Runs argv (NULL-terminated, looked up along PATH) with the variables (up to one whose name is
 * NULL) changed, and waits for it. A signal sent to this process is passed on to the child; one
 * that a terminal sends reaches the child by itself, and both live on as the child decides. Returns
 * what a shell would: the exit status, 128 + the signal that killed it, 127 if there is no such
 * program, 126 if it cannot be run; the last two after having said so on stderr. How it really
 * ended goes to *end, which may be NULL. */
int child_run(char *const argv[], const struct child_variable *variables, struct child_end *end);

#endif
