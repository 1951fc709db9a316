/* SPDX-License-Identifier: BSD-3-Clause */
/* A task that has ended: how, and that it is noted in its run directory. */
#include "spank/task_end.h"

#include <stdint.h>
#include <stdlib.h>

#include "schema/exit_record.h"
#include "spank/exit_child.h"
#include "spank/task_run.h"

enum { LIMIT_MS = 2000 };

static int read_record(const struct task *task, struct exit_record *record)
{
    int status, local;
    pid_t pid;
    uint32_t number;
    if (spank_get_item(task->spank, S_TASK_EXIT_STATUS, &status) != ESPANK_SUCCESS ||
        spank_get_item(task->spank, S_TASK_PID, &pid) != ESPANK_SUCCESS ||
        spank_get_item(task->spank, S_TASK_ID, &local) != ESPANK_SUCCESS ||
        spank_get_item(task->spank, S_TASK_GLOBAL_ID, &number) != ESPANK_SUCCESS)
        return -1;
    /* Slurm's item counts in the component of a heterogeneous step alone. */
    const char *in_step = task_get(task, "SLURM_PROCID");
    *record = (struct exit_record){
        .task = in_step ? (int64_t)strtoul(in_step, NULL, 10) : (int64_t)number,
        .local = local,
        .pid = pid,
        .status = status,
    };
    exit_record_stamp(record);
    return 0;
}

void task_end_note(const struct task *task)
{
    static bool is_out_of_reach; /* the file system did not answer before */
    char name[EXIT_RECORD_NAME_SIZE], line[EXIT_RECORD_LINE_SIZE], node[TASK_NODE_SIZE];
    struct exit_record record;
    struct task_run run;
    struct exit_child child = {.run = run.directory, .name = name, .line = line};
    task_node(task, node);
    if (is_out_of_reach || task_run_find(task, &run, NULL) < 0 ||
        exit_record_name(node, name) < 0 || read_record(task, &record) < 0 ||
        task_user(task, &child.ids) < 0)
        return;
    child.length = exit_record_print(&record, line);
    is_out_of_reach = exit_child_append(&child, LIMIT_MS) < 0;
}
