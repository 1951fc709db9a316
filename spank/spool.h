/* SPDX-License-Identifier: BSD-3-Clause */
/* The node-local spool of a step: a directory of the user's, below one of root's, until the step
 * ends. */
#ifndef SCOPE_SPOOL_H
#define SCOPE_SPOOL_H

#include <stdbool.h>

#include "schema/error.h"
#include "spank/settings.h"
#include "spank/task.h"

/* As root, before the step's tasks: makes the directory, if the site has a spool. Returns 0, or
 * -1 and err, for the administrator: the step is run without. */
int spool_make(const struct task *task, const struct settings *settings, struct error *err);

/* The directory that was made; "": none was. */
const char *spool_path(void);

/* In a task that is about to start: the directory, or NULL if there is none, or if it is not the
 * one that root made, for the task sees another file system there (a private /tmp). */
const char *spool_seen(void);

/* As root, after the step's last task on this node: copies the traces to the run directory run,
 * if it is not NULL, within the site's time, and removes the directory. part: of the container's
 * name. Does nothing if there is no directory, or no more. Returns 0, or -1 and err, for the
 * administrator. */
int spool_close(const char *run, const char *part, struct error *err);

#endif
