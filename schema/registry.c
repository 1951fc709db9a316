/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry: what root keeps on a node of the profiled steps there, until their job's epilog. */
#define _GNU_SOURCE
#include "schema/registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "schema/regular_file.h"

enum { NAME_SIZE = 32 };

/* Slurm's own steps have numbers from here on: that of the batch script, of which there is one entry
 * in a job, is for all its mpiruns. */
#define STEP_SPECIAL UINT32_C(0xfffffff0)

static void name_entry(uint32_t job, uint32_t step, char name[static NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "%" PRIu32 ".%" PRIu32, job, step);
}

/* Whether the name is one that name_entry gives. */
static bool is_entry(const char *name, uint32_t *job, uint32_t *step)
{
    char again[NAME_SIZE];
    return sscanf(name, "%" SCNu32 ".%" SCNu32, job, step) == 2 &&
           (name_entry(*job, *step, again), strcmp(name, again) == 0);
}

int registry_open(const char *directory, bool make, struct error *err)
{
    struct stat info;
    if (make)
        mkdir(directory, 0700); /* what is there instead is looked at below */
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        int reason = errno;
        error_set(err, "the registry %s cannot be opened: %s", directory, strerror(reason));
        errno = reason;
        return -1;
    }
    if (fstat(fd, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & 022) == 0)
        return fd;
    close(fd);
    error_set(err, "the registry %s is not root's alone", directory);
    errno = EPERM;
    return -1;
}

/* --- all entries ---------------------------------------------------------------------------------
 */

/* Calls look for each name. Returns -1 if the directory cannot be read. */
static int for_each(int registry, void (*look)(void *data, const char *name), void *data)
{
    int fd = openat(registry, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    if (!list) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    while ((entry = readdir(list))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            look(data, entry->d_name);
    }
    closedir(list);
    return 0;
}

static time_t changed(int registry, const char *name)
{
    struct stat info;
    return fstatat(registry, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? info.st_mtime : 0;
}

/* What make_room looks for. */
struct survey {
    int registry;
    uint32_t job;
    bool wants_oldest, of_job; /* the oldest entry, of the job or of all */
    size_t of_job_count, count;
    time_t oldest_time;
    char oldest[NAME_SIZE];
};

static void survey(void *data, const char *name)
{
    struct survey *survey = data;
    uint32_t job, step;
    if (!is_entry(name, &job, &step))
        return;
    survey->count++;
    survey->of_job_count += job == survey->job;
    if (!survey->wants_oldest || (survey->of_job && (job != survey->job || step >= STEP_SPECIAL)))
        return;
    time_t time = changed(survey->registry, name);
    if (survey->oldest[0] == '\0' || time < survey->oldest_time) {
        survey->oldest_time = time;
        strcpy(survey->oldest, name);
    }
}

/* One comes, one goes: steps that are not merged by srun keep their traces then. */
static void make_room(int registry, uint32_t job)
{
    struct survey now = {.registry = registry, .job = job};
    if (for_each(registry, survey, &now) < 0 ||
        (now.of_job_count < REGISTRY_JOB_MAX && now.count < REGISTRY_MAX))
        return;
    struct survey again = {.registry = registry,
                           .job = job,
                           .wants_oldest = true,
                           .of_job = now.of_job_count >= REGISTRY_JOB_MAX};
    if (for_each(registry, survey, &again) == 0 && again.oldest[0])
        unlinkat(registry, again.oldest, 0);
}

/* --- one entry -----------------------------------------------------------------------------------
 */

int registry_add(int registry, const struct step_record *record, struct error *err)
{
    char name[NAME_SIZE], temporary[NAME_SIZE + 32], text[STEP_RECORD_MAX];
    size_t length;
    if (step_record_print(record, text, &length, err) < 0)
        return -1;
    make_room(registry, record->job);
    name_entry(record->job, record->step, name);
    snprintf(temporary, sizeof temporary, ".%s-%ld", name, (long)getpid());
    int fd = openat(registry, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                    0600);
    ssize_t written = fd < 0 ? -1 : write(fd, text, length);
    int reason = written < 0 ? errno : (size_t)written < length ? ENOSPC : 0;
    if (fd >= 0 && close(fd) < 0 && reason == 0)
        reason = errno;
    if (reason == 0 && renameat(registry, temporary, registry, name) < 0)
        reason = errno;
    if (reason == 0)
        return 0;
    unlinkat(registry, temporary, 0);
    return error_set(err, "the registry's entry %s cannot be written: %s", name, strerror(reason));
}

struct listing {
    uint32_t job, *steps;
    size_t count, max;
};

static void take(void *data, const char *name)
{
    struct listing *listing = data;
    uint32_t job, step;
    if (is_entry(name, &job, &step) && job == listing->job && listing->count < listing->max)
        listing->steps[listing->count++] = step;
}

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

int registry_list(int registry, uint32_t job, uint32_t *steps, size_t max)
{
    struct listing listing = {.job = job, .steps = steps, .max = max};
    if (for_each(registry, take, &listing) < 0)
        return -1;
    qsort(steps, listing.count, sizeof *steps, compare);
    return (int)listing.count;
}

int registry_read(int registry, uint32_t job, uint32_t step, struct step_record *record,
                  struct error *err)
{
    char name[NAME_SIZE], text[STEP_RECORD_MAX];
    struct stat info;
    struct error reason;
    int64_t size;
    name_entry(job, step, name);
    int fd = regular_file_open(registry, name, &size, err);
    if (fd < 0)
        return -1;
    bool is_safe = fstat(fd, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & 022) == 0;
    ssize_t length = is_safe && size < STEP_RECORD_MAX ? pread(fd, text, sizeof text - 1, 0) : -1;
    close(fd);
    if (length < 0)
        return error_set(err, "%s: %s", name, is_safe ? "is too long" : "is not root's alone");
    text[length] = '\0';
    if (step_record_parse(record, text, (size_t)length, &reason) < 0)
        return error_set(err, "%s: %s", name, reason.text);
    if (record->job != job || record->step != step)
        return error_set(err, "%s: is of another step", name);
    return 0;
}

bool registry_has(int registry, uint32_t job, uint32_t step)
{
    char name[NAME_SIZE];
    name_entry(job, step, name);
    return faccessat(registry, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void registry_remove(int registry, uint32_t job, uint32_t step)
{
    char name[NAME_SIZE];
    name_entry(job, step, name);
    unlinkat(registry, name, 0);
}

struct cleaning {
    int registry;
    time_t before;
};

static void clean(void *data, const char *name)
{
    const struct cleaning *cleaning = data;
    if (changed(cleaning->registry, name) < cleaning->before)
        unlinkat(cleaning->registry, name, 0);
}

void registry_clean(int registry, int64_t age_s)
{
    struct cleaning cleaning = {.registry = registry, .before = time(NULL) - (time_t)age_s};
    for_each(registry, clean, &cleaning);
}
