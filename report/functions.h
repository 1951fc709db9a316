/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted by MPI function: polls that found nothing, unrecorded calls, failed calls. */
#ifndef SCOPE_FUNCTIONS_H
#define SCOPE_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "report/rank_set.h"
#include "schema/error.h"
#include "schema/profile_reader.h"

enum { FUNCTION_NAME = 80 };

struct function {
    char name[FUNCTION_NAME]; /* "MPI_Iprobe" */
    int32_t error_class;      /* of calls that failed: PROFILE_FAILED_* or the MPI library's */
    uint64_t count;
    double time; /* ns; not known of calls that failed */
};

struct functions {
    struct function *list; /* by count, the largest first */
    size_t count;
    uint64_t total;
    double time;
};

/* Add up a table of counted calls, or the failed calls of profile, for the ranks in set. Return 0
 * and *functions, to be released, or -1 and err (memory). */
int functions_of_counts(struct functions *functions, const struct profile_counts *counts,
                        const struct rank_set *set, struct error *err);
int functions_of_failed(struct functions *functions, const struct profile *profile,
                        const struct rank_set *set, struct error *err);

void functions_release(struct functions *functions);

#endif
