/* SPDX-License-Identifier: BSD-3-Clause */
/* A task as Slurm shows it: its words and its environment. */
#ifndef SCOPE_TASK_H
#define SCOPE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <slurm/spank.h>

#include "schema/node_marker.h"
#include "schema/user_ids.h"

struct task {
    spank_t spank;
    bool is_program; /* of a step of the user's own */
    bool is_shell;   /* the batch script, or an interactive shell in the job */
    int argc;
    char **argv;
};

/* Returns 0, or -1 if Slurm does not tell. Nothing is to be released. */
int task_read(struct task *task, spank_t spank);

enum { TASK_NODE_SIZE = 256 };

/* The ids of the job as slurmd knows them; the groups are Slurm's. Returns 0, or -1. */
int task_user(const struct task *task, struct user_ids *ids);

/* Slurm's name of the node, by which traces know it, too; else the host's. */
void task_node(const struct task *task, char name[static TASK_NODE_SIZE]);

/* The job of a component of a heterogeneous step, 0 for the first and for all other steps. */
uint32_t task_component(const struct task *task);

/* The name of the marker of the node and, in a heterogeneous step, the component (node_marker.h).
 * Returns 0, or -1 if the node's name cannot be a part of it. */
int task_marker(const struct task *task, char name[static NODE_MARKER_NAME_SIZE]);

/* The value of a variable of the task, or NULL; valid until the next change. */
const char *task_get(const struct task *task, const char *name);

/* Set and unset a variable of the task. task_set returns -1 if the value did not get there: Slurm
 * drops a long one without an error. value must not be part of the task's environment. */
int task_set(const struct task *task, const char *name, const char *value);
void task_unset(const struct task *task, const char *name);

/* Whether the kernel will still start the task with extra more bytes in its environment. */
bool task_has_room(const struct task *task, size_t extra);

#endif
