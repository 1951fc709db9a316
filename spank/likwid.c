/* SPDX-License-Identifier: BSD-3-Clause */
/* What a task needs for LIKWID's markers to count in it. */
#define _GNU_SOURCE
#include "spank/likwid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/likwid_record.h"
#include "schema/options.h"
#include "schema/run_environment.h"
#include "spank/task_cpus.h"
#include "spank/tool_output.h"

enum { LIMIT_MS = 30000, CPUS_TEXT = 64 * 1024, LIKWID_ROOM = 4096 };

static const char *const names[] = {"LIKWID_MODE",    "LIKWID_FORCE",   "LIKWID_EVENTS",
                                    "LIKWID_THREADS", "LIKWID_FILEPATH", "LIKWID_PIN"};

/* "A+B|C" in WHAT is "A,B|C" for LIKWID. */
static bool read_events(const char *what, char events[static OPTIONS_LIKWID_MAX + 1])
{
    size_t length;
    const char *value = options_value(what, "likwid", &length);
    if (!value || length > OPTIONS_LIKWID_MAX)
        return false;
    for (size_t i = 0; i < length; i++)
        events[i] = value[i] == '+' ? ',' : value[i];
    events[length] = '\0';
    return true;
}

/* The CPUs that LIKWID may count on for this task. */
static int find_cpus(const struct task *task, const char *what, char *text, struct error *reason)
{
    struct task_cpus cpus;
    size_t length;
    const char *told = task_get(task, "SLURM_CPUS_ON_NODE");
    long allocated = told ? strtol(told, NULL, 10) : 0;
    if (task_cpus_read(&cpus, 0) < 0)
        return error_set(reason, "the task's CPUs are not known: %s", strerror(errno));
    if (task_cpus_print(&cpus, text, CPUS_TEXT) < 0)
        return error_set(reason, "the task has too many CPUs");
    if (options_value(what, "likwid-shared", &length))
        return 0;
    if (allocated > 0 && task_cpus_count(&cpus) > (size_t)allocated)
        return error_set(reason, "the task is bound to no CPUs of its own (see srun's --cpu-bind)");
    if (task_cpus_are_shared(&cpus))
        return error_set(reason, "the task shares its CPUs with another one (see srun's "
                                 "--cpu-bind; likwid-shared=yes reads them all the same)");
    return 0;
}

/* What sp-likwid-try says of these CPUs and events. */
static int try_first(const struct task *task, const char *tool, const char *events,
                     const char *cpus, char record[static LIKWID_RECORD_SIZE],
                     struct error *reason)
{
    const char *const arguments[] = {tool, events, cpus, NULL};
    const char *const kept[] = {"PATH", "HOME", "LD_LIBRARY_PATH", NULL};
    char *environment[sizeof kept / sizeof *kept] = {NULL};
    size_t count = 0;
    for (size_t i = 0; kept[i]; i++) {
        const char *value = task_get(task, kept[i]);
        if (value && asprintf(&environment[count], "%s=%s", kept[i], value) < 0)
            environment[count] = NULL;
        count += environment[count] != NULL;
    }
    int status = tool_output_read(arguments, environment, LIMIT_MS, record, LIKWID_RECORD_SIZE,
                                  reason);
    for (size_t i = 0; i < count; i++)
        free(environment[i]);
    return status;
}

/* Lines of printable text, joined by tabs, for the environment. */
static int check_record(char *record, struct error *reason)
{
    static const char first[] = LIKWID_RECORD_FIRST "\n", why[] = "\n" LIKWID_RECORD_REASON "=";
    size_t length = strlen(record);
    if (strncmp(record, first, strlen(first)) != 0 || record[length - 1] != '\n')
        return error_set(reason, "sp-likwid-try did not come to its end");
    const char *told = strstr(record, why);
    if (told)
        error_set(reason, "%.*s", (int)strcspn(told + strlen(why), "\n"), told + strlen(why));
    else if (!strstr(record, "\n" LIKWID_RECORD_END "\n"))
        return error_set(reason, "sp-likwid-try did not come to its end");
    for (char *p = record; *p; p++) {
        if (*p == '\n')
            *p = '\t';
        else if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
            *p = '?';
    }
    return told ? -1 : 0;
}

static int add_to_record(char *record, const char *name, const char *value)
{
    size_t length = strlen(record), room = LIKWID_RECORD_SIZE - length;
    return (size_t)snprintf(record + length, room, "%s=%s\t", name, value) < room ? 0 : -1;
}

/* LIKWID pins the threads that it counts in, one to a CPU. Later versions read how many there are
 * without looking whether the program was told. */
static int set_pinning(const struct task *task, const char *cpus)
{
    char threads[16];
    size_t count = 1;
    for (const char *p = cpus; *p; p++)
        count += *p == ',';
    snprintf(threads, sizeof threads, "%zu", count);
    return task_get(task, "OMP_NUM_THREADS") ? 0 : task_set(task, "OMP_NUM_THREADS", threads);
}

/* The variables go into the record, too, but for the path, which the rank alone knows. */
static int set_variables(const struct task *task, const char *what, const char *events,
                         const char *cpus, char *record)
{
    size_t length;
    bool pins = options_value(what, "likwid-pin", &length) != NULL;
    const char *const values[] = {LIKWID_RECORD_MODE, LIKWID_RECORD_FORCE,   events,
                                  cpus,               LIKWID_RECORD_NOWHERE, pins ? cpus : NULL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool is_told = strcmp(names[i], "LIKWID_FILEPATH") != 0;
        if (values[i] && (task_set(task, names[i], values[i]) < 0 ||
                          (is_told && add_to_record(record, names[i], values[i]) < 0)))
            return -1;
    }
    if (pins && set_pinning(task, cpus) < 0)
        return -1;
    return task_set(task, STEP_ENV_LIKWID, record);
}

static void unset_variables(const struct task *task)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        task_unset(task, names[i]);
    task_unset(task, STEP_ENV_LIKWID);
}

/* All of them, or none. */
static int give(const struct task *task, const char *what, const char *events, const char *cpus,
                char *record, struct error *reason)
{
    if (task_has_room(task, 2 * strlen(record) + LIKWID_ROOM) &&
        set_variables(task, what, events, cpus, record) == 0)
        return 0;
    unset_variables(task);
    return error_set(reason, "there is no room in the environment for what LIKWID needs");
}

static int prepare(const struct task *task, const char *what, const char *tool, bool is_forbidden,
                   struct error *reason)
{
    char events[OPTIONS_LIKWID_MAX + 1], *cpus = malloc(CPUS_TEXT);
    char *record = malloc(LIKWID_RECORD_SIZE);
    int status = -1;
    if (!cpus || !record || !read_events(what, events))
        error_set(reason, "no memory");
    else if (is_forbidden)
        error_set(reason, "this site does not allow it");
    else if (find_cpus(task, what, cpus, reason) == 0 &&
             try_first(task, tool, events, cpus, record, reason) == 0 &&
             check_record(record, reason) == 0)
        status = give(task, what, events, cpus, record, reason);
    free(cpus);
    free(record);
    return status;
}

int likwid_prepare(const struct task *task, const char *what, const char *tool, bool is_forbidden,
                   struct error *reason)
{
    char record[ERROR_TEXT_SIZE + 64];
    size_t length;
    if (!options_value(what, "likwid", &length))
        return 0;
    if (prepare(task, what, tool, is_forbidden, reason) == 0)
        return 0;
    snprintf(record, sizeof record, LIKWID_RECORD_FIRST "\t" LIKWID_RECORD_REASON "=%s\t",
             reason->text);
    task_set(task, STEP_ENV_LIKWID, record);
    return -1;
}

void likwid_clean(const struct task *task)
{
    if (task_get(task, STEP_ENV_LIKWID)) /* else they are the user's own, if they are there */
        unset_variables(task);
}
