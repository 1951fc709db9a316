/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a long piece of work has come, on a terminal. */
#ifndef SCOPE_PROGRESS_H
#define SCOPE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct progress {
    uint64_t total, done;
    struct timespec start, shown;
    bool on, visible;
    pthread_mutex_t lock; /* of done and what follows from it: threads advance */
};

/* total: units of work. Shows nothing if not on, if stderr is no terminal, or in the first second.
 */
void progress_begin(struct progress *progress, uint64_t total, bool on);
void progress_advance(struct progress *progress, uint64_t units);
/* Takes the line off the terminal again: before a message, and at the end. */
void progress_clear(struct progress *progress);

#endif
