/* SPDX-License-Identifier: BSD-3-Clause */
/* What a profiled step leaves in the node's registry: srun's options do not reach the epilog. */
#include "spank/step_entry.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/registry.h"
#include "spank/mpirun.h"
#include "spank/spool.h"
#include "spank/task_run.h"

/* Slurm's item counts the nodes of one component of a heterogeneous step, srun all. */
static int count_nodes(const struct task *task, uint32_t *count)
{
    const char *text = task_get(task, "SLURM_STEP_NUM_NODES");
    unsigned long all = text ? strtoul(text, NULL, 10) : 0;
    if (spank_get_item(task->spank, S_JOB_NNODES, count) != ESPANK_SUCCESS)
        return -1;
    if (all > *count && all <= UINT32_MAX)
        *count = (uint32_t)all;
    return 0;
}

/* What Slurm tells of the step. */
static int identify(const struct task *task, struct step_record *record, struct error *err)
{
    struct user_ids ids;
    if (task_user(task, &ids) < 0 ||
        spank_get_item(task->spank, S_JOB_ID, &record->job) != ESPANK_SUCCESS ||
        spank_get_item(task->spank, S_JOB_STEPID, &record->step) != ESPANK_SUCCESS)
        return error_set(err, "Slurm does not tell whose the step is");
    record->component = task_component(task);
    return step_record_set_ids(record, &ids, err);
}

static int put(const struct step_record *record, const struct settings *settings,
               struct error *err)
{
    int registry = registry_open(settings->registry, true, err);
    if (registry < 0)
        return -1;
    registry_clean(registry, REGISTRY_AGE_S); /* where there is no epilog nobody else does */
    int status = registry_add(registry, record, err);
    close(registry);
    return status;
}

int step_entry_add(const struct task *task, const struct settings *settings, enum merge_mode merge,
                   struct error *err)
{
    struct step_record record = {.merge = merge, .terms = settings->epilog};
    struct task_run run;
    if (merge == MERGE_OFF)
        return 0;
    if (task_run_find(task, &run, err) < 0 || identify(task, &record, err) < 0)
        return -1;
    if (count_nodes(task, &record.nodes) < 0)
        return error_set(err, "Slurm does not tell how many nodes the step has");
    strcpy(record.run, run.directory);
    snprintf(record.spool, sizeof record.spool, "%s", spool_path());
    return put(&record, settings, err);
}

/* The working directory of the task's process, as the user named it or not. */
static int find_directory(const struct task *task, char directory[static PATH_MAX])
{
    char name[32];
    pid_t pid;
    if (spank_get_item(task->spank, S_TASK_PID, &pid) != ESPANK_SUCCESS)
        return -1;
    snprintf(name, sizeof name, "/proc/%ld/cwd", (long)pid);
    ssize_t length = readlink(name, directory, PATH_MAX - 1);
    if (length <= 0 || *directory != '/')
        return -1;
    directory[length] = '\0';
    return 0;
}

int step_entry_add_mpirun(const struct task *task, const struct settings *settings,
                          struct error *err)
{
    struct step_record record = {.is_mpirun = true, .terms = settings->epilog};
    struct mpirun mpirun;
    struct options options;
    char directory[PATH_MAX];
    if (find_directory(task, directory) < 0)
        return error_set(err, "the working directory of %s cannot be told", task->argv[0]);
    int found = mpirun_find(task, directory, &mpirun, err);
    if (found <= 0)
        return found;
    if (options_parse(&options, mpirun.what, err) < 0 || identify(task, &record, err) < 0)
        return -1;
    if (options.merge == MERGE_OFF)
        return 0;
    record.merge = options.merge;
    strcpy(record.run, mpirun.runs);
    return put(&record, settings, err);
}
