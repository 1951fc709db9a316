/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of a batch script's mpiruns: directories that are found by their names. */
#define _GNU_SOURCE
#include "merge/mpirun_runs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/options.h"

/* Skips digits; NULL if there are none. */
static const char *skip_number(const char *text)
{
    size_t length = strspn(text, "0123456789");
    return length ? text + length : NULL;
}

/* Whether name is BASE-N or BASE-N-rR. */
static bool is_run(const char *name, const char *base)
{
    size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || name[length] != '-')
        return false;
    const char *rest = skip_number(name + length + 1);
    if (rest && strncmp(rest, "-r", 2) == 0)
        rest = skip_number(rest + 2);
    return rest && *rest == '\0';
}

static bool is_directory(int parent, const char *name)
{
    struct stat info;
    return fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

void mpirun_runs_each(const char *prefix, mpirun_runs_take *take, void *data)
{
    char parent[OPTIONS_PATH_MAX], run[OPTIONS_PATH_MAX];
    const char *slash = strrchr(prefix, '/');
    if (!slash || (size_t)(slash - prefix) >= sizeof parent)
        return;
    snprintf(parent, sizeof parent, "%.*s/", (int)(slash - prefix), prefix);
    int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (!list) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(list));) {
        if (is_run(entry->d_name, slash + 1) && is_directory(fd, entry->d_name) &&
            snprintf(run, sizeof run, "%s%s", parent, entry->d_name) < (int)sizeof run)
            take(data, run);
    }
    closedir(list);
}
