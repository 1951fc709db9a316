/* SPDX-License-Identifier: BSD-3-Clause */
/* The epilog of a job on one node: merges what the job's steps left, each as its user. */
#ifndef SCOPE_EPILOG_H
#define SCOPE_EPILOG_H

#include "merge/epilog_step.h"

/* As root, with SLURM_JOB_ID, SLURM_JOB_UID and SLURMD_NODENAME of Slurm's epilog in the
 * environment: merges every step that the registry has of the job, as epilog_terms say, and takes
 * the entries out. Takes no longer than the terms allow, whatever happens to file systems; with
 * detaching terms it goes on in a process of its own and returns at once. What it did is in the system's
 * log, what the user should know in RUN.log beside the profile. There is nothing that a caller could
 * do about a failure. */
void epilog_run(const char *registry, epilog_merge *merge, void *merge_data);

#endif
