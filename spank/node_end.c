/* SPDX-License-Identifier: BSD-3-Clause */
/* The last task of a step on this node has ended: the node's part of the run is done. */
#include "spank/node_end.h"

#include <stdint.h>
#include <string.h>

#include <slurm/slurm.h>

#include "schema/node_marker.h"
#include "spank/node_done.h"
#include "spank/spool.h"
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

void node_end_note(const struct task *task)
{
    char name[NODE_MARKER_NAME_SIZE];
    struct task_run run;
    struct error err;
    struct node_done done = {.run = run.directory, .name = name};
    if (!is_last(task))
        return;
    bool has_place = task_run_find(task, &run, NULL) == 0 && task_user(task, &done.ids) == 0 &&
                     task_marker(task, name) == 0;
    if (spool_close(has_place ? run.directory : NULL, name + strlen(NODE_MARKER_PREFIX), &err) < 0)
        slurm_info("scope-profile: %s", err.text);
    if (has_place)
        node_done_mark(&done, LIMIT_MS);
}
