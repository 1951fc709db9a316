/* SPDX-License-Identifier: BSD-3-Clause */
/* The last task of a step on this node has ended: the node's part of the run is done. */
#include "spank/node_end.h"

#include <stdint.h>
#include <stdlib.h>

#include "schema/node_marker.h"
#include "spank/node_done.h"
#include "spank/task_run.h"

enum { LIMIT_MS = 2000 };

/* Counts the tasks that have ended in this process, which is the step's on this node. */
static bool is_last(const struct task *task)
{
    static uint32_t ended;
    uint32_t count;
    ended++;
    return spank_get_item(task->spank, S_JOB_LOCAL_TASK_COUNT, &count) == ESPANK_SUCCESS &&
           ended == count;
}

/* The job of a component of a heterogeneous step, 0 for the first and for all other steps. */
static uint32_t component_of(const struct task *task)
{
    uint32_t job;
    const char *leader = task_get(task, "SLURM_JOB_ID");
    if (!leader || spank_get_item(task->spank, S_JOB_ID, &job) != ESPANK_SUCCESS)
        return 0;
    return strtoul(leader, NULL, 10) == job ? 0 : job;
}

void node_end_note(const struct task *task, bool in_reach)
{
    char name[NODE_MARKER_NAME_SIZE], node[TASK_NODE_SIZE];
    struct task_run run;
    struct node_done done = {.run = run.directory, .name = name};
    if (!is_last(task) || !in_reach || task_run_find(task, &run, NULL) < 0 ||
        task_user(task, &done.ids) < 0)
        return;
    task_node(task, node);
    if (node_marker_name(node, component_of(task), name) == 0)
        node_done_mark(&done, LIMIT_MS);
}
