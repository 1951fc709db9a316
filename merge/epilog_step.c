/* SPDX-License-Identifier: BSD-3-Clause */
/* What the epilog does for one step, as its user: wait for the run to be whole, claim, merge. */
#define _GNU_SOURCE
#include "merge/epilog_step.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merge/mpirun_runs.h"
#include "merge/publish.h"
#include "merge/run.h"
#include "merge/user_child.h"
#include "merge/world.h"
#include "schema/node_marker.h"
#include "schema/regular_file.h"
#include "schema/run_path.h"

enum {
    LOOK_FIRST_MS = 20, /* between looks at the run; twice as long each time */
    LOOK_LAST_MS = 500,
    GRACE_MS = 5000, /* for srun to begin its merge, once the run is whole */
    LIKWID_SHARE = 4, /* of the epilog's time, what LIKWID may take to compute metrics */
};

#define MEMORY (UINT64_C(256) << 20)

/* What there is to be seen of a run. */
enum sight { SIGHT_GONE, SIGHT_TAKEN, SIGHT_OPEN, SIGHT_WHOLE };

/* Whether a merger that lives, on whatever node, has the run. */
static bool is_locked(int run)
{
    int fd = openat(run, JOB_RECORD_NAME,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_locked = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
    return is_locked;
}

/* Whether srun, or a line of the batch script, has merged it, if only in part. */
static bool has_profile(const char *run)
{
    char path[OPTIONS_PATH_MAX + 16];
    struct stat info;
    return run_path_profile(run, 0, path, sizeof path, NULL) == 0 && lstat(path, &info) == 0;
}

static enum sight look(const struct step_record *record, const char *path, int run,
                       int64_t *markers)
{
    bool may_be_merged = record->merge == MERGE_SRUN || record->is_mpirun;
    *markers = node_marker_count(run);
    if (*markers < 0)
        return SIGHT_GONE;
    if (faccessat(run, RUN_EPILOG_CLAIM, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || is_locked(run) ||
        (may_be_merged && has_profile(path)))
        return SIGHT_TAKEN;
    return *markers < (int64_t)record->nodes ? SIGHT_OPEN : SIGHT_WHOLE;
}

/* Waits until the run is whole, and srun had its time, or until no more is to be waited. */
static enum sight await(const struct epilog_step *step, const char *path, int run,
                        int64_t *markers)
{
    bool leaves_to_srun = step->record->merge == MERGE_SRUN && !step->record->is_mpirun;
    int64_t grace_until = 0;
    enum sight sight;
    for (int pause = LOOK_FIRST_MS;; pause = pause < LOOK_LAST_MS / 2 ? 2 * pause : LOOK_LAST_MS) {
        int64_t now = user_child_now();
        sight = look(step->record, path, run, markers);
        if (sight == SIGHT_GONE || sight == SIGHT_TAKEN)
            return sight;
        /* One that was whole at the first look has been so since before the epilog began. */
        if (sight == SIGHT_WHOLE && grace_until == 0)
            grace_until = (pause == LOOK_FIRST_MS ? step->begun : now) + GRACE_MS;
        bool has_grace = leaves_to_srun && now < grace_until;
        if (now >= step->wait_until || (sight == SIGHT_WHOLE && !has_grace))
            return sight;
        poll(NULL, 0, pause);
    }
}

/* Exactly one of the nodes gets it, on any file system. */
static bool claim(int run)
{
    return mkdirat(run, RUN_EPILOG_CLAIM, 0700) == 0;
}

/* Files get the rights that the user's processes gave the run directory. */
static void take_umask(int run)
{
    struct stat info;
    umask(fstat(run, &info) == 0 ? ~info.st_mode & 077 : 077);
}

static int open_failed(const char *run, int reason)
{
    if (reason == ENOENT)
        return EPILOG_NOTHING; /* no rank came past MPI_Init, or the run is merged */
    fprintf(stderr, "scope-profile: %s: %s\n", run,
            reason == ELOOP || reason == ENOTDIR ? "is no directory: links are not followed"
                                                 : strerror(reason));
    return EPILOG_TELL;
}

/* The run at path, whose directory is open as run. */
static int merge_open(const struct epilog_step *step, const char *path, int run)
{
    const struct step_record *record = step->record;
    int64_t markers;
    take_umask(run);
    enum sight sight = await(step, path, run, &markers);
    if (sight == SIGHT_GONE || sight == SIGHT_TAKEN)
        return EPILOG_NOTHING;
    if (!claim(run)) {
        if (errno == EEXIST || errno == ENOENT || errno == ESTALE)
            return EPILOG_NOTHING;
        fprintf(stderr, "scope-profile: %s cannot be written: %s; the traces stay\n", path,
                strerror(errno));
        return EPILOG_TELL;
    }
    if (sight == SIGHT_OPEN)
        fprintf(stderr,
                "scope-profile: %s: %" PRId64 " of %" PRIu32
                " nodes were done: merging what is there\n",
                path, markers, record->nodes);
    const struct epilog_bounds bounds = {.threads = record->terms.threads,
                                         .memory = MEMORY,
                                         .likwid_seconds = record->terms.timeout_s / LIKWID_SHARE};
    int status = step->merge(step->merge_data, path, &bounds);
    return status == WORLD_COMPLETE && sight == SIGHT_WHOLE ? EPILOG_DONE : EPILOG_TELL;
}

static int merge_run(const struct epilog_step *step, const char *path)
{
    int run = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (run < 0)
        return open_failed(path, errno);
    int end = merge_open(step, path, run);
    close(run);
    return end;
}

struct each {
    const struct epilog_step *step;
    int end;
};

static void merge_one(void *data, const char *path)
{
    struct each *each = data;
    if (merge_run(each->step, path) == EPILOG_TELL)
        each->end = EPILOG_TELL;
}

int epilog_step_merge(const struct epilog_step *step)
{
    struct each each = {.step = step, .end = EPILOG_DONE};
    if (!step->record->is_mpirun)
        return merge_run(step, step->record->run);
    mpirun_runs_each(step->record->run, merge_one, &each);
    return each.end;
}

/* --- what the user is told -----------------------------------------------------------------------
 */

/* Removes what a merger that was ended left of the run's profile. */
static void discard(void *data, const char *run)
{
    const pid_t *merger = data;
    char path[OPTIONS_PATH_MAX + 16];
    if (*merger > 0 && run_path_profile(run, 0, path, sizeof path, NULL) == 0)
        publish_discard(path, *merger);
}

int epilog_step_note(const struct epilog_note *note)
{
    char path[OPTIONS_PATH_MAX + 16];
    struct stat info;
    pid_t merger = note->merger;
    if (note->is_mpirun)
        mpirun_runs_each(note->run, discard, &merger);
    else
        discard(&merger, note->run);
    umask(stat(note->run, &info) == 0 ? ~info.st_mode & 077 : 077);
    snprintf(path, sizeof path, "%s.log", note->run);
    int fd = open(path,
                  O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                  0666);
    if (fd < 0 || regular_file_size(fd) < 0)
        return 1;
    size_t length = strlen(note->text);
    return write(fd, note->text, length) == (ssize_t)length ? 0 : 1;
}
