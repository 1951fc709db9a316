/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted by MPI function: polls that found nothing, unrecorded calls, failed calls. */
#include "report/functions.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "mpi:comm_dup kind=..." is of MPI_Comm_dup; what is no such label is kept as it is. */
static void name_function(const char *region, char name[static FUNCTION_NAME])
{
    const char *operation = strncmp(region, "mpi:", 4) == 0 ? region + 4 : NULL;
    if (!operation) {
        snprintf(name, FUNCTION_NAME, "%s", region);
        return;
    }
    snprintf(name, FUNCTION_NAME, "MPI_%.*s", (int)strcspn(operation, " "), operation);
    name[4] = (char)toupper((unsigned char)name[4]);
}

static int compare_functions(const void *left, const void *right)
{
    const struct function *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    if (order != 0)
        return order;
    return a->error_class < b->error_class ? -1 : a->error_class > b->error_class;
}

static int compare_counts(const void *left, const void *right)
{
    const struct function *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return compare_functions(left, right);
}

static int make_room(struct functions *functions, size_t rows, struct error *err)
{
    *functions = (struct functions){0};
    functions->list = calloc(rows + 1, sizeof(*functions->list));
    return functions->list ? 0 : error_set(err, "out of memory");
}

static void add(struct functions *functions, const char *region, int32_t error_class,
                uint64_t count, double time)
{
    struct function *function = &functions->list[functions->count++];
    name_function(region, function->name);
    function->error_class = error_class;
    function->count = count;
    function->time = time;
    functions->total += count;
    functions->time += time;
}

/* Makes one of those that are of the same function and error class. */
static void settle(struct functions *functions)
{
    struct function *list = functions->list;
    size_t kept = 0;
    qsort(list, functions->count, sizeof(*list), compare_functions);
    for (size_t i = 0; i < functions->count; i++) {
        if (kept > 0 && compare_functions(&list[kept - 1], &list[i]) == 0) {
            list[kept - 1].count += list[i].count;
            list[kept - 1].time += list[i].time;
        } else {
            list[kept++] = list[i];
        }
    }
    functions->count = kept;
    qsort(list, kept, sizeof(*list), compare_counts);
}

int functions_of_counts(struct functions *functions, const struct profile_counts *counts,
                        const struct rank_set *set, struct error *err)
{
    if (make_room(functions, counts->count, err) < 0)
        return -1;
    for (size_t i = 0; i < counts->count; i++) {
        const struct profile_counted *row = &counts->rows[i];
        if (rank_set_has(set, row->rank))
            add(functions, row->region, 0, row->count, (double)row->ns);
    }
    settle(functions);
    return 0;
}

int functions_of_failed(struct functions *functions, const struct profile *profile,
                        const struct rank_set *set, struct error *err)
{
    if (make_room(functions, profile->failed_count, err) < 0)
        return -1;
    for (size_t i = 0; i < profile->failed_count; i++) {
        const struct profile_failed *row = &profile->failed[i];
        if (rank_set_has(set, row->rank))
            add(functions, row->region, row->error_class, row->count, 0);
    }
    settle(functions);
    return 0;
}

void functions_release(struct functions *functions)
{
    free(functions->list);
    *functions = (struct functions){0};
}
