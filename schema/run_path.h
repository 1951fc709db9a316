/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of run directories and profile files. */
#ifndef SCOPE_RUN_PATH_H
#define SCOPE_RUN_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "schema/error.h"

#define RUN_PREFIX "scope-profile-"

/* What the patterns of out= stand for: %j job, %s step, %u user, %x job name, %A array job,
 * %a array task, %% a percent sign. NULL: not known here, and an error if the pattern asks for it.
 */
struct run_names {
    const char *job, *step, *user, *job_name, *array_job, *array_task;
};

/* Whether every pattern in pattern (of out=) is one of those, so that a wrong one can be refused
 * before anything starts. Returns 0, or -1 and err, which names the wrong one. */
int run_path_check(const char *pattern, struct error *err);

/* Expands pattern (of out=) into path[size]. A value is inserted with '/' and control characters
 * replaced by '_', so it stays one path component. Returns 0, or -1 and err (%N, %t and unknown
 * patterns are refused by name; too long). */
int run_path_expand(const char *pattern, const struct run_names *names, char *path, size_t size,
                    struct error *err);

/* Writes "PARENT/scope-profile-JOB" plus "-rN" when restart > 0. parent "" means the current
 * directory and is made absolute. job is "17.0" or "HOST-PID". */
int run_path_directory(const char *parent, const char *job, int restart, char *path, size_t size,
                       struct error *err);

/* Writes the profile file's path beside run directory: "DIR.h5" for world_index 0, "DIR-2.h5" for
 * 1,
 * ... Trailing slashes of directory do not count. */
int run_path_profile(const char *directory, unsigned world_index, char *path, size_t size,
                     struct error *err);

#endif
