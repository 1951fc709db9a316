/* SPDX-License-Identifier: BSD-3-Clause */
/* sp-run: profiles an MPI program without Slurm. */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "launch/child.h"
#include "launch/installation.h"
#include "schema/command_text.h"
#include "schema/exit_record.h"
#include "schema/ld_preload.h"
#include "schema/options.h"
#include "schema/run_environment.h"
#include "schema/run_path.h"
#include "schema/streams.h"

enum { USAGE = 64 };

const char *argp_program_version = "sp-run (scope-profile) " PACKAGE_VERSION;

static const char doc[] =
    "Profiles the MPI calls of a program that is started without Slurm, and makes one profile file "
    "of all its ranks when it has ended.\v"
    "WHAT is what follows --scope-profile= on srun's command line; \"sp-run help\" prints its "
    "words. The exit status is the command's own; 128 + N if signal N killed it, 127 if there is "
    "no such program, 126 if it cannot be run, 64 for a mistake in sp-run's own words.\n\n"
    "Example:\n  sp-run mpi-calls,out=profiles -- mpirun -n 4 ./app";

struct arguments {
    const char *what;
    char **command; /* NULL-terminated, or NULL */
    int count;
};

static error_t parse_argument(int key, char *word, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (!arguments->what) {
        arguments->what = word;
        return 0;
    }
    /* All that follows is the command's, whatever it looks like. */
    arguments->command = &state->argv[state->next - 1];
    arguments->count = state->argc - (state->next - 1);
    state->next = state->argc;
    return 0;
}

static _Noreturn void refuse(const char *message)
{
    fprintf(stderr, "sp-run: %s\nTry \"sp-run --help\" for more information.\n", message);
    exit(USAGE);
}

static struct arguments read_arguments(int argc, char *argv[], struct options *options)
{
    static const struct argp parser = {
        .parser = parse_argument, .args_doc = "WHAT -- COMMAND [ARGUMENT...]\nhelp", .doc = doc};
    struct arguments arguments = {0};
    struct error err;
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
    if (!arguments.what)
        refuse("what to record and the command are missing");
    if (options_parse(options, arguments.what, &err) < 0)
        refuse(err.text);
    if (options->help) {
        fputs(options_help, stdout);
        exit(0);
    }
    if (options->merge == MERGE_EPILOG)
        refuse("merge=epilog is for jobs of Slurm: leave it out, or say merge=off");
    if (!arguments.command)
        refuse("the command is missing");
    return arguments;
}

static bool is_taken(const char *run)
{
    char profile[OPTIONS_PATH_MAX];
    return access(run, F_OK) == 0 ||
           (run_path_profile(run, 0, profile, sizeof profile, NULL) == 0 &&
            access(profile, F_OK) == 0);
}

/* Chooses the run directory, HOST-PID; what an earlier process of that number left is not mixed
 * with ours. */
static int choose_run(const struct options *options, char *run, size_t size, struct error *err)
{
    enum { ATTEMPTS = 1000 };
    char host[HOST_NAME_MAX + 1], name[HOST_NAME_MAX + 32], parent[OPTIONS_PATH_MAX];
    const struct passwd *user = getpwuid(geteuid());
    const struct run_names names = {
        .job = getenv("SLURM_JOB_ID"),
        .user = user ? user->pw_name : getenv("USER"),
        .job_name = getenv("SLURM_JOB_NAME"),
        .array_job = getenv("SLURM_ARRAY_JOB_ID"),
        .array_task = getenv("SLURM_ARRAY_TASK_ID"),
    };
    if (gethostname(host, sizeof host) < 0)
        return error_set(err, "the host's name cannot be told: %s", strerror(errno));
    host[sizeof host - 1] = '\0';
    snprintf(name, sizeof name, "%s-%ld", host, (long)getpid());
    if (run_path_expand(options->out, &names, parent, sizeof parent, err) < 0)
        return -1;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (run_path_directory(parent, name, attempt, run, size, err) < 0)
            return -1;
        if (!is_taken(run))
            return 0;
    }
    return error_set(err, "%s and its like exist: remove them or choose another out=", run);
}

/* The child's value of LD_PRELOAD, or NULL after having said why there is no profiling. */
static char *preload_value(void)
{
    char library[PATH_MAX];
    struct error err;
    if (installation_preload(library, sizeof library, &err) < 0) {
        fprintf(stderr, "sp-run: the command runs without profiling: %s\n", err.text);
        return NULL;
    }
    if (!ld_preload_can_hold(library)) {
        fprintf(stderr,
                "sp-run: the command runs without profiling: %s cannot stand in LD_PRELOAD\n",
                library);
        return NULL;
    }
    return ld_preload_add(getenv("LD_PRELOAD"), library);
}

static void merge(const char *run)
{
    static const struct child_variable unchanged[] = {{NULL, NULL}};
    char tool[PATH_MAX];
    struct error err;
    if (access(run, F_OK) < 0)
        return; /* no rank came past MPI_Init */
    if (installation_merge(tool, sizeof tool, &err) < 0) {
        fprintf(stderr, "sp-run: no merge: %s; the traces are in %s\n", err.text, run);
        return;
    }
    char *argv[] = {tool, (char *)"--auto", (char *)"--", (char *)run, NULL};
    child_run(argv, unchanged, NULL);
}

/* How the command ended: it may be the rank itself. Under mpirun the ranks are no children of ours,
 * and the launcher's end is all there is. */
static void note_end(const char *run, const struct child_end *end)
{
    char host[HOST_NAME_MAX + 1] = "", name[EXIT_RECORD_NAME_SIZE], line[EXIT_RECORD_LINE_SIZE];
    struct exit_record record = {.task = -1, .local = -1, .pid = end->pid, .status = end->status};
    gethostname(host, sizeof host - 1);
    int directory = open(run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return; /* no rank came past MPI_Init */
    exit_record_stamp(&record);
    size_t length = exit_record_print(&record, line);
    if (end->pid > 0 && exit_record_name(host, name) == 0)
        exit_record_append(directory, name, line, length); /* without it the end is unknown */
    close(directory);
}

int main(int argc, char *argv[])
{
    struct options options;
    struct child_end end;
    struct error err;
    char run[OPTIONS_PATH_MAX], command[RUN_COMMAND_MAX], *preload = NULL;
    streams_check_at_exit();
    struct arguments arguments = read_arguments(argc, argv, &options);

    if (options.mpi_calls) {
        if (choose_run(&options, run, sizeof run, &err) < 0)
            refuse(err.text);
        preload = preload_value();
    }
    command_text(arguments.count, arguments.command, command, sizeof command);
    const struct child_variable variables[] = {
        {RUN_ENV_RUN, preload ? run : NULL},
        {RUN_ENV_WHAT, preload ? arguments.what : NULL},
        {RUN_ENV_COMMAND, preload ? command : NULL},
        {"LD_PRELOAD", preload},
        {NULL, NULL},
    };
    int status = child_run(arguments.command, variables, &end);
    if (preload)
        note_end(run, &end);
    if (preload && options.merge == MERGE_SRUN)
        merge(run);
    free(preload);
    return status;
}
