/* SPDX-License-Identifier: BSD-3-Clause */
/* Which run a directory means, to those who do not want to look for its name. */
#define _GNU_SOURCE
#include "merge/run_choice.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "merge/containers.h"
#include "schema/run_path.h"

/* Opens the run with the traces that nodes have not copied yet. */
static int open_run(struct run *run, const char *path, struct error *err)
{
    if (run_open(run, path, err) < 0)
        return -1;
    if (containers_read_spools(run) == 0)
        return 0;
    run_release(run);
    return error_set(err, "out of memory");
}

/* Whether there are traces, here or on another node. */
static bool has_traces(const struct run *run)
{
    for (size_t i = 0; i < run->container_count; i++) {
        if (run->containers[i].is_elsewhere)
            return true;
    }
    return run->world_count > 0;
}

/* --- a world -----------------------------------------------------------------------------------
 */

static bool holds_traces(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    bool found = false;
    while (directory && !found && (entry = readdir(directory)))
        found = run_is_trace_name(entry->d_name);
    if (directory)
        closedir(directory);
    return found;
}

/* Opens the run around the world at path. */
static int choose_world(struct run_choice *choice, const char *path, struct error *err)
{
    char *resolved = realpath(path, NULL), *slash = resolved ? strrchr(resolved, '/') : NULL;
    if (!slash) {
        free(resolved);
        return error_set(err, "%s: %s", path, strerror(errno));
    }
    *slash = '\0';
    int status = open_run(&choice->run, slash == resolved ? "/" : resolved, err);
    const struct run *run = &choice->run;
    choice->has_world = true;
    while (status == 0 && choice->world < run->world_count &&
           strcmp(run->worlds[choice->world].name, slash + 1) != 0)
        choice->world++;
    if (status == 0 && choice->world == run->world_count) {
        run_release(&choice->run);
        status = error_set(err, "%s: no trace in it can be read", path);
    }
    free(resolved);
    return status;
}

/* --- the newest run ----------------------------------------------------------------------------
 */

struct candidate {
    char *path;
    struct timespec changed;
};

static int compare_candidates(const void *left, const void *right)
{
    const struct timespec *a = &((const struct candidate *)left)->changed;
    const struct timespec *b = &((const struct candidate *)right)->changed;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec > b->tv_sec ? -1 : 1;
    return a->tv_nsec > b->tv_nsec ? -1 : a->tv_nsec < b->tv_nsec;
}

struct candidates {
    struct candidate *list;
    size_t count;
};

static int add_candidate(struct candidates *candidates, const char *parent, const char *name)
{
    struct candidate candidate = {0};
    struct stat info;
    if (asprintf(&candidate.path, "%s/%s", parent, name) < 0)
        return -1;
    if (lstat(candidate.path, &info) < 0 || !S_ISDIR(info.st_mode)) {
        free(candidate.path);
        return 0;
    }
    candidate.changed = info.st_mtim;
    struct candidate *more =
        realloc(candidates->list, (candidates->count + 1) * sizeof(*candidates->list));
    if (!more) {
        free(candidate.path);
        return -1;
    }
    candidates->list = more;
    candidates->list[candidates->count++] = candidate;
    return 0;
}

static int find_candidates(struct candidates *candidates, const char *parent, struct error *err)
{
    DIR *directory = opendir(parent);
    struct dirent *entry;
    int status = 0;
    if (!directory)
        return error_set(err, "cannot open the directory %s: %s", parent, strerror(errno));
    while (status == 0 && (entry = readdir(directory))) {
        if (strncmp(entry->d_name, RUN_PREFIX, strlen(RUN_PREFIX)) == 0)
            status = add_candidate(candidates, parent, entry->d_name);
    }
    closedir(directory);
    if (status < 0)
        return error_set(err, "out of memory");
    if (candidates->count > 1)
        qsort(candidates->list, candidates->count, sizeof(*candidates->list), compare_candidates);
    return 0;
}

/* Opens the newest run below parent that has a trace. */
static int choose_newest(struct run_choice *choice, const char *parent, struct error *err)
{
    struct candidates candidates = {0};
    bool found = false;
    int status = find_candidates(&candidates, parent, err);
    for (size_t i = 0; status == 0 && !found && i < candidates.count; i++) {
        if (open_run(&choice->run, candidates.list[i].path, NULL) < 0)
            continue;
        found = has_traces(&choice->run);
        if (!found)
            run_release(&choice->run);
    }
    if (status == 0 && !found)
        status = error_set(err, "no trace in %s: name the directory where the job was started, or "
                                "that of its out=", parent);
    for (size_t i = 0; i < candidates.count; i++)
        free(candidates.list[i].path);
    free(candidates.list);
    return status;
}

int run_choose(struct run_choice *choice, const char *path, struct error *err)
{
    *choice = (struct run_choice){0};
    if (holds_traces(path))
        return choose_world(choice, path, err);
    if (open_run(&choice->run, path, err) < 0)
        return -1;
    if (has_traces(&choice->run))
        return 0;
    run_release(&choice->run);
    return choose_newest(choice, path, err);
}
