/* SPDX-License-Identifier: BSD-3-Clause */
/* Which QMPI tools the user asks for, and the libraries that they are in. */
#ifndef SCOPE_QMPI_TOOLS_H
#define SCOPE_QMPI_TOOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "schema/options.h"

enum { QMPI_NAME_MAX = OPTIONS_TOOL_MAX, QMPI_TOOLS_MAX = OPTIONS_TOOLS_MAX };

/* The recorder's own name in a list. */
#define QMPI_RECORDER "scope"

/* A tool that announced itself. */
struct qmpi_tool {
    char name[QMPI_NAME_MAX];
    void (*init)(int tool_id);
};

/* Takes down a tool that announces itself; returns 0, or -1 if its name cannot be, is taken, or
 * there is no room. To be called by constructors, hence before anything else of ours ran. */
int qmpi_tools_announce(const char *name, void (*init)(int tool_id));

/* Reads the list of tools that are asked for, QMPI_TOOLS_MAX at most; false if there is none, or if
 * it cannot be: that is told. */
bool qmpi_tools_asked(void);

/* Loads the libraries in which they are looked for. A tool that is not found is told of. */
void qmpi_tools_load(void);

/* For an MPI library that hosts QMPI tools itself, and finds a list in its variable: announces to
 * it, in place of those that announced themselves here, tools that do nothing. It would call a
 * function of each, whether it knows one or not. */
void qmpi_tools_spare(int (*announce)(const char *name, void (*init)(int tool_id)));

/* Calls visit with each tool of the list in order, and with NULL where the recorder stands. */
void qmpi_tools_visit(void (*visit)(const struct qmpi_tool *tool));

#endif
