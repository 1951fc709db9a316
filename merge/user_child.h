/* SPDX-License-Identifier: BSD-3-Clause */
/* A child process that has the ids of a user and nothing of root's. */
#ifndef SCOPE_USER_CHILD_H
#define SCOPE_USER_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "schema/user_ids.h"

enum { USER_CHILD_TEXT = 4096 };

struct user_child {
    pid_t pid;
    int output; /* what it says on stderr */
    char text[USER_CHILD_TEXT];
    size_t length;
};

/* Milliseconds of a clock that only goes on. */
int64_t user_child_now(void);

/* Starts work(data) in a child process and makes its return value the exit status. The child has
 * the ids, no descriptor but /dev/null and stderr, which is read here, no environment but PATH and
 * HOME=/, the root directory to work in, little priority, bounded memory and no core; it cannot be
 * traced, and ends with its parent. For a process without threads. Returns 0, or -1 with errno. */
int user_child_start(struct user_child *child, const struct user_ids *ids,
                     int (*work)(const void *data), const void *data);

/* Waits until the child has ended, at most until deadline; then it is asked to end (SIGTERM, so
 * that it cleans up), and made to. Returns its exit status; -1 if it had to be ended, or ended by a
 * signal; -2 if it could not even be ended: then the file system does not answer. What it said is
 * in child->text, terminated. */
int user_child_wait(struct user_child *child, int64_t deadline);

#endif
