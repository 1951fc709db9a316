/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a long piece of work has come, on a terminal. */
#include "merge/progress.h"

#include <stdio.h>
#include <unistd.h>

static double since(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + 1e-9 * (double)(to->tv_nsec - from->tv_nsec);
}

void progress_begin(struct progress *progress, bool on, size_t ranks)
{
    *progress = (struct progress){.on = on && isatty(STDERR_FILENO),
                                  .rank_total = ranks,
                                  .lock = PTHREAD_MUTEX_INITIALIZER};
}

void progress_phase(struct progress *progress, const char *what, uint64_t total,
                    unsigned unit_bytes)
{
    progress_clear(progress);
    progress->what = what;
    progress->total = total;
    progress->unit_bytes = unit_bytes;
    progress->done = progress->ranks = progress->events = 0;
    if (progress->on)
        clock_gettime(CLOCK_MONOTONIC, &progress->start);
    progress->shown = progress->start;
}

static void show(struct progress *progress)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = since(&progress->start, &now);
    if (progress->done == 0 || seconds < 1.0 || since(&progress->shown, &now) < 0.2)
        return;
    double share = (double)progress->done / (double)progress->total;
    share = share < 1.0 ? share : 1.0;
    progress->shown = now;
    progress->visible = true;
    fprintf(stderr,
            "\r%s: %3.0f %%, %zu of %zu ranks, %.1f million events, %.0f MB/s, %.0f s left\033[K",
            progress->what, 100.0 * share, progress->ranks, progress->rank_total,
            1e-6 * (double)progress->events,
            1e-6 * (double)progress->done * progress->unit_bytes / seconds,
            seconds * (1.0 - share) / share);
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

void progress_rank(struct progress *progress, uint64_t events)
{
    pthread_mutex_lock(&progress->lock);
    progress->ranks++;
    progress->events += events;
    pthread_mutex_unlock(&progress->lock);
}

void progress_clear(struct progress *progress)
{
    if (progress->visible)
        fputs("\r\033[K", stderr);
    progress->visible = false;
}
