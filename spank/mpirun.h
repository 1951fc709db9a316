/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpirun starts in a job: where its runs go, as batch scripts and mpirun's daemons are
 * told. */
#ifndef SCOPE_MPIRUN_H
#define SCOPE_MPIRUN_H

#include "schema/error.h"
#include "schema/options.h"
#include "spank/task.h"

struct mpirun {
    char job[24], step[24], node[TASK_NODE_SIZE];
    char what[OPTIONS_TEXT_MAX];
    char runs[OPTIONS_PATH_MAX]; /* what the names of the run directories begin with */
};

/* What the batch script was told if task is one of mpirun's daemons below it; else what sbatch
 * or the srun of task announced. Relative directories are below `directory`, or this process's
 * where it is NULL. Returns 1; or 0: nobody asked; or -1 and err, which names the program. */
int mpirun_find(const struct task *task, const char *directory, struct mpirun *mpirun,
                struct error *err);

#endif
