/* SPDX-License-Identifier: BSD-3-Clause */
/* A task that has ended: how, and that it is noted in its run directory. */
#ifndef SCOPE_TASK_END_H
#define SCOPE_TASK_END_H

#include "spank/task.h"

/* Appends the task's exit record to the run directory, if there is one. For the callback task_exit;
 * never takes longer than two seconds, and on a node where a step's file system did not answer, no
 * further task of the step waits for it. */
void task_end_note(const struct task *task);

#endif
