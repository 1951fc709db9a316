/* SPDX-License-Identifier: BSD-3-Clause */
/* A task that has ended: how, and that it is noted in its run directory. */
#include "spank/task_end.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static int read_ids(const struct task *task, struct exit_child *child)
{
    gid_t *groups;
    int count;
    if (spank_get_item(task->spank, S_JOB_UID, &child->user) != ESPANK_SUCCESS ||
        spank_get_item(task->spank, S_JOB_GID, &child->group) != ESPANK_SUCCESS ||
        spank_get_item(task->spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count) != ESPANK_SUCCESS ||
        count < 0)
        return -1;
    child->groups = groups;
    child->group_count = (size_t)count;
    return 0;
}

/* Slurm's name of the node, by which traces know it, too; else the host's. */
static int name_file(const struct task *task, char name[static EXIT_RECORD_NAME_SIZE])
{
    char host[HOST_NAME_MAX + 1] = "";
    const char *node = task_get(task, "SLURMD_NODENAME");
    gethostname(host, sizeof host - 1);
    return exit_record_name(node ? node : host, name);
}

void task_end_note(const struct task *task)
{
    static bool is_out_of_reach; /* the file system did not answer before */
    char name[EXIT_RECORD_NAME_SIZE], line[EXIT_RECORD_LINE_SIZE];
    struct exit_record record;
    struct task_run run;
    struct exit_child child = {.run = run.directory, .name = name, .line = line};
    if (is_out_of_reach || task_run_find(task, &run, NULL) < 0 || name_file(task, name) < 0 ||
        read_record(task, &record) < 0 || read_ids(task, &child) < 0)
        return;
    child.length = exit_record_print(&record, line);
    is_out_of_reach = exit_child_append(&child, LIMIT_MS) < 0;
}
