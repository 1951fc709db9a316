/* SPDX-License-Identifier: BSD-3-Clause */
/* A task as Slurm shows it: its words and its environment. */
#include "spank/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <slurm/slurm.h>

enum { VALUE_MAX = 131036 }; /* of NAME=VALUE together: Slurm drops more, the kernel refuses it */

int task_read(struct task *task, spank_t spank)
{
    uint32_t step;
    *task = (struct task){.spank = spank};
    if (spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_ARGV, &task->argc, &task->argv) != ESPANK_SUCCESS ||
        task->argc < 1)
        return -1;
    task->is_program = step <= SLURM_MAX_NORMAL_STEP_ID;
    task->is_shell = step == SLURM_BATCH_SCRIPT || step == SLURM_INTERACTIVE_STEP;
    return 0;
}

/* spank_getenv would cut a long value. */
static char **environment(const struct task *task)
{
    static char *nothing[] = {NULL};
    char **env = NULL;
    if (spank_get_item(task->spank, S_JOB_ENV, &env) != ESPANK_SUCCESS || !env)
        return nothing;
    return env;
}

const char *task_get(const struct task *task, const char *name)
{
    size_t length = strlen(name);
    for (char **variable = environment(task); *variable; variable++) {
        if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=')
            return *variable + length + 1;
    }
    return NULL;
}

int task_set(const struct task *task, const char *name, const char *value)
{
    if (strlen(name) + 1 + strlen(value) > VALUE_MAX)
        return -1;
    if (spank_setenv(task->spank, name, value, 1) != ESPANK_SUCCESS)
        return -1;
    const char *now = task_get(task, name);
    return now && strcmp(now, value) == 0 ? 0 : -1;
}

void task_unset(const struct task *task, const char *name)
{
    if (task_get(task, name))
        spank_unsetenv(task->spank, name);
}

/* The stack's limit when the program starts, in bytes. Slurm sets the one that srun propagates
 * after task_init; until then it is in the environment, after a 'U' where the user asked for it. */
static rlim_t stack_limit(const struct task *task)
{
    struct rlimit now;
    const char *text = task_get(task, "SLURM_RLIMIT_STACK");
    rlim_t limit = getrlimit(RLIMIT_STACK, &now) == 0 ? now.rlim_cur : 0;
    if (!text)
        return limit;
    rlim_t later = strtoull(text + (*text == 'U'), NULL, 10);
    return later < limit ? later : limit;
}

int task_user(const struct task *task, struct user_ids *ids)
{
    gid_t *groups;
    int count;
    if (spank_get_item(task->spank, S_JOB_UID, &ids->user) != ESPANK_SUCCESS ||
        spank_get_item(task->spank, S_JOB_GID, &ids->group) != ESPANK_SUCCESS ||
        spank_get_item(task->spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count) != ESPANK_SUCCESS ||
        count < 0)
        return -1;
    ids->groups = groups;
    ids->group_count = (size_t)count;
    return 0;
}

void task_node(const struct task *task, char name[static TASK_NODE_SIZE])
{
    const char *node = task_get(task, "SLURMD_NODENAME");
    name[0] = name[TASK_NODE_SIZE - 1] = '\0';
    if (node)
        snprintf(name, TASK_NODE_SIZE, "%s", node);
    else
        gethostname(name, TASK_NODE_SIZE - 1);
}

uint32_t task_component(const struct task *task)
{
    uint32_t job;
    const char *leader = task_get(task, "SLURM_JOB_ID");
    if (!leader || spank_get_item(task->spank, S_JOB_ID, &job) != ESPANK_SUCCESS)
        return 0;
    return strtoul(leader, NULL, 10) == job ? 0 : job;
}

int task_marker(const struct task *task, char name[static NODE_MARKER_NAME_SIZE])
{
    char node[TASK_NODE_SIZE];
    task_node(task, node);
    return node_marker_name(node, task_component(task), name);
}

bool task_has_room(const struct task *task, size_t extra)
{
    /* What the kernel allows for words and environment: a quarter of the stack within bounds. */
    enum { LEAST = 128 * 1024, MOST = 6 * 1024 * 1024, SPARE = 16 * 1024 };
    rlim_t limit = stack_limit(task) / 4;
    size_t used = extra + SPARE;
    for (int i = 0; i < task->argc; i++)
        used += strlen(task->argv[i]) + 1 + sizeof(char *);
    for (char **variable = environment(task); *variable; variable++)
        used += strlen(*variable) + 1 + sizeof(char *);
    return used <= (limit < LEAST ? LEAST : limit < MOST ? limit : MOST);
}
