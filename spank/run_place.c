/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the run directory of a step lies: srun and every slurmstepd must come to the same answer.
 */
#include "spank/run_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/options.h"

int run_place_parent(const char *out, const char *directory, char *pattern, size_t size,
                     struct error *err)
{
    char here[OPTIONS_PATH_MAX];
    size_t length = 0;
    if (*out != '/') {
        if (!directory && !(directory = getcwd(here, sizeof here)))
            return error_set(err, "the working directory cannot be told: %s", strerror(errno));
        for (const char *p = directory; *p && length + 2 < size; p++) {
            pattern[length++] = *p;
            if (*p == '%')
                pattern[length++] = '%';
        }
        if (*out && length + 1 < size)
            pattern[length++] = '/';
    }
    if (length + strlen(out) + 1 > size || length + 2 >= size)
        return error_set(err, "the path of the run does not fit in %zu bytes", size);
    strcpy(pattern + length, out);
    return 0;
}

int run_place_directory(const char *pattern, const struct run_names *names, const char *restart,
                        char *path, size_t size, struct error *err)
{
    char parent[OPTIONS_PATH_MAX], run[64];
    int length = snprintf(run, sizeof run, "%s.%s", names->job, names->step);
    if (length < 0 || (size_t)length >= sizeof run)
        return error_set(err, "the ids of the step are too long");
    if (run_path_expand(pattern, names, parent, sizeof parent, err) < 0)
        return -1;
    return run_path_directory(parent, run, restart ? atoi(restart) : 0, path, size, err);
}
