/* SPDX-License-Identifier: BSD-3-Clause */
/* The node-local spool of a step: a directory of the user's, below one of root's, until the step
 * ends. */
#define _GNU_SOURCE
#include "spank/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/spool_place.h"
#include "schema/trace_container.h"
#include "spank/spool_child.h"
#include "spank/spool_leftovers.h"

enum { EMPTYING_MS = 5000, GROUPS_MAX = 65536 / sizeof(gid_t) };

/* Of the one step that this process looks after. */
static struct {
    char path[PATH_MAX]; /* "": there is none */
    int held; /* it, locked: that this process lives */
    dev_t device;
    ino_t inode;
    int timeout_ms;
    struct user_ids ids;
    gid_t groups[GROUPS_MAX];
} spool;

/* JOB.STEP-RESTART-NODE: of a component of a heterogeneous step the component's job, and the node's
 * number, should a site's spool not be on the node after all. */
static int name_directory(const struct task *task, char *name, size_t size)
{
    uint32_t job, step, node;
    const char *restart = task_get(task, "SLURM_RESTART_COUNT");
    if (!restart)
        restart = "0";
    if (restart[strspn(restart, "0123456789")] != '\0' ||
        spank_get_item(task->spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
        spank_get_item(task->spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS ||
        spank_get_item(task->spank, S_JOB_NODEID, &node) != ESPANK_SUCCESS)
        return -1;
    snprintf(name, size, "%u.%u-%.10s-%u", (unsigned)job, (unsigned)step, restart,
             (unsigned)node);
    return 0;
}

static int keep_user(const struct task *task)
{
    if (task_user(task, &spool.ids) < 0 || spool.ids.group_count > GROUPS_MAX)
        return -1;
    memcpy(spool.groups, spool.ids.groups, spool.ids.group_count * sizeof *spool.groups);
    spool.ids.groups = spool.groups;
    return 0;
}

/* Makes parent/name and gives it to the user. */
static int make(int parent, const char *name, struct error *err)
{
    struct stat status;
    if (mkdirat(parent, name, 0700) < 0)
        return error_set(err, "cannot make %s in the spool: %s", name, strerror(errno));
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fchown(fd, spool.ids.user, spool.ids.group) == 0 && fstat(fd, &status) == 0) {
        spool.device = status.st_dev;
        spool.inode = status.st_ino;
        spool.held = fd;
        return 0;
    }
    int reason = errno;
    if (fd >= 0)
        close(fd);
    unlinkat(parent, name, AT_REMOVEDIR);
    return error_set(err, "cannot give %s in the spool to the user: %s", name, strerror(reason));
}

int spool_make(const struct task *task, const struct settings *settings, struct error *err)
{
    char name[64];
    if (settings->spool[0] == '\0' || spool.path[0])
        return 0;
    if (name_directory(task, name, sizeof name) < 0 || keep_user(task) < 0)
        return error_set(err, "the spool: Slurm does not tell whose the step is");
    size_t length = strlen(settings->spool);
    if (length + 1 + strlen(name) >= sizeof spool.path)
        return error_set(err, "the spool %s: the path is too long", settings->spool);
    int parent = spool_place_open(settings->spool, err);
    if (parent < 0)
        return -1;
    spool_leftovers_remove(parent, settings);
    int status = make(parent, name, err);
    close(parent);
    if (status < 0)
        return -1;
    snprintf(spool.path, sizeof spool.path, "%s/%s", settings->spool, name);
    spool.timeout_ms = (int)settings->spool_timeout * 1000;
    return 0;
}

const char *spool_path(void)
{
    return spool.path;
}

const char *spool_seen(void)
{
    struct stat status;
    return spool.path[0] && stat(spool.path, &status) == 0 && status.st_dev == spool.device &&
                   status.st_ino == spool.inode
               ? spool.path
               : NULL;
}

int spool_close(const char *run, const char *part, struct error *err)
{
    char container[TRACE_CONTAINER_NAME_SIZE];
    const struct spool_child child = {
        .ids = spool.ids, .spool = spool.path, .run = run, .container = container};
    if (spool.path[0] == '\0')
        return 0;
    int copied = !run ? 0
                 : trace_container_name(part, container) < 0
                     ? 1
                     : spool_child_copy(&child, spool.timeout_ms);
    spool_child_empty(&child, EMPTYING_MS);
    int status = spool_place_remove(spool.path, err);
    if (copied != 0 && status == 0)
        status = error_set(err, "the traces of %s %s", spool.path,
                           copied < 0 ? "were not copied within spool-timeout="
                                      : "could not be copied to the run directory");
    close(spool.held);
    spool.path[0] = '\0';
    return status;
}
