/* SPDX-License-Identifier: BSD-3-Clause */
/* A task that is about to start, as Slurm shows it: its words and its environment. */
#include "spank/task.h"

#include <string.h>
#include <sys/resource.h>

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

bool task_has_room(const struct task *task, size_t extra)
{
    enum { LEAST = 128 * 1024, MOST = 6 * 1024 * 1024, SPARE = 16 * 1024 };
    struct rlimit stack;
    size_t used = extra + SPARE, limit = LEAST;
    for (int i = 0; i < task->argc; i++)
        used += strlen(task->argv[i]) + 1 + sizeof(char *);
    for (char **variable = environment(task); *variable; variable++)
        used += strlen(*variable) + 1 + sizeof(char *);
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur / 4 > limit)
        limit = stack.rlim_cur / 4 < MOST ? (size_t)stack.rlim_cur / 4 : MOST;
    return used <= limit;
}
