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
#include <time.h>
#include <unistd.h>

#include "merge/mpirun_runs.h"
#include "merge/publish.h"
#include "merge/run.h"
#include "merge/run_nodes.h"
#include "merge/user_child.h"
#include "merge/world.h"
#include "schema/exit_record.h"
#include "schema/job_end.h"
#include "schema/node_marker.h"
#include "schema/regular_file.h"
#include "schema/run_path.h"
#include "schema/spool_files.h"
#include "schema/trace_container.h"

enum {
    LOOK_FIRST_MS = 20, /* between looks at the run; twice as long each time */
    LOOK_LAST_MS = 500,
    GRACE_MS = 5000, /* for srun to begin its merge, once the run is whole */
    CAUSE_MS = 3000, /* for srun to tell why Slurm ended the job, once tasks were killed */
    LIKWID_SHARE = 4, /* of the epilog's time, what LIKWID may take to compute metrics */
};

#define MEMORY (UINT64_C(256) << 20)

/* What there is to be seen of a run. */
enum sight {
    SIGHT_GONE,  /* it was removed */
    SIGHT_TAKEN, /* somebody merges it, or did */
    SIGHT_OPEN,  /* some node may be at work on it */
    SIGHT_WHOLE
};

static int open_run(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Whether a merger that lives, on whatever node, has the run. */
static bool is_locked(int run)
{
    int fd = openat(run, RUN_LOCK,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_locked = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
    return is_locked;
}

/* Whether the epilog of some node has it, or had. */
static bool is_claimed(int run)
{
    return faccessat(run, RUN_EPILOG_CLAIM, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whether srun, or a line of the batch script, has merged it, if only in part. */
static bool has_profile(const char *run)
{
    char path[OPTIONS_PATH_MAX + 16];
    struct stat info;
    return run_path_profile(run, 0, path, sizeof path, NULL) == 0 && lstat(path, &info) == 0;
}

/* A run that is looked at. */
struct watch {
    const struct step_record *record;
    const char *path;
    int run;
    struct names nodes;  /* on which mpirun's ranks were */
    uint64_t done, all; /* of nodes */
};

static enum sight look(struct watch *watch)
{
    const struct step_record *record = watch->record;
    bool may_be_merged = record->merge == MERGE_SRUN || record->is_mpirun;
    int64_t markers = node_marker_count(watch->run);
    if (markers < 0)
        return SIGHT_GONE;
    if (is_claimed(watch->run) || is_locked(watch->run) ||
        (may_be_merged && has_profile(watch->path)))
        return SIGHT_TAKEN;
    watch->all = record->is_mpirun ? watch->nodes.count : record->nodes;
    watch->done = record->is_mpirun ? run_nodes_done(&watch->nodes, watch->run) : (uint64_t)markers;
    return watch->done < watch->all ? SIGHT_OPEN : SIGHT_WHOLE;
}

/* Whether srun may yet tell why Slurm ended the tasks: it asks once it has seen the last of them
 * end, when the epilog may have come already. Users and clocks may tell a wrong end of a task. */
static bool awaits_cause(const struct epilog_step *step, int run, int64_t now)
{
    struct timespec time;
    struct job_end end; /* not told as long as it is being written */
    if (step->record->is_mpirun || now >= step->begun + CAUSE_MS ||
        (job_end_read(run, &end, NULL) == 0 && end.cause != JOB_END_UNKNOWN))
        return false;
    int64_t killed = exit_record_last_killed(run);
    clock_gettime(CLOCK_REALTIME, &time);
    return killed != EXIT_RECORD_NEVER && killed / 1000000000 + CAUSE_MS / 1000 >= time.tv_sec;
}

/* Waits until the run is whole, and srun had its time, or until no more is to be waited. */
static enum sight await(const struct epilog_step *step, struct watch *watch)
{
    bool leaves_to_srun = step->record->merge == MERGE_SRUN && !step->record->is_mpirun;
    int64_t grace_until = 0;
    enum sight sight;
    for (int pause = LOOK_FIRST_MS;; pause = pause < LOOK_LAST_MS / 2 ? 2 * pause : LOOK_LAST_MS) {
        int64_t now = user_child_now();
        sight = look(watch);
        if (sight == SIGHT_GONE || sight == SIGHT_TAKEN)
            return sight;
        /* One that was whole at the first look has been so since before the epilog began. */
        if (sight == SIGHT_WHOLE && grace_until == 0)
            grace_until = (pause == LOOK_FIRST_MS ? step->begun : now) + GRACE_MS;
        bool has_grace = leaves_to_srun && now < grace_until;
        if (now >= step->wait_until ||
            (sight == SIGHT_WHOLE && !has_grace && !awaits_cause(step, watch->run, now)))
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

/* The run, once no more is waited for. */
static int merge_seen(const struct epilog_step *step, const struct watch *watch, enum sight sight)
{
    if (sight == SIGHT_GONE || sight == SIGHT_TAKEN)
        return EPILOG_NOTHING;
    if (!claim(watch->run)) {
        if (errno == EEXIST || errno == ENOENT || errno == ESTALE)
            return EPILOG_NOTHING;
        fprintf(stderr, "scope-profile: %s cannot be written: %s; the traces stay\n", watch->path,
                strerror(errno));
        return EPILOG_TELL;
    }
    if (sight == SIGHT_OPEN)
        fprintf(stderr,
                "scope-profile: %s: %" PRIu64 " of %" PRIu64
                " nodes were done: merging what is there\n",
                watch->path, watch->done, watch->all);
    const struct epilog_terms *terms = &step->record->terms;
    const struct epilog_bounds bounds = {.threads = terms->threads,
                                         .memory = MEMORY,
                                         .likwid_seconds = terms->timeout_s / LIKWID_SHARE};
    int status = step->merge(step->merge_data, watch->path, &bounds);
    return status == WORLD_COMPLETE && sight == SIGHT_WHOLE ? EPILOG_DONE : EPILOG_TELL;
}

static int merge_run(const struct epilog_step *step, const char *path)
{
    struct watch watch = {.record = step->record, .path = path, .run = open_run(path)};
    int end;
    if (watch.run < 0)
        return open_failed(path, errno);
    take_umask(watch.run);
    if (step->record->is_mpirun && run_nodes_find(&watch.nodes, path) < 0) {
        fprintf(stderr, "scope-profile: %s: out of memory; the traces stay\n", path);
        end = EPILOG_TELL;
    } else {
        end = merge_seen(step, &watch, await(step, &watch));
    }
    names_release(&watch.nodes);
    close(watch.run);
    return end;
}

/* --- this node's part ----------------------------------------------------------------------------
 */

/* Other nodes wait for the marker, which slurmstepd has made in most cases. No slurmstepd knows
 * which of mpirun's runs its node is in. */
static void mark_done(void *data, const char *path)
{
    const struct epilog_step *step = data;
    char marker[NODE_MARKER_NAME_SIZE];
    int run = open_run(path);
    if (run < 0)
        return;
    if (!is_claimed(run) && !is_locked(run) && !has_profile(path) &&
        node_marker_name(step->node, step->record->component, marker) == 0)
        node_marker_put(run, marker);
    close(run);
}

static void copy_spool(const struct epilog_step *step)
{
    const struct step_record *record = step->record;
    char marker[NODE_MARKER_NAME_SIZE], container[TRACE_CONTAINER_NAME_SIZE];
    if (access(record->spool, F_OK) < 0 ||
        node_marker_name(step->node, record->component, marker) < 0 ||
        trace_container_name(marker + strlen(NODE_MARKER_PREFIX), container) < 0)
        return;
    if (spool_files_copy(record->spool, record->run, container) < 0)
        fprintf(stderr, "scope-profile: the traces of %s could not be copied to %s\n",
                record->spool, record->run);
    spool_files_remove(record->spool);
}

int epilog_step_settle(const struct epilog_step *step)
{
    const struct step_record *record = step->record;
    struct epilog_step copy = *step; /* callbacks take what may be changed */
    if (record->spool[0])
        copy_spool(step);
    if (record->is_mpirun)
        mpirun_runs_each(record->run, mark_done, &copy);
    else
        mark_done(&copy, record->run);
    return 0;
}

/* --- merging -------------------------------------------------------------------------------------
 */

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
