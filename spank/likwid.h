/* SPDX-License-Identifier: BSD-3-Clause */
/* What a task needs for LIKWID's markers to count in it. */
#ifndef SCOPE_LIKWID_H
#define SCOPE_LIKWID_H

#include <stdbool.h>

#include "schema/error.h"
#include "spank/task.h"

/* Where what asks for it, and the task has CPUs of its own on which LIKWID can count: sets the
 * variables LIKWID_* of the task, as likwid-perfctr -m does. In any case the rank is told what is
 * measured, or why nothing is. tool: the path of sp-likwid-try, which takes a second or so.
 * Runs in task_init, when the task's CPUs are final. Returns 0, or -1 and why nothing is measured.
 */
int likwid_prepare(const struct task *task, const char *what, const char *tool, bool is_forbidden,
                   struct error *reason);

/* Takes out of the environment what an outer step's task was given. */
void likwid_clean(const struct task *task);

#endif
