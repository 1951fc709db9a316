/* SPDX-License-Identifier: BSD-3-Clause */
/* The merge that srun starts when the step has ended. */
#ifndef SCOPE_MERGE_CHILD_H
#define SCOPE_MERGE_CHILD_H

/* Runs "tool --auto --wait=wait_s run" and waits for it. Interrupting srun in that time stops the merge; a signal
 * that came before it keeps the merge from going on. Says on stderr why a merge did not happen,
 * unless there is nothing to merge. */
void merge_child_run(const char *tool, const char *run, unsigned wait_s);

#endif
