/* SPDX-License-Identifier: BSD-3-Clause */
/* The program a task is about to run: found, looked at, and fit for a preload library or not. */
#ifndef SCOPE_PROGRAM_H
#define SCOPE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "schema/error.h"

/* Finds name as the C library's execvp does: a name with a slash as it is, relative to the working
 * directory, others along path (PATH's value, or NULL). Writes the file's name to file[size].
 * Returns whether there is an executable regular file. */
bool program_find(const char *name, const char *path, char *file, size_t size);

/* Looks whether a preload library may go into the program name; of a script, into its interpreter,
 * and of "env PROGRAM" in a script's first line, into PROGRAM.
 * Returns 0: it may. Returns -1: it may not, and reason->text says why in a form that begins with
 * the name, "./app is statically linked"; it is empty if the program cannot be started at all, of
 * which somebody else will tell the user. */
int program_check(const char *name, const char *path, struct error *reason);

#endif
