/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's part in slurmstepd: what it does when a task starts and when it has ended. */
#include "spank/stepd.h"

#include <fcntl.h>
#include <inttypes.h>
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
#include "schema/trace_container.h"
#include "spank/likwid.h"
#include "spank/mpirun.h"
#include "spank/multi_prog.h"
#include "spank/node_end.h"
#include "spank/program.h"
#include "spank/root_change.h"
#include "spank/spool.h"
#include "spank/step_entry.h"
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
    if (!text || !task_get(task, STEP_ENV_PARENT) || options_parse(&options, text, NULL) < 0 ||
        !options.mpi_calls)
        return false;
    strcpy(what, text);
    return true;
}

/* MPI launchers start these by srun to start the ranks from; they are no ranks. */
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
    likwid_clean(task);
    static const char *const names[] = {STEP_ENV_RUN,     STEP_ENV_STEP,    STEP_ENV_WHAT,
                                        STEP_ENV_PRELOAD, STEP_ENV_COMMAND, STEP_ENV_PARENT,
                                        STEP_ENV_SITE,    MPIRUN_ENV_JOB,   MPIRUN_ENV_RUN,
                                        MPIRUN_ENV_WHAT,  MPIRUN_ENV_STEP,  MPIRUN_ENV_NODE,
                                        STEP_ENV_SPOOL,   STEP_ENV_SPOOL_FILE,
                                        STEP_ENV_SPOOL_SIZE};
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

struct variable {
    const char *name, *value;
};

/* Sets the variables in the task's environment; the last has no name. */
static int set_all(const struct task *task, const struct variable *variables, struct error *reason)
{
    size_t extra = 0;
    for (const struct variable *v = variables; v->name; v++) {
        if (!v->value)
            return error_set(reason, "%s: no memory", task->argv[0]);
        extra += strlen(v->name) + strlen(v->value) + 2 + sizeof(char *);
    }
    if (!task_has_room(task, extra))
        return error_set(reason, "%s: its environment is nearly full", task->argv[0]);
    for (const struct variable *v = variables; v->name; v++) {
        if (task_set(task, v->name, v->value) < 0)
            return error_set(reason, "%s: %s is too long for the environment", task->argv[0],
                             v->name);
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

static void unset_spool(const struct task *task)
{
    task_unset(task, STEP_ENV_SPOOL);
    task_unset(task, STEP_ENV_SPOOL_FILE);
    task_unset(task, STEP_ENV_SPOOL_SIZE);
}

/* Whether the library may go into what the task runs. */
static int check_task(const struct task *task, const struct settings *settings,
                      struct error *reason)
{
    char name[PATH_MAX];
    if (check_partition(task, settings, reason) < 0 ||
        program_check(program_of(task, name), task_get(task, "PATH"), reason) < 0 ||
        root_change_check(task->argc, task->argv, settings->preload, reason) < 0)
        return -1;
    return check_library(task, settings->preload, reason);
}

/* LD_PRELOAD with the library and without another of ours that an outer step put in; to be
 * freed. */
static char *preload_value(const struct task *task, const char *library)
{
    const char *outer = task_get(task, STEP_ENV_PRELOAD);
    if (outer && strcmp(outer, library) != 0)
        take_out(task, outer);
    return ld_preload_add(task_get(task, "LD_PRELOAD"), library);
}

/* One line for the whole step, on the user's stderr; none where the user did not ask for anything.
 */
static void say(const struct task *task, const char *text)
{
    const char *rank = task_get(task, "SLURM_PROCID");
    if (task_get(task, STEP_ENV_SITE))
        return;
    if (rank && strcmp(rank, "0") == 0)
        dprintf(STDERR_FILENO, "scope-profile: %s\n", text);
}

/* Whatever the reason is, the task starts as it would have without us. */
static int inject(const struct task *task, const struct settings *settings, struct error *reason)
{
    struct task_run run;
    char marker[NODE_MARKER_NAME_SIZE], container[TRACE_CONTAINER_NAME_SIZE], size[24] = "";
    if (check_task(task, settings, reason) < 0 || task_run_find(task, &run, reason) < 0)
        return -1;
    const char *spool = spool_seen();
    if (spool && (task_marker(task, marker) < 0 ||
                  trace_container_name(marker + strlen(NODE_MARKER_PREFIX), container) < 0))
        spool = NULL;
    if (settings->spool_size > 0)
        snprintf(size, sizeof size, "%" PRIu64, settings->spool_size);
    unset_spool(task); /* of an outer step */
    char *preload = preload_value(task, settings->preload);
    const struct variable variables[] = {
        {STEP_ENV_RUN, run.directory},         {STEP_ENV_STEP, run.step},
        {STEP_ENV_WHAT, what},                 {STEP_ENV_COMMAND, run.command},
        {STEP_ENV_PRELOAD, settings->preload}, {"LD_PRELOAD", preload},
        {spool ? STEP_ENV_SPOOL : NULL, spool}, {STEP_ENV_SPOOL_FILE, container},
        {STEP_ENV_SPOOL_SIZE, size},           {NULL, NULL},
    };
    struct error uncounted, line;
    bool is_site = task_get(task, STEP_ENV_SITE) != NULL;
    likwid_clean(task);
    int status = set_all(task, variables, reason);
    free(preload);
    if (status == 0 && likwid_prepare(task, what, settings->likwid_tool, !settings->likwid,
                                      &uncounted) < 0 && !is_site) {
        error_set(&line, "hardware counters are not read: %s", uncounted.text);
        say(task, line.text);
    }
    return status;
}

/* The batch script, or a daemon of mpirun's: the ranks below it go to a run of mpirun's own. */
static int inject_mpirun(const struct task *task, const struct settings *settings,
                         struct error *reason)
{
    struct mpirun mpirun;
    bool daemon = !task->is_shell;
    reason->text[0] = '\0';
    if (mpirun_find(task, NULL, &mpirun, reason) <= 0 || check_task(task, settings, reason) < 0)
        return -1;
    char *preload = preload_value(task, settings->preload);
    const struct variable variables[] = {
        {MPIRUN_ENV_JOB, mpirun.job},   {MPIRUN_ENV_RUN, mpirun.runs},
        {MPIRUN_ENV_WHAT, mpirun.what}, {STEP_ENV_PRELOAD, settings->preload},
        {"LD_PRELOAD", preload},        {daemon ? MPIRUN_ENV_STEP : NULL, mpirun.step},
        {MPIRUN_ENV_NODE, mpirun.node}, {NULL, NULL},
    };
    int status = set_all(task, variables, reason);
    free(preload);
    unset_spool(task);
    /* What srun said of the daemons is not for the ranks below them. */
    task_unset(task, STEP_ENV_RUN);
    task_unset(task, STEP_ENV_STEP);
    task_unset(task, STEP_ENV_WHAT);
    task_unset(task, STEP_ENV_COMMAND);
    return status;
}

/* Whether the library may go into it, as far as is known before its program is looked at. */
static bool is_profiled(const struct task *task, const struct settings *settings)
{
    return is_asked(task) && task->is_program && !is_launcher(task) &&
           check_partition(task, settings, NULL) == 0;
}

void stepd_step(spank_t spank, const struct settings *settings)
{
    struct task task;
    struct options options;
    struct error err;
    if (task_read(&task, spank) < 0 || !is_profiled(&task, settings))
        return;
    if (spool_make(&task, settings, &err) < 0)
        slurm_info("scope-profile: %s", err.text);
    if (options_parse(&options, what, NULL) == 0 &&
        step_entry_add(&task, settings, options.merge, &err) < 0)
        slurm_info("scope-profile: the epilog cannot merge this step: %s", err.text);
}

void stepd_task_started(spank_t spank, const struct settings *settings)
{
    struct task task;
    struct error err;
    if (task_read(&task, spank) == 0 &&
        (task.is_shell || (task.is_program && is_launcher(&task))) &&
        check_partition(&task, settings, NULL) == 0 &&
        step_entry_add_mpirun(&task, settings, &err) < 0)
        slurm_info("scope-profile: the epilog cannot merge what mpirun starts: %s", err.text);
}

void stepd_task(spank_t spank, const struct settings *settings)
{
    struct task task;
    struct error reason = {.text = ""};
    int status = -1;
    if (task_read(&task, spank) < 0)
        return;
    if (task.is_shell || (task.is_program && is_launcher(&task)))
        status = inject_mpirun(&task, settings, &reason);
    else if (task.is_program && is_asked(&task))
        status = inject(&task, settings, &reason);
    if (status < 0) {
        struct error line;
        error_set(&line, "%s: it is run without profiling", reason.text);
        if (reason.text[0] != '\0')
            say(&task, line.text);
        clean(&task);
    }
}

void stepd_task_exit(spank_t spank, const struct settings *settings)
{
    struct task task;
    if (task_read(&task, spank) == 0 && is_profiled(&task, settings)) {
        task_end_note(&task);
        node_end_note(&task);
    }
}

void stepd_exit(void)
{
    struct error err;
    if (spool_close(NULL, "", &err) < 0)
        slurm_info("scope-profile: %s", err.text);
}
