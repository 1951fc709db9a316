/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpirun starts in a job: where its runs go, as batch scripts and mpirun's daemons are
 * told. */
#include "spank/mpirun.h"

#include <stdio.h>
#include <string.h>

#include "schema/run_environment.h"
#include "spank/run_place.h"
#include "spank/task_run.h"

/* A job that is submitted out of another inherits what that one was told. */
static bool find_told(const struct task *task, struct mpirun *mpirun)
{
    const char *job = task_get(task, MPIRUN_ENV_JOB), *runs = task_get(task, MPIRUN_ENV_RUN);
    const char *what = task_get(task, MPIRUN_ENV_WHAT);
    if (!job || strcmp(job, mpirun->job) != 0 || !runs || *runs != '/' || !what ||
        strlen(runs) >= sizeof mpirun->runs || strlen(what) >= sizeof mpirun->what)
        return false;
    strcpy(mpirun->runs, runs);
    strcpy(mpirun->what, what);
    return true;
}

static int find_announced(const struct task *task, const char *directory, struct mpirun *mpirun,
                          struct error *err)
{
    struct options options;
    struct run_names names = task_run_names(task);
    char here[OPTIONS_PATH_MAX];
    const char *what = task_get(task, STEP_ENV_WHAT), *parent = task_get(task, STEP_ENV_PARENT);
    if (!what || !parent || options_parse(&options, what, NULL) < 0 || !options.mpi_calls)
        return 0;
    names.step = "mpirun";
    if (!names.user) /* Slurm tells no sooner than in the process itself */
        names.user = task_get(task, "USER");
    if (*parent != '/') {
        if (run_place_parent(options.out, directory, here, sizeof here, err) < 0)
            return -1;
        parent = here;
    }
    strcpy(mpirun->what, what);
    /* The number of the run follows, then that of the job's restart: the ranks add both. */
    return run_place_directory(parent, &names, NULL, mpirun->runs, sizeof mpirun->runs, err) < 0
               ? -1
               : 1;
}

int mpirun_find(const struct task *task, const char *directory, struct mpirun *mpirun,
                struct error *err)
{
    const char *job = task_get(task, "SLURM_JOB_ID"), *step = task_get(task, "SLURM_STEP_ID");
    struct error problem;
    if (!job)
        return 0;
    snprintf(mpirun->job, sizeof mpirun->job, "%s", job);
    snprintf(mpirun->step, sizeof mpirun->step, "%s", step ? step : "batch");
    task_node(task, mpirun->node);
    if (find_told(task, mpirun))
        return 1;
    int found = find_announced(task, directory, mpirun, &problem);
    return found < 0 ? error_set(err, "%s: %s", task->argv[0], problem.text) : found;
}
