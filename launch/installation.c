/* SPDX-License-Identifier: BSD-3-Clause */
/* The other files of this package: beside the running program first. */
#include "launch/installation.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The directory of the running program, or "." where the system does not tell. */
static void own_directory(char directory[static PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", directory, PATH_MAX - 1);
    directory[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(directory, '/');
    if (slash)
        *slash = '\0';
    else
        strcpy(directory, ".");
}

/* places: relative ones are below the program's directory. The last one is NULL. */
static int find(const char *const *places, int mode, char *path, size_t size, struct error *err)
{
    char directory[PATH_MAX];
    size_t told = 0;
    struct error where = {""};
    own_directory(directory);
    for (; *places; places++) {
        const char *below = **places == '/' ? "" : directory;
        int length = snprintf(path, size, "%s%s%s", below, *below ? "/" : "", *places);
        if (length > 0 && (size_t)length < size && access(path, mode) == 0)
            return 0;
        int more = snprintf(where.text + told, sizeof where.text - told, "%s%s%s%s",
                            told ? ", " : "", below, *below ? "/" : "", *places);
        if (more > 0 && (size_t)more < sizeof where.text - told)
            told += (size_t)more;
    }
    return error_set(err, "there is none of %.900s", where.text);
}

int installation_preload(char *path, size_t size, struct error *err)
{
    static const char *const places[] = {".libs/libscope_preload.so",
                                         "../lib/scope-profile/libscope_preload.so",
                                         SP_PRELOAD_PATH, NULL};
    return find(places, R_OK, path, size, err);
}

int installation_merge(char *path, size_t size, struct error *err)
{
    static const char *const places[] = {"sp-merge", SP_MERGE_PATH, NULL};
    return find(places, X_OK, path, size, err);
}
