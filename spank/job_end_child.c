/* SPDX-License-Identifier: BSD-3-Clause */
/* The child of srun that asks slurmctld why it ended the job, and notes it in the run directory. */
#include "spank/job_end_child.h"

#include <fcntl.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "schema/exit_record.h"
#include "schema/job_end.h"
#include "spank/bounded_child.h"

/* srun has it; should another Slurm have none, the plugin must load all the same. */
#pragma weak slurm_load_job

enum { LIMIT_MS = 2000 };

/* --- asking --------------------------------------------------------------------------------------
 */

struct question {
    uint32_t job;
    const char *run;
};

static enum job_end_cause cause_of(uint32_t state)
{
    switch (state & JOB_STATE_BASE) {
    case JOB_CANCELLED:
        return JOB_END_CANCELLED;
    case JOB_TIMEOUT:
        return JOB_END_TIME_LIMIT;
    case JOB_NODE_FAIL:
        return JOB_END_NODE_FAILURE;
    case JOB_PREEMPTED:
        return JOB_END_PREEMPTED;
    case JOB_DEADLINE:
        return JOB_END_DEADLINE;
    default:
        return JOB_END_UNKNOWN;
    }
}

/* In a child, because an answer may be long in coming, and may even find a lock of Slurm's held by
 * a thread that is not here: then the time is up, and the cause stays unknown. */
static int ask(const void *data)
{
    const struct question *question = data;
    job_info_msg_t *answer;
    if (slurm_load_job(&answer, question->job, 0) != 0 || answer->record_count < 1)
        return -1;
    struct job_end end = {
        .cause = cause_of(answer->job_array[0].job_state),
        .realtime_ns = (int64_t)answer->job_array[0].end_time * 1000000000,
    };
    int run = open(question->run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return end.cause == JOB_END_UNKNOWN || run < 0 ? -1 : job_end_write(run, &end);
}

void job_end_child_run(uint32_t job, const char *run)
{
    struct question question = {job, run};
    int directory = open(run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return; /* no rank came past MPI_Init */
    if (slurm_load_job && exit_record_last_killed(directory) != EXIT_RECORD_NEVER)
        bounded_child_run(ask, &question, LIMIT_MS);
    close(directory);
}
