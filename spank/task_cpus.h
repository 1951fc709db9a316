/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPUs (hardware threads) that a task may run on. */
#ifndef SCOPE_TASK_CPUS_H
#define SCOPE_TASK_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { TASK_CPUS_MAX = 16384 };

struct task_cpus {
    unsigned long bits[TASK_CPUS_MAX / (8 * sizeof(unsigned long))];
};

/* Those of a process, 0: the caller. Returns 0, or -1 and errno. */
int task_cpus_read(struct task_cpus *cpus, pid_t pid);

size_t task_cpus_count(const struct task_cpus *cpus);

/* "0,1,7": no ranges. Returns 0, or -1 if there is no room. */
int task_cpus_print(const struct task_cpus *cpus, char *text, size_t size);

/* Whether another task of the step on this node may run on one of them: those are the processes
 * that slurmstepd, the caller's parent, has put into one process group. */
bool task_cpus_are_shared(const struct task_cpus *cpus);

#endif
