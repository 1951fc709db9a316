/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPUs (hardware threads) that a task may run on. */
#define _GNU_SOURCE
#include "spank/task_cpus.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 8 * sizeof(unsigned long), WORDS = TASK_CPUS_MAX / WORD };

static bool has(const struct task_cpus *cpus, size_t cpu)
{
    return cpus->bits[cpu / WORD] >> cpu % WORD & 1;
}

int task_cpus_read(struct task_cpus *cpus, pid_t pid)
{
    memset(cpus, 0, sizeof *cpus);
    return sched_getaffinity(pid, sizeof cpus->bits, (cpu_set_t *)cpus->bits);
}

size_t task_cpus_count(const struct task_cpus *cpus)
{
    size_t count = 0;
    for (size_t i = 0; i < WORDS; i++)
        count += (size_t)__builtin_popcountl(cpus->bits[i]);
    return count;
}

int task_cpus_print(const struct task_cpus *cpus, char *text, size_t size)
{
    size_t length = 0;
    for (size_t cpu = 0; cpu < TASK_CPUS_MAX; cpu++) {
        if (!has(cpus, cpu))
            continue;
        int written = snprintf(text + length, size - length, "%s%zu", length ? "," : "", cpu);
        if (written < 0 || (size_t)written >= size - length)
            return -1;
        length += (size_t)written;
    }
    return length > 0 ? 0 : -1;
}

/* Whether the process is another child of our parent's in our process group. */
static bool is_sibling(const char *pid)
{
    char path[64], text[512];
    int parent, group;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0 || atoi(pid) == (int)getpid())
        return false;
    text[length] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && sscanf(name_end + 1, " %*c %d %d", &parent, &group) == 2 &&
           parent == (int)getppid() && group == (int)getpgrp();
}

static bool overlap(const struct task_cpus *a, const struct task_cpus *b)
{
    for (size_t i = 0; i < WORDS; i++) {
        if (a->bits[i] & b->bits[i])
            return true;
    }
    return false;
}

bool task_cpus_are_shared(const struct task_cpus *cpus)
{
    struct task_cpus others;
    struct dirent *entry;
    bool are_shared = false;
    DIR *processes = opendir("/proc");
    while (processes && !are_shared && (entry = readdir(processes))) {
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && is_sibling(entry->d_name) &&
            task_cpus_read(&others, atoi(entry->d_name)) >= 0)
            are_shared = overlap(cpus, &others);
    }
    if (processes)
        closedir(processes);
    return are_shared;
}
