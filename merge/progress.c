/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a long piece of work has come, on a terminal. */
#include "merge/progress.h"

#include <stdio.h>
#include <unistd.h>

static double since(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + 1e-9 * (double)(to->tv_nsec - from->tv_nsec);
}

void progress_begin(struct progress *progress, uint64_t total, bool on)
{
    *progress = (struct progress){.total = total,
                                   .on = on && isatty(STDERR_FILENO),
                                   .lock = PTHREAD_MUTEX_INITIALIZER};
    if (progress->on)
        clock_gettime(CLOCK_MONOTONIC, &progress->start);
    progress->shown = progress->start;
}

static void show(struct progress *progress)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (since(&progress->start, &now) < 1.0 || since(&progress->shown, &now) < 0.2)
        return;
    double share = (double)progress->done / (double)progress->total;
    progress->shown = now;
    progress->visible = true;
    fprintf(stderr, "\rmerging: %3.0f %%", 100.0 * (share < 1.0 ? share : 1.0));
    fflush(stderr);
}

void progress_advance(struct progress *progress, uint64_t units)
{
    pthread_mutex_lock(&progress->lock);
    progress->done += units;
    if (progress->on && progress->total > 0)
        show(progress);
    pthread_mutex_unlock(&progress->lock);
}

void progress_clear(struct progress *progress)
{
    if (progress->visible)
        fputs("\r\033[K", stderr);
    progress->visible = false;
}
