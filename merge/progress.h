/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a long piece of work has come, on a terminal. */
#ifndef SCOPE_PROGRESS_H
#define SCOPE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct progress {
    const char *what; /* is done: "reading" */
    bool on, visible;
    struct timespec start, shown;
    pthread_mutex_t lock; /* of what follows: threads advance */
    uint64_t total, done; /* units of work */
    unsigned unit_bytes;  /* that one of them stands for */
    size_t ranks, rank_total;
    uint64_t events; /* of these ranks */
};

/* Shows nothing if not on, if stderr is no terminal, or in the first second. */
void progress_begin(struct progress *progress, bool on, size_t ranks);
/* A piece of work of total units, each of so many bytes, begins. */
void progress_phase(struct progress *progress, const char *what, uint64_t total,
                    unsigned unit_bytes);
void progress_advance(struct progress *progress, uint64_t units);
/* One more rank, with so many events, has come through the phase. */
void progress_rank(struct progress *progress, uint64_t events);
/* Takes the line off the terminal again: before a message, and at the end. */
void progress_clear(struct progress *progress);

#endif
