/* SPDX-License-Identifier: BSD-3-Clause */
/* Items that several threads work on, and that are joined in their order. */
#define _GNU_SOURCE
#include "merge/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    THREADS_DEFAULT_MAX = 8,
    STACK_SIZE = 512 << 10, /* the usual 8 MiB would count against a limit of address space */
    AHEAD_MAX = 1024,       /* items worked on and not yet joined: they take memory */
};

struct team {
    const struct workers *workers;
    size_t count, next, joined; /* items; next: the first that nobody has taken */
    bool *done;
    bool has_failed;
    struct error *err;
    pthread_mutex_t lock; /* of all above */
    pthread_cond_t moved;
};

unsigned workers_default(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > THREADS_DEFAULT_MAX ? THREADS_DEFAULT_MAX : (unsigned)count;
}

static void note(struct team *team, int status, const struct error *problem)
{
    if (status < 0 && !team->has_failed) {
        *team->err = *problem;
        team->has_failed = true;
    }
}

static int join(const struct team *team, size_t item, struct error *problem)
{
    const struct workers *workers = team->workers;
    return workers->join ? workers->join(workers->context, item, problem) : 0;
}

/* Works on one item, without the lock. */
static void take_item(struct team *team)
{
    const struct workers *workers = team->workers;
    struct error problem;
    size_t item = team->next++;
    pthread_mutex_unlock(&team->lock);
    int status = workers->work(workers->context, item, &problem);
    pthread_mutex_lock(&team->lock);
    note(team, status, &problem);
    team->done[item] = true;
    while (!team->has_failed && team->joined < team->next && team->done[team->joined])
        note(team, join(team, team->joined++, &problem), &problem);
    pthread_cond_broadcast(&team->moved);
}

static void *work(void *argument)
{
    struct team *team = argument;
    pthread_mutex_lock(&team->lock);
    while (!team->has_failed && team->next < team->count) {
        if (team->next - team->joined < AHEAD_MAX)
            take_item(team);
        else /* for whoever works on the next one to join */
            pthread_cond_wait(&team->moved, &team->lock);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

/* Starts up to wanted threads; how many there are. Fewer do the work as well. */
static unsigned start(struct team *team, pthread_t *threads, unsigned wanted)
{
    pthread_attr_t attributes;
    unsigned count = 0;
    if (wanted == 0 || pthread_attr_init(&attributes) != 0)
        return 0;
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    while (count < wanted && pthread_create(&threads[count], &attributes, work, team) == 0)
        count++;
    pthread_attr_destroy(&attributes);
    return count;
}

int workers_run(const struct workers *workers, size_t count, struct error *err)
{
    pthread_t threads[WORKERS_MAX];
    size_t most = workers->threads < WORKERS_MAX ? workers->threads : WORKERS_MAX;
    size_t wanted = count < most ? count : most;
    struct team team = {.workers = workers,
                        .count = count,
                        .done = calloc(count + 1, sizeof(*team.done)),
                        .err = err,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .moved = PTHREAD_COND_INITIALIZER};
    if (!team.done)
        return error_set(err, "out of memory");
    unsigned started = start(&team, threads, wanted > 1 ? (unsigned)wanted - 1 : 0);
    work(&team);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(team.done);
    return team.has_failed ? -1 : 0;
}
