/* SPDX-License-Identifier: BSD-3-Clause */
/* The last task of a step on this node has ended: the node's part of the run is done. */
#ifndef SCOPE_NODE_END_H
#define SCOPE_NODE_END_H

#include <stdbool.h>

#include "spank/task.h"

/* For the callback task_exit, once for each task of the step on this node, behind everything that
 * is still written for that task: after the last one the node's marker (schema/node_marker.h) is
 * put into the run directory, if there is one. Takes no longer than copying the spool may and seven
 * seconds: Slurm drains a node whose tasks are not waited for within UnkillableStepTimeout, 60 s. */
void node_end_note(const struct task *task);

#endif
