/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the run of a task's step goes, as the task's environment tells. */
#include "spank/task_run.h"

#include <stdio.h>
#include <string.h>

#include "schema/command_text.h"
#include "spank/run_place.h"

/* What srun told this step. Returns 1 if it told, 0 if not, -1 and err if the place is taken. */
static int find_told(const struct task *task, struct task_run *run, struct error *err)
{
    const char *step = task_get(task, STEP_ENV_STEP), *directory = task_get(task, STEP_ENV_RUN);
    const char *command = task_get(task, STEP_ENV_COMMAND);
    if (!step || !directory || strcmp(step, run->step) != 0 ||
        strlen(directory) >= sizeof run->directory)
        return 0;
    if (*directory == '\0')
        return error_set(err,
                         "%s: scope-profile-%s is there already, from another run (move it "
                         "away or choose another out=)",
                         task->argv[0], run->step);
    strcpy(run->directory, directory);
    snprintf(run->command, sizeof run->command, "%s", command ? command : "");
    return 1;
}

struct run_names task_run_names(const struct task *task)
{
    const char *job = task_get(task, "SLURM_JOB_ID");
    const char *array_job = task_get(task, "SLURM_ARRAY_JOB_ID");
    const char *array_task = task_get(task, "SLURM_ARRAY_TASK_ID");
    return (struct run_names){
        .job = job,
        .step = task_get(task, "SLURM_STEP_ID"),
        .user = task_get(task, "SLURM_JOB_USER"),
        .job_name = task_get(task, "SLURM_JOB_NAME"),
        .array_job = array_job ? array_job : job,
        .array_task = array_task ? array_task : "0",
    };
}

int task_run_find(const struct task *task, struct task_run *run, struct error *err)
{
    struct run_names names = task_run_names(task);
    if (!names.job || !names.step)
        return error_set(err, "%s: the job and the step are not known", task->argv[0]);
    snprintf(run->step, sizeof run->step, "%s.%s", names.job, names.step);
    int told = find_told(task, run, err);
    if (told != 0)
        return told < 0 ? -1 : 0;

    const char *parent = task_get(task, STEP_ENV_PARENT);
    if (!parent)
        return error_set(err, "%s: srun did not say where the profile goes", task->argv[0]);
    command_text(task->argc, task->argv, run->command, sizeof run->command);
    struct error problem;
    if (run_place_directory(parent, &names, task_get(task, "SLURM_RESTART_COUNT"), run->directory,
                            sizeof run->directory, &problem) < 0)
        return error_set(err, "%s: %s", task->argv[0], problem.text);
    return 0;
}
