/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's part in slurmstepd: what it does when a task starts and when it has ended. */
#include "spank/stepd.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "schema/ld_preload.h"
#include "schema/options.h"
#include "schema/run_environment.h"
#include "spank/multi_prog.h"
#include "spank/node_end.h"
#include "spank/program.h"
#include "spank/root_change.h"
#include "spank/task.h"
#include "spank/task_end.h"
#include "spank/task_run.h"

static char what[OPTIONS_TEXT_MAX];

/* srun tells in the environment whether the step is to be profiled, whoever asked. Tasks do not
 * hand the parent directory on: without it, it was an outer step that was told. */
static bool is_asked(const struct task *task)
{
    struct options options;
    const char *text = task_get(task, STEP_ENV_WHAT);
    if (!text || !task_get(task, STEP_ENV_PARENT) || options_parse(&options, text, NULL) < 0 || !options.mpi_calls)
        return false;
    strcpy(what, text);
    return true;
}

/* Slurm and the MPI launchers start these by srun to start the ranks from; they are no ranks. */
static bool is_launcher(const struct task *task)
{
    static const char *const launchers[] = {"orted", "prted", "hydra_pmi_proxy",
                                            "hydra_bstrap_proxy"};
    const char *slash = strrchr(task->argv[0], '/');
    const char *name = slash ? slash + 1 : task->argv[0];
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (strcmp(name, launchers[i]) == 0)
            return true;
    }
    return false;
}

/* Takes library out of LD_PRELOAD. */
static void take_out(const struct task *task, const char *library)
{
    char *left;
    const char *value = task_get(task, "LD_PRELOAD");
    if (!value || ld_preload_remove(value, library, &left) < 0)
        return;
    if (!left)
        task_unset(task, "LD_PRELOAD");
    else if (strcmp(left, value) != 0)
        task_set(task, "LD_PRELOAD", left);
    free(left);
}

/* Undoes what an outer step put into the environment this task inherits, and what srun handed on to
 * it; an environment that holds nothing of ours is not touched. */
static void clean(const struct task *task)
{
    static const char *const names[] = {STEP_ENV_RUN,     STEP_ENV_STEP,    STEP_ENV_WHAT,
                                        STEP_ENV_PRELOAD, STEP_ENV_COMMAND, STEP_ENV_PARENT,
                                        STEP_ENV_SITE};
    const char *value = task_get(task, STEP_ENV_PRELOAD);
    char *library = value ? strdup(value) : NULL; /* the environment moves when it is changed */
    if (library)
        take_out(task, library);
    free(library);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        task_unset(task, names[i]);
}

/* Whether ld.so could load the library here and now: a container may lack the file, a mount may
 * forbid to execute it. */
static int check_library(const struct task *task, const char *library, struct error *reason)
{
    const char *node = task_get(task, "SLURMD_NODENAME");
    if (!ld_preload_can_hold(library))
        return error_set(reason, "%s: the path %s cannot stand in LD_PRELOAD", task->argv[0],
                         library);
    int fd = open(library, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    void *page = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (page == MAP_FAILED)
        return error_set(reason, "%s: %s cannot be loaded on %s", task->argv[0], library,
                         node ? node : "this node");
    munmap(page, 1);
    return 0;
}

/* The program that the task runs. Under --multi-prog Slurm tells the list's name and then its text,
 * by which alone it can be told from a program with such an argument. */
static const char *program_of(const struct task *task, char name[static PATH_MAX])
{
    uint32_t id;
    char file[PATH_MAX];
    if (task->argc < 2 || !strchr(task->argv[1], '\n') ||
        program_find(task->argv[0], task_get(task, "PATH"), file, sizeof file) ||
        spank_get_item(task->spank, S_TASK_GLOBAL_ID, &id) != ESPANK_SUCCESS ||
        multi_prog_find(task->argv[1], id, name, PATH_MAX) < 0)
        return task->argv[0];
    return name;
}

static int check_room(const struct task *task, const struct task_run *run, const char *preload,
                      const char *library, struct error *reason)
{
    enum { NAMES = 256 };
    size_t extra = NAMES + strlen(run->step) + strlen(run->directory) + strlen(what) +
                   strlen(run->command) + 2 * strlen(library);
    if (!preload)
        return error_set(reason, "%s: no memory", task->argv[0]);
    if (!task_has_room(task, extra))
        return error_set(reason, "%s: its environment is nearly full", task->argv[0]);
    return 0;
}

static int set_all(const struct task *task, const struct task_run *run, const char *preload,
                   const char *library, struct error *reason)
{
    const struct {
        const char *name, *value;
    } variables[] = {
        {STEP_ENV_RUN, run->directory}, {STEP_ENV_STEP, run->step},       {STEP_ENV_WHAT, what},
        {STEP_ENV_PRELOAD, library},    {STEP_ENV_COMMAND, run->command}, {"LD_PRELOAD", preload},
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (task_set(task, variables[i].name, variables[i].value) < 0)
            return error_set(reason, "%s: %s is too long for the environment", task->argv[0],
                             variables[i].name);
    }
    task_unset(task, STEP_ENV_PARENT);
    task_unset(task, STEP_ENV_SITE);
    return 0;
}

static int check_partition(const struct task *task, const struct settings *settings,
                           struct error *reason)
{
    const char *partition = task_get(task, "SLURM_JOB_PARTITION");
    if (!partition || !settings_list_has(settings->deny_partition, partition))
        return 0;
    return error_set(reason, "%s: this site does not profile in partition %s", task->argv[0],
                     partition);
}

/* Whatever the reason is, the task starts as it would have without us. */
static int inject(const struct task *task, const char *library, struct error *reason)
{
    struct task_run run;
    char name[PATH_MAX];
    if (program_check(program_of(task, name), task_get(task, "PATH"), reason) < 0 ||
        root_change_check(task->argc, task->argv, library, reason) < 0 ||
        check_library(task, library, reason) < 0 || task_run_find(task, &run, reason) < 0)
        return -1;

    const char *outer = task_get(task, STEP_ENV_PRELOAD);
    if (outer && strcmp(outer, library) != 0)
        take_out(task, outer);
    char *preload = ld_preload_add(task_get(task, "LD_PRELOAD"), library);
    int status = check_room(task, &run, preload, library, reason);
    if (status == 0)
        status = set_all(task, &run, preload, library, reason);
    free(preload);
    return status;
}

/* One line for the whole step, on the user's stderr; none where the user did not ask for anything.
 */
static void say(const struct task *task, const struct error *reason)
{
    const char *rank = task_get(task, "SLURM_PROCID");
    if (task_get(task, STEP_ENV_SITE))
        return;
    if (reason->text[0] != '\0' && rank && strcmp(rank, "0") == 0)
        dprintf(STDERR_FILENO, "scope-profile: %s: it is run without profiling\n", reason->text);
}

void stepd_task(spank_t spank, const struct settings *settings)
{
    struct task task;
    struct error reason;
    if (task_read(&task, spank) < 0)
        return;
    if (!is_asked(&task) || !task.is_program || is_launcher(&task)) {
        clean(&task);
        return;
    }
    if (check_partition(&task, settings, &reason) < 0 ||
        inject(&task, settings->preload, &reason) < 0) {
        say(&task, &reason);
        clean(&task);
    }
}

void stepd_task_exit(spank_t spank)
{
    struct task task;
    if (task_read(&task, spank) == 0 && is_asked(&task) && task.is_program && !is_launcher(&task))
        node_end_note(&task, task_end_note(&task));
}
