/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's part in srun (and, for the option alone, in salloc and sbatch). */
#include "spank/srun.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/command_text.h"
#include "schema/options.h"
#include "schema/run_environment.h"
#include "spank/job_end_child.h"
#include "spank/merge_child.h"
#include "spank/run_place.h"
#include "spank/tools.h"

enum { COMPONENTS_MAX = 1024 }; /* Slurm allows 128 */

/* Who said whether the step is profiled, and how. */
enum asker { ASKED_NOBODY, ASKED_OPTION, ASKED_VARIABLE, ASKED_SITE };

static enum asker asker;
static struct options options; /* all false until somebody asks */
static char what[OPTIONS_TEXT_MAX];
static char parent[OPTIONS_PATH_MAX];
static char run[OPTIONS_PATH_MAX]; /* "" until the step is launched */
static uint32_t job_number;
static bool own_job; /* whoever runs srun is the user of the job */

/* A user who did not ask hears nothing. */
static void give_up(const struct error *err)
{
    if (asker != ASKED_SITE)
        fprintf(stderr, "scope-profile: %s: the step is run without profiling\n", err->text);
    options.mpi_calls = false;
}

/* What an outer step, or the job that submits another, was told is not for this one. */
static void forget_outer(void)
{
    unsetenv(STEP_ENV_WHAT);
    unsetenv(STEP_ENV_PARENT);
    unsetenv(STEP_ENV_SITE);
}

int srun_option(const char *text)
{
    struct error err;
    if (options_parse(&options, text ? text : "", &err) < 0) {
        fprintf(stderr, "scope-profile: %s\n", err.text);
        return -1;
    }
    if (options.help) {
        fputs(options_help, stdout);
        exit(0);
    }
    strcpy(what, text);
    asker = ASKED_OPTION;
    return 0;
}

/* A user's variable that cannot be understood asks for nothing, and is told of: a step need not
 * fail because of it. The site's words were checked when they were read. */
static void ask_others(const struct settings *settings)
{
    struct error err, wrong;
    const char *variable = getenv(USER_ENV_WHAT);
    bool has_variable = variable && *variable;
    const char *text = has_variable ? variable : settings->what;
    if (*text == '\0')
        return;
    asker = has_variable ? ASKED_VARIABLE : ASKED_SITE;
    if (options_parse(&options, text, &err) == 0 && !options.help) {
        strcpy(what, text);
        return;
    }
    error_set(&wrong, USER_ENV_WHAT ": %s",
              options.help ? "help is for command lines: srun --scope-profile=help" : err.text);
    give_up(&wrong);
}

static bool is_allowed(const struct settings *settings)
{
    char number[16];
    const struct passwd *user;
    snprintf(number, sizeof number, "%u", (unsigned)getuid());
    return settings->allow_user[0] == '\0' || settings_list_has(settings->allow_user, number) ||
           ((user = getpwuid(getuid())) && settings_list_has(settings->allow_user, user->pw_name));
}

/* What the site says for words that are not in WHAT. */
static void complete(const struct settings *settings)
{
    struct error err;
    settings_complete(settings, what);
    enum tools_result result = tools_complete(settings->qmpi_tools, what, &err);
    if (result == TOOLS_WITHOUT_USERS)
        fprintf(stderr, "scope-profile: %s: the step is run without your QMPI tools\n", err.text);
    if (result == TOOLS_NO_ROOM || options_parse(&options, what, &err) < 0)
        give_up(&err);
}

static void ask(const struct settings *settings)
{
    struct error err;
    if (asker == ASKED_NOBODY)
        ask_others(settings);
    if (options.mpi_calls && !is_allowed(settings)) {
        error_set(&err, "this site does not let you profile (allow-user= in plugstack.conf)");
        give_up(&err);
    }
    if (options.mpi_calls)
        complete(settings);
}

void srun_announce(const struct settings *settings)
{
    struct error err;
    forget_outer();
    ask(settings);
    if (!options.mpi_calls)
        return;
    if (run_place_parent(options.out, NULL, parent, sizeof parent, &err) < 0) {
        give_up(&err);
        return;
    }
    setenv(STEP_ENV_PARENT, parent, 1);
    setenv(STEP_ENV_WHAT, what, 1);
    if (asker == ASKED_SITE)
        setenv(STEP_ENV_SITE, "1", 1);
}

void srun_announce_job(const struct settings *settings)
{
    forget_outer();
    ask(settings);
    if (!options.mpi_calls)
        return;
    setenv(STEP_ENV_PARENT, ".", 1); /* the job's directory, which its batch step knows */
    setenv(STEP_ENV_WHAT, what, 1);
    if (asker == ASKED_SITE)
        setenv(STEP_ENV_SITE, "1", 1);
}

static void set_command(spank_t spank)
{
    char text[RUN_COMMAND_MAX];
    int argc;
    char **argv;
    if (spank_get_item(spank, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS)
        return;
    command_text(argc, argv, text, sizeof text);
    setenv(STEP_ENV_COMMAND, text, 1);
}

/* In an allocation of several components, tasks of each of them see the id of the first one. */
static void use_leader(char job[static 16])
{
    char name[64];
    const char *size = getenv("SLURM_HET_SIZE"), *leader = getenv("SLURM_JOB_ID_HET_GROUP_0");
    int count = size ? atoi(size) : 0;
    for (int i = 1; leader && i < count && i < COMPONENTS_MAX; i++) {
        snprintf(name, sizeof name, "SLURM_JOB_ID_HET_GROUP_%d", i);
        const char *component = getenv(name);
        if (component && strcmp(component, job) == 0) {
            snprintf(job, 16, "%s", leader);
            return;
        }
    }
}

/* Fills names with what out= may ask for; job and step are those of the first component. */
static int name_run(spank_t spank, char job[static 16], char step[static 16],
                    struct run_names *names)
{
    uint32_t job_id, step_id;
    uid_t user_id;
    if (spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &step_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_UID, &user_id) != ESPANK_SUCCESS)
        return -1;
    job_number = job_id;
    own_job = user_id == geteuid() && user_id == getuid();
    snprintf(job, 16, "%u", job_id);
    snprintf(step, 16, "%u", step_id);
    use_leader(job);
    const struct passwd *user = strstr(parent, "%u") ? getpwuid(user_id) : NULL;
    const char *array_job = getenv("SLURM_ARRAY_JOB_ID"), *task = getenv("SLURM_ARRAY_TASK_ID");
    *names = (struct run_names){
        .job = job,
        .step = step,
        .user = user ? user->pw_name : NULL,
        .job_name = getenv("SLURM_JOB_NAME"),
        .array_job = array_job ? array_job : job,
        .array_task = task ? task : "0",
    };
    return 0;
}

void srun_launch(spank_t spank)
{
    char job[16], step[16], both[40];
    struct run_names names;
    struct error err;
    if (!options.mpi_calls || name_run(spank, job, step, &names) < 0)
        return;
    if (run_place_directory(parent, &names, getenv("SLURM_RESTART_COUNT"), run, sizeof run, &err) <
        0) {
        run[0] = '\0';
        give_up(&err);
        return;
    }
    snprintf(both, sizeof both, "%s.%s", job, step);
    /* Slurm's numbers may have begun anew, and two runs in one directory would become one profile.
     * An empty name tells the tasks, the first of which tells the user. */
    if (access(run, F_OK) == 0)
        run[0] = '\0';
    setenv(STEP_ENV_RUN, run, 1);
    setenv(STEP_ENV_STEP, both, 1);
    set_command(spank);
}

/* The job of a step that was not run inside another may be over, epilog and all. */
static void tell_of_epilog(void)
{
    char profile[OPTIONS_PATH_MAX + 8];
    snprintf(profile, sizeof profile, "%s.h5", run);
    if (asker != ASKED_SITE && (access(run, F_OK) == 0 || access(profile, F_OK) == 0))
        fprintf(stderr, "scope-profile: when the job has ended, the profile will be %s\n", profile);
}

void srun_finish(const struct settings *settings)
{
    if (run[0] != '\0' && own_job)
        job_end_child_run(job_number, run);
    if (run[0] != '\0' && options.merge == MERGE_EPILOG)
        tell_of_epilog();
    if (run[0] == '\0' || options.merge != MERGE_SRUN)
        return;
    if (own_job)
        merge_child_run(settings->merge_tool, run, &settings->epilog);
    else /* root would be writing into somebody's directory */
        fprintf(stderr, "scope-profile: srun ran for another user: sp-merge %s is left to them\n",
                run);
}
