/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry: what root keeps on a node of the profiled steps there, until their job's epilog.
 *
 * A directory of root's with one file for each step, "JOB.STEP" (step_record.h). Only the processes
 * that root starts open it.
 */
#ifndef SCOPE_REGISTRY_H
#define SCOPE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"
#include "schema/step_record.h"

#define REGISTRY_DIRECTORY "/run/scope-profile"

enum {
    REGISTRY_JOB_MAX = 256, /* entries of one job: then its oldest goes */
    REGISTRY_MAX = 2048,    /* of all: then the oldest goes */
    REGISTRY_AGE_S = 30 * 24 * 3600, /* no job lasts so long: what is older has no epilog */
};

/* Opens the directory, and makes it first where make says so: root's alone. Returns a descriptor,
 * or -1 and err (errno is ENOENT if it is not there): it is a link, not of the user that this
 * process runs as, or others may write to it. */
int registry_open(const char *directory, bool make, struct error *err);

/* Adds an entry, complete or not at all, in the place of one of the same step. What is too much
 * goes: see above. Returns 0, or -1 and err. */
int registry_add(int registry, const struct step_record *record, struct error *err);

/* Writes the steps of the job to steps[max], in ascending order, and returns how many there are;
 * -1 if the directory cannot be read. */
int registry_list(int registry, uint32_t job, uint32_t *steps, size_t max);

/* Reads the entry of a step. Returns 0, or -1 and err: it is not there, no regular file, not of the
 * user that this process runs as, or not what step_record_parse takes. */
int registry_read(int registry, uint32_t job, uint32_t step, struct step_record *record,
                  struct error *err);

/* Whether there is an entry of the step. */
bool registry_has(int registry, uint32_t job, uint32_t step);

void registry_remove(int registry, uint32_t job, uint32_t step);

/* Removes what was added longer than age_s seconds ago: its job's epilog never came. */
void registry_clean(int registry, int64_t age_s);

#endif
