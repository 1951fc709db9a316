/* SPDX-License-Identifier: BSD-3-Clause */
/* The child of srun that asks slurmctld why it ended the job, and notes it in the run directory. */
#ifndef SCOPE_JOB_END_CHILD_H
#define SCOPE_JOB_END_CHILD_H

#include <stdint.h>

/* When the step has ended. Asks only if some task was killed by a signal, and waits two seconds at
 * most. */
void job_end_child_run(uint32_t job, const char *run);

#endif
