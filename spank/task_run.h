/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the run of a task's step goes, as the task's environment tells. */
#ifndef SCOPE_TASK_RUN_H
#define SCOPE_TASK_RUN_H

#include "schema/error.h"
#include "schema/options.h"
#include "schema/run_environment.h"
#include "schema/run_path.h"
#include "spank/task.h"

struct task_run {
    char step[64], directory[OPTIONS_PATH_MAX], command[RUN_COMMAND_MAX];
};

/* What the patterns of out= stand for. The texts are the task's: valid until its environment is
 * changed. */
struct run_names task_run_names(const struct task *task);

/* Where srun said the run goes; components of a heterogeneous step other than the first were told
 * the parent alone, and work it out from their own environment, as srun did. Returns 0, or -1 and
 * err, which names the program. */
int task_run_find(const struct task *task, struct task_run *run, struct error *err);

#endif
