/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of run directories and profile files. */
#include "schema/run_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATTERNS "the patterns are %%j %%s %%u %%x %%A %%a and %%%%"

/* A path that is being put together. */
struct path {
    char *text;
    size_t size, length;
    bool overflow;
};

static void append(struct path *path, const char *text, size_t length)
{
    if (length >= path->size - path->length) {
        path->overflow = true;
        return;
    }
    memcpy(path->text + path->length, text, length);
    path->length += length;
    path->text[path->length] = '\0';
}

static int finish(const struct path *path, struct error *err)
{
    if (path->overflow)
        return error_set(err, "the path does not fit in %zu bytes", path->size);
    return 0;
}

static struct path begin(char *text, size_t size)
{
    if (size > 0)
        *text = '\0';
    return (struct path){.text = text, .size = size};
}

/* A value must stay one path component: it can neither be empty nor lead upwards. */
static void append_value(struct path *path, const char *value)
{
    bool climbs = strcmp(value, ".") == 0 || strcmp(value, "..") == 0;
    if (*value == '\0')
        append(path, "_", 1);
    for (; *value; value++) {
        bool bad = *value == '/' || (unsigned char)*value < ' ' || *value == 127 || climbs;
        append(path, bad ? "_" : value, 1);
    }
}

/* What names hold for the letter of a pattern; *meaning is what it stands for, NULL if unknown. */
static const char *lookup(const struct run_names *names, char letter, const char **meaning)
{
    switch (letter) {
    case 'j':
        *meaning = "the job";
        return names->job;
    case 's':
        *meaning = "the step";
        return names->step;
    case 'u':
        *meaning = "the user";
        return names->user;
    case 'x':
        *meaning = "the job's name";
        return names->job_name;
    case 'A':
        *meaning = "the array job";
        return names->array_job;
    case 'a':
        *meaning = "the array task";
        return names->array_task;
    default:
        *meaning = NULL;
        return NULL;
    }
}

static int refuse(char letter, struct error *err)
{
    if (letter == 'N' || letter == 't')
        return error_set(
            err, "%%%c cannot stand in out=: all nodes and tasks share one directory; " PATTERNS,
            letter);
    if (letter == '\0')
        return error_set(err, "the directory of out= ends in a single %%; " PATTERNS);
    return error_set(err, "unknown pattern %%%c in out=; " PATTERNS,
                     (unsigned char)letter < ' ' || letter == 127 ? '?' : letter);
}

int run_path_check(const char *pattern, struct error *err)
{
    static const struct run_names none;
    for (const char *p = pattern; (p = strchr(p, '%')); p += 2) {
        const char *meaning;
        lookup(&none, p[1], &meaning);
        if (!meaning && p[1] != '%')
            return refuse(p[1], err);
    }
    return 0;
}

int run_path_expand(const char *pattern, const struct run_names *names, char *path, size_t size,
                    struct error *err)
{
    struct path result = begin(path, size);
    for (const char *p = pattern; *p; p++) {
        if (*p != '%') {
            append(&result, p, 1);
            continue;
        }
        if (*++p == '%') {
            append(&result, "%", 1);
            continue;
        }
        const char *meaning, *value = lookup(names, *p, &meaning);
        if (!meaning)
            return refuse(*p, err);
        if (!value)
            return error_set(err, "%%%c in out= stands for %s, which is not known here", *p,
                             meaning);
        append_value(&result, value);
    }
    return finish(&result, err);
}

static int append_working_directory(struct path *path, struct error *err)
{
    if (!getcwd(path->text, path->size))
        return error_set(err, "the working directory cannot be told: %s", strerror(errno));
    path->length = strlen(path->text);
    return 0;
}

static void strip_slashes(struct path *path)
{
    while (path->length > 0 && path->text[path->length - 1] == '/')
        path->text[--path->length] = '\0';
}

int run_path_directory(const char *parent, const char *job, int restart, char *path, size_t size,
                       struct error *err)
{
    struct path result = begin(path, size);
    if (*job == '\0' || strchr(job, '/'))
        return error_set(err, "\"%s\" cannot name a run", job);
    if (*parent != '/') {
        if (append_working_directory(&result, err) < 0)
            return -1;
        strip_slashes(&result);
        append(&result, "/", 1);
    }
    append(&result, parent, strlen(parent));
    strip_slashes(&result);
    append(&result, "/" RUN_PREFIX, strlen("/" RUN_PREFIX));
    append(&result, job, strlen(job));
    if (restart > 0) {
        char number[16];
        append(&result, number, (size_t)snprintf(number, sizeof number, "-r%d", restart));
    }
    return finish(&result, err);
}

int run_path_profile(const char *directory, unsigned world_index, char *path, size_t size,
                     struct error *err)
{
    struct path result = begin(path, size);
    append(&result, directory, strlen(directory));
    strip_slashes(&result);
    if (result.length == 0 && !result.overflow)
        return error_set(err, "\"%s\" is no run directory", directory);
    if (world_index > 0) {
        char number[16];
        append(&result, number,
               (size_t)snprintf(number, sizeof number, "-%llu", world_index + 1ULL));
    }
    append(&result, ".h5", 3);
    return finish(&result, err);
}
