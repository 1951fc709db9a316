/* SPDX-License-Identifier: BSD-3-Clause */
/* The regions of LIKWID that a program without markers of its own gets. */
#define _GNU_SOURCE
#include "preload/likwid_regions.h"

#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "preload/likwid_helper.h"
#include "preload/likwid_snapshot.h"
#include "schema/likwid_record.h"
#include "schema/lock.h"

/* How long the program waits at most, once: sp-likwid-try did the same on these CPUs just now. The
 * results of all CPUs are looked at after a second, then ever more seldom. */
enum { READY_MS = 20000, ANSWER_MS = 5000, LOOK_EVERY_MAX = 8 };

bool likwid_regions_mpi;

static struct {
    bool is_wanted;
    bool is_on;         /* app has begun */
    lock_t lock;        /* over the helper, of threads in MPI calls */
    uint64_t next_look; /* ticks */
    uint64_t second;    /* ticks */
    unsigned every;     /* seconds */
    void (*lost)(const char *reason);
} regions;

static int is_likwid(struct dl_phdr_info *info, size_t size, void *data)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size, (void)data;
    return strncmp(slash ? slash + 1 : info->dlpi_name, "liblikwid.so", 12) == 0;
}

void likwid_regions_prepare(const char *record)
{
    int error = errno;
    if (record && strstr(record, "\t" LIKWID_RECORD_END "\t") &&
        !dl_iterate_phdr(is_likwid, NULL) && !likwid_helper_runs()) {
        regions.is_wanted = true;
        likwid_helper_start(SP_LIKWID_COUNT_PATH);
    }
    errno = error;
}

bool likwid_regions_await(char reason[static LIKWID_COUNT_REASON])
{
    return !regions.is_wanted || likwid_helper_await(READY_MS, reason);
}

/* After a request that found nobody any more nothing is asked again. */
static bool ask(enum likwid_count_verb verb, int32_t cpu,
                void (*see)(const struct likwid_count_result *result))
{
    struct likwid_count_request request = {.verb = verb, .cpu = cpu};
    char reason[LIKWID_COUNT_REASON];
    bool is_good = likwid_helper_ask(&request, see, ANSWER_MS, reason);
    if (!is_good) {
        regions.is_on = likwid_regions_mpi = false;
        regions.lost(reason);
    }
    return is_good;
}

bool likwid_regions_begin(const char *markers, bool with_mpi, uint64_t ticks, uint64_t second,
                          void (*lost)(const char *reason))
{
    static struct likwid_count_request request = {.verb = LIKWID_COUNT_BEGIN};
    char reason[LIKWID_COUNT_REASON];
    int length = snprintf(request.path, sizeof request.path, "%s", markers);
    if (!likwid_helper_runs() || length < 0 || (size_t)length >= sizeof request.path) {
        likwid_helper_leave();
        return false;
    }
    if (!likwid_helper_ask(&request, NULL, ANSWER_MS, reason)) {
        lost(reason);
        return false;
    }
    regions.lost = lost;
    regions.second = second;
    regions.every = 1;
    regions.next_look = ticks + second;
    regions.is_on = true;
    likwid_regions_mpi = with_mpi;
    return true;
}

void likwid_regions_enter(int32_t *cpu)
{
    int error = errno, here = sched_getcpu();
    uint64_t signals = lock_take_hold(&regions.lock);
    *cpu = likwid_regions_mpi && here >= 0 && ask(LIKWID_COUNT_ENTER, here, NULL) ? here + 1 : 0;
    lock_give_let(&regions.lock, signals);
    errno = error;
}

void likwid_regions_leave(int32_t *cpu)
{
    int error = errno;
    uint64_t signals = lock_take_hold(&regions.lock);
    if (likwid_regions_mpi && *cpu > 0)
        ask(LIKWID_COUNT_LEAVE, *cpu - 1, NULL);
    *cpu = 0;
    lock_give_let(&regions.lock, signals);
    errno = error;
}

void likwid_regions_look(uint64_t ticks)
{
    if (!regions.is_on || ticks < regions.next_look)
        return;
    uint64_t signals = lock_take_hold(&regions.lock);
    if (regions.is_on && ticks >= regions.next_look) {
        regions.every = regions.every < LOOK_EVERY_MAX ? 2 * regions.every : LOOK_EVERY_MAX;
        regions.next_look = ticks + regions.every * regions.second;
        ask(LIKWID_COUNT_LOOK, 0, likwid_snapshot_keep);
    }
    lock_give_let(&regions.lock, signals);
}

void likwid_regions_end(void)
{
    uint64_t signals = lock_take_hold(&regions.lock);
    if (regions.is_on)
        ask(LIKWID_COUNT_CLOSE, 0, likwid_snapshot_keep);
    regions.is_on = likwid_regions_mpi = false;
    likwid_helper_leave();
    lock_give_let(&regions.lock, signals);
}

void likwid_regions_drop(void)
{
    regions.lock = 0;
    regions.is_on = likwid_regions_mpi = false;
    likwid_helper_leave();
}
