/* SPDX-License-Identifier: BSD-3-Clause */
/* The merge that srun starts when the step has ended. */
#ifndef SCOPE_MERGE_CHILD_H
#define SCOPE_MERGE_CHILD_H

#include "schema/step_record.h"

/* Runs "tool --auto --wait=WAIT --threads=THREADS run", with what terms say of both, and waits for
 * it. Interrupting srun in that time stops the merge; a signal that came before it keeps the merge
 * from going on. Says on stderr why a merge did not happen, unless there is nothing to merge. */
void merge_child_run(const char *tool, const char *run, const struct epilog_terms *terms);

#endif
