/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of Slurm that run on this host. */
#include "merge/running_steps.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "17.0" of the process that calls itself "slurmstepd: [17.0]"; false: it is none. */
static bool read_step(const char *pid, char step[static RUNNING_STEP_SIZE])
{
    static const char title[] = "slurmstepd: [";
    char path[64], text[sizeof title + RUNNING_STEP_SIZE];
    snprintf(path, sizeof path, "/proc/%.20s/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (got < (ssize_t)strlen(title) || memcmp(text, title, strlen(title)) != 0)
        return false;
    text[got] = '\0';
    size_t length = strcspn(text + strlen(title), "]");
    snprintf(step, RUNNING_STEP_SIZE, "%.*s", (int)length, text + strlen(title));
    return true;
}

/* Whether this process runs in it. Slurm tells a batch script its job alone. */
static bool is_own(const char *step)
{
    const char *job = getenv("SLURM_JOB_ID"), *number = getenv("SLURM_STEP_ID");
    size_t length = job ? strlen(job) : 0;
    if (length == 0 || strncmp(step, job, length) != 0 || step[length] != '.')
        return false;
    const char *name = step + length + 1;
    return strcmp(name, "batch") == 0 || strcmp(name, "interactive") == 0 ||
           (number && strcmp(name, number) == 0);
}

bool running_steps_find(const char *over, char step[static RUNNING_STEP_SIZE])
{
    struct dirent *entry;
    bool is_found = false;
    DIR *processes = opendir("/proc");
    while (processes && !is_found && (entry = readdir(processes))) {
        if (!isdigit((unsigned char)entry->d_name[0]) || !read_step(entry->d_name, step))
            continue;
        const char *name = strchr(step, '.');
        is_found = !(name && strcmp(name, ".extern") == 0) && strcmp(step, over) != 0 &&
                   !is_own(step);
    }
    if (processes)
        closedir(processes);
    return is_found;
}
