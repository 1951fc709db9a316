/* SPDX-License-Identifier: BSD-3-Clause */
/* What a profiled step leaves in the node's registry: srun's options do not reach the epilog. */
#include "spank/step_entry.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/registry.h"
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

static int describe(const struct task *task, struct step_record *record, struct error *err)
{
    struct task_run run;
    struct user_ids ids;
    if (task_run_find(task, &run, err) < 0)
        return -1;
    if (task_user(task, &ids) < 0 ||
        spank_get_item(task->spank, S_JOB_ID, &record->job) != ESPANK_SUCCESS ||
        spank_get_item(task->spank, S_JOB_STEPID, &record->step) != ESPANK_SUCCESS ||
        count_nodes(task, &record->nodes) < 0)
        return error_set(err, "Slurm does not tell whose the step is");
    strcpy(record->run, run.directory);
    return step_record_set_ids(record, &ids, err);
}

int step_entry_add(const struct task *task, const struct settings *settings, enum merge_mode merge,
                   struct error *err)
{
    struct step_record record = {.merge = merge, .terms = settings->epilog};
    if (merge == MERGE_OFF)
        return 0;
    if (describe(task, &record, err) < 0)
        return -1;
    int registry = registry_open(settings->registry, true, err);
    if (registry < 0)
        return -1;
    int status = registry_add(registry, &record, err);
    close(registry);
    return status;
}
