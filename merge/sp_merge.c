/* SPDX-License-Identifier: BSD-3-Clause */
/* sp-merge: the traces of a run become one profile file. */
#define _GNU_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge/epilog.h"
#include "merge/likwid_read.h"
#include "merge/losses.h"
#include "merge/run.h"
#include "merge/workers.h"
#include "merge/world.h"
#include "schema/options.h"
#include "schema/registry.h"
#include "schema/run_path.h"
#include "schema/size_text.h"
#include "schema/streams.h"

const char *argp_program_version = "sp-merge (scope-profile) " PACKAGE_VERSION;

enum { EXIT_USAGE = 64, PATH_SIZE = 4096, MEMORY_LEAST = 64 << 20, WAIT_MAX = 24 * 3600 };
enum { KEY_REMOVE = 256, KEY_AUTO, KEY_CLOCK, KEY_LABELS, KEY_STRICT, KEY_THREADS, KEY_MEMORY };
enum { KEY_EPILOG = 512, KEY_REGISTRY, KEY_COMPRESS, KEY_MAX_FILE, KEY_SCHEMA, KEY_COMM };
enum { KEY_WAIT = 1024, KEY_LIKWID };

struct settings {
    char **runs; /* directories; the command line's */
    size_t run_count;
    const char *output; /* NULL: beside the run directory */
    bool remove, verbose, automatic, is_epilog;
    const char *registry; /* NULL: not told */
    unsigned wait_seconds; /* for nodes that are still copying traces */
    struct world_options world;
};

/* --- command line ------------------------------------------------------------------------------
 */

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0, "Write FILE (default: RUNDIR.h5); further worlds: FILE-2.h5, ...",
     0},
    {"force", 'f', NULL, 0, "Overwrite a file that is there", 0},
    {"clock", KEY_CLOCK, "HOW", 0,
     "How to put hosts on one timeline: \"messages\" (default: none is received before it is "
     "sent), \"realtime\" (as the hosts' clocks say), \"none\" (each begins at 0)",
     0},
    {"labels", KEY_LABELS, "GRAIN", 0,
     "How much of a call its label tells: \"full\", \"size-class\" (bytes up to a power of two), "
     "\"peer\" (no bytes, no tags), \"op\" (the operation alone), or \"auto\" (default: full, "
     "coarser where readers would take long over so many)",
     0},
    {"threads", KEY_THREADS, "N", 0,
     "Read and fold so many ranks at a time (default: one for each processor that sp-merge may "
     "use, 8 at most; 1 with --auto); the file is the same",
     0},
    {"memory", KEY_MEMORY, "SIZE", 0,
     "Take no more than about so much memory, with K, M, G or T behind it (default: 1G; at least "
     "64M)",
     0},
    {"compress", KEY_COMPRESS, "LEVEL", 0,
     "Compress events: \"0\" (default: not at all) to \"9\" (most), or \"auto\" (as the package "
     "does: 4 from 16384 events on)",
     0},
    {"max-file", KEY_MAX_FILE, "SIZE", 0,
     "No larger file, with K, M, G or T behind it: what would be has statistics only", 0},
    {"schema", KEY_SCHEMA, "N", 0, "Schema of the file: 3 (default), or 2 for older readers", 0},
    {"comm", KEY_COMM, "WHAT", 0,
     "What comm= tells in labels: \"id\" (default: job-wide number) or \"handle\" (Fortran's, which "
     "each MPI and each rank has its own of)",
     0},
    {"likwid-read", KEY_LIKWID, "SECONDS", 0,
     "Where the ranks' processor is this host's, and no step runs here, let LIKWID compute its "
     "metrics itself, for so long at most (default: 120; 0: not at all), which sets the counters "
     "of this host to zero",
     0},
    {"wait", KEY_WAIT, "SECONDS", 0,
     "Wait so long for nodes that are still copying traces from their spool (default: 30)", 0},
    {"strict", KEY_STRICT, NULL, 0, "No file if anything is missing: exit status 2", 0},
    {"remove", KEY_REMOVE, NULL, 0, "Remove the traces once the file is complete and on disk", 0},
    {"verbose", 'v', NULL, 0, "Tell what is read and written", 0},
    {"auto", KEY_AUTO, NULL, 0,
     "As at the end of srun: one line at most, traces removed if the file is complete", 0},
    {"epilog", KEY_EPILOG, NULL, 0,
     "Instead of RUNDIR: in Slurm's epilog, as root, merge what the steps of the job left, each as "
     "its user; exit status 0 whatever happens",
     0},
    {"registry", KEY_REGISTRY, "DIR", 0,
     "Where the plugin noted the steps (default: " REGISTRY_DIRECTORY ")", 0},
    {0},
};

static bool read_threads(const char *text, unsigned *threads)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    *threads = (unsigned)number;
    return *text >= '0' && *text <= '9' && *end == '\0' && number >= 1 && number <= WORKERS_MAX;
}

/* "auto", or a level of one digit. */
static bool read_compress(const char *text, int *level)
{
    if (strcmp(text, "auto") == 0) {
        *level = PROFILE_COMPRESS_AUTO;
        return true;
    }
    *level = *text - '0';
    return *text >= '0' && *text <= '9' && text[1] == '\0';
}

/* One of two words; *is_second: which. */
static bool read_choice(const char *text, const char *first, const char *second, bool *is_second)
{
    *is_second = strcmp(text, second) == 0;
    return *is_second || strcmp(text, first) == 0;
}

static bool read_seconds(const char *text, unsigned *seconds)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    *seconds = (unsigned)number;
    return *text >= '0' && *text <= '9' && *end == '\0' && number <= WAIT_MAX;
}

/* Options that say what the file is like. */
static error_t parse_form(int key, const char *argument, struct argp_state *state)
{
    struct world_options *world = &((struct settings *)state->input)->world;
    switch (key) {
    case KEY_COMPRESS:
        if (!read_compress(argument, &world->compress))
            argp_error(state, "--compress=%s: not one of auto, 0 to 9", argument);
        return 0;
    case KEY_MAX_FILE:
        if (!size_text_read(argument, strlen(argument), &world->most_bytes))
            argp_error(state, "--max-file=%s: not a size: a number of bytes, or with K, M, G or T "
                       "behind it", argument);
        return 0;
    case KEY_SCHEMA:
        if (!read_choice(argument, "3", "2", &world->is_old_schema))
            argp_error(state, "--schema=%s: not 2 or 3", argument);
        return 0;
    case KEY_COMM:
        if (!read_choice(argument, "id", "handle", &world->has_handles))
            argp_error(state, "--comm=%s: not one of id, handle", argument);
        return 0;
    case KEY_LIKWID:
        if (!read_seconds(argument, &world->likwid_seconds))
            argp_error(state, "--likwid-read=%s: not a number from 0 to 86400", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct settings *settings = state->input;
    switch (key) {
    case 'o':
        if (*argument == '\0')
            argp_error(state, "-o needs the name of a file");
        settings->output = argument;
        return 0;
    case 'f':
        settings->world.overwrite = true;
        return 0;
    case 'v':
        settings->verbose = true;
        return 0;
    case KEY_CLOCK:
        if (!timeline_clock_read(argument, &settings->world.clock))
            argp_error(state, "--clock=%s: not one of messages, realtime, none", argument);
        return 0;
    case KEY_LABELS:
        if (!labels_read(argument, &settings->world.labels))
            argp_error(state, "--labels=%s: not one of full, size-class, peer, op, auto", argument);
        return 0;
    case KEY_THREADS:
        if (!read_threads(argument, &settings->world.threads))
            argp_error(state, "--threads=%s: not a number from 1 to 256", argument);
        return 0;
    case KEY_MEMORY:
        if (!size_text_read(argument, strlen(argument), &settings->world.memory) ||
            settings->world.memory < MEMORY_LEAST)
            argp_error(state, "--memory=%s: not a size from 64M on", argument);
        return 0;
    case KEY_WAIT:
        if (!read_seconds(argument, &settings->wait_seconds))
            argp_error(state, "--wait=%s: not a number from 0 to 86400", argument);
        return 0;
    case KEY_STRICT:
        settings->world.is_strict = true;
        return 0;
    case KEY_REMOVE:
        settings->remove = true;
        return 0;
    case KEY_AUTO:
        settings->automatic = settings->remove = settings->world.is_over = true;
        return 0;
    case KEY_EPILOG:
        settings->is_epilog = true;
        return 0;
    case KEY_REGISTRY:
        settings->registry = argument;
        return 0;
    case ARGP_KEY_ARGS:
        settings->runs = state->argv + state->next;
        settings->run_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (settings->is_epilog && settings->run_count > 0)
            argp_error(state, "--epilog takes no run directory");
        if (settings->registry && !settings->is_epilog)
            argp_error(state, "--registry is for --epilog");
        if (settings->run_count == 0 && !settings->is_epilog)
            argp_error(state, "which run directory?");
        if (settings->run_count > 1 && settings->output)
            argp_error(state, "-o %s: one file, but %zu run directories", settings->output,
                       settings->run_count);
        return 0;
    default:
        return parse_form(key, argument, state);
    }
}

static void parse_command_line(int argc, char **argv, struct settings *settings)
{
    static const struct argp parser = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "RUNDIR...",
        .doc = "Merge the traces in each RUNDIR (scope-profile-JOB.STEP) into one file that the "
               "Python package scope-profiler reads.\vExit status: 0 complete, 1 merged with losses, 2 "
               "nothing usable, 3 cannot write, 64 usage. Traces are never removed without "
               "--remove or --auto.",
    };
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, settings);
}

/* --- paths -------------------------------------------------------------------------------------
 */

/* FILE for the first world, FILE-2 for the second, ...: the number goes before the ending. */
static int numbered_path(const char *file, size_t index, char *path, size_t size, struct error *err)
{
    const char *base = strrchr(file, '/');
    const char *ending = strrchr(base ? base : file, '.');
    int stem = (int)(ending && ending != base + 1 && ending != file ? (size_t)(ending - file)
                                                                    : strlen(file));
    int length = index == 0
                     ? snprintf(path, size, "%s", file)
                     : snprintf(path, size, "%.*s-%zu%s", stem, file, index + 1, file + stem);
    return length < 0 || (size_t)length >= size ? error_set(err, "%s: the name is too long", file)
                                                : 0;
}

static int output_path(const struct settings *settings, const char *run_path, size_t index,
                       char *path, size_t size, struct error *err)
{
    return settings->output ? numbered_path(settings->output, index, path, size, err)
                            : run_path_profile(run_path, (unsigned)index, path, size, err);
}

/* "." and ".." are no names to put ".h5" behind. Returns memory to be freed, or NULL. */
static char *name_run(const char *directory)
{
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/')
        length--;
    char *trimmed = strndup(directory, length);
    const char *base = trimmed ? strrchr(trimmed, '/') : NULL;
    base = base ? base + 1 : trimmed;
    if (!base || (strcmp(base, ".") != 0 && strcmp(base, "..") != 0 && *base))
        return trimmed;
    char *resolved = realpath(trimmed, NULL);
    if (!resolved)
        return trimmed;
    free(trimmed);
    return resolved;
}

/* Puts "./x" for what lies below the working directory, else the path as it is. */
static void shorten(const char *path, char *text, size_t size)
{
    char working[PATH_SIZE];
    size_t length = getcwd(working, sizeof(working)) ? strlen(working) : 0;
    if (length > 1 && strncmp(path, working, length) == 0 && path[length] == '/')
        snprintf(text, size, ".%s", path + length);
    else if (*path != '/' && strncmp(path, "./", 2) != 0 && strncmp(path, "../", 3) != 0)
        snprintf(text, size, "./%s", path);
    else
        snprintf(text, size, "%s", path);
}

/* --- what is said at the end -------------------------------------------------------------------
 */

/* All worlds of the run together. */
struct outcome {
    size_t files;
    uint64_t ranks, calls;
    uint64_t states[RANK_MISSING + 1];
    bool has_losses, has_nothing, has_failed;
    bool has_no_events;    /* some file, for it would have been too large */
    enum labels coarsened; /* the coarsest labels that nobody asked for; LABELS_AUTO: none */
    char likwid[RANK_GROUPS_SENTENCE]; /* why hardware counters are missing, in the first world
                                          where they are */
    char first_file[PATH_SIZE];
    char last_file[PATH_SIZE];
    struct error problem; /* the last one */
    size_t short_nodes;   /* whose traces were not all copied */
    const char *unread;   /* what could not be looked at, and why; NULL: there is nothing */
};

static void add_result(struct outcome *outcome, enum world_status status,
                       const struct world_result *result, enum labels asked, const char *path)
{
    outcome->has_losses |= status == WORLD_LOSSES;
    outcome->has_nothing |= status == WORLD_NOTHING;
    outcome->has_failed |= status == WORLD_FAILED;
    if (status == WORLD_NOTHING || status == WORLD_FAILED)
        return;
    if (asked == LABELS_AUTO && result->labels > LABELS_FULL && result->labels > outcome->coarsened)
        outcome->coarsened = result->labels;
    outcome->has_no_events |= result->has_no_events;
    if (outcome->likwid[0] == '\0')
        strcpy(outcome->likwid, result->likwid);
    shorten(path, outcome->files == 0 ? outcome->first_file : outcome->last_file, PATH_SIZE);
    outcome->files++;
    outcome->ranks += result->world_size;
    outcome->calls += result->calls;
    for (int i = 0; i <= RANK_MISSING; i++)
        outcome->states[i] += result->states[i];
}

static bool is_complete(const struct outcome *outcome)
{
    return outcome->files > 0 && !outcome->has_losses && !outcome->has_nothing &&
           !outcome->has_failed;
}

/* Whether the files tell all that the traces do, or as much as was asked for. */
static bool tells_all(const struct outcome *outcome)
{
    return is_complete(outcome) && outcome->coarsened == LABELS_AUTO && !outcome->has_no_events;
}

/* 1234567 as "1,234,567", whatever the locale. */
static const char *with_separators(uint64_t number, char text[static 32])
{
    char *p = text + 31;
    *p = '\0';
    for (int digits = 0; digits == 0 || number > 0; digits++, number /= 10) {
        if (digits > 0 && digits % 3 == 0)
            *--p = ',';
        *--p = (char)('0' + number % 10);
    }
    return p;
}

/* " (1 cut off, 2 missing)", or nothing. */
static void print_states(const struct outcome *outcome)
{
    const char *before = " (";
    for (int i = RANK_COMPLETE + 1; i <= RANK_MISSING; i++) {
        if (outcome->states[i] == 0)
            continue;
        fprintf(stderr, "%s%" PRIu64 " %s", before, outcome->states[i],
                rank_state_word((enum rank_state)i));
        before = ", ";
    }
    if (strcmp(before, ", ") == 0)
        fputc(')', stderr);
}

static void print_files(const char *tool, const struct outcome *outcome)
{
    char ranks[32], calls[32];
    fprintf(stderr, "%s: ", tool);
    if (outcome->files > 1)
        fprintf(stderr, "%zu worlds, ", outcome->files);
    fprintf(stderr, "%s %s", with_separators(outcome->ranks, ranks),
            outcome->ranks == 1 ? "rank" : "ranks");
    print_states(outcome);
    fprintf(stderr, ", %s MPI %s -> %s", with_separators(outcome->calls, calls),
            outcome->calls == 1 ? "call" : "calls", outcome->first_file);
    if (outcome->files > 1)
        fprintf(stderr, " ... %s", outcome->last_file);
}

/* Why there may be no call, if something was asked for that leaves calls out. */
static void print_filter(const char *what)
{
    size_t length;
    const char *kinds = what ? options_value(what, "mpi-calls", &length) : NULL;
    const char *start = NULL;
    if (kinds && strncmp(kinds, "all", length) != 0)
        fprintf(stderr, "; mpi-calls=%.*s was asked for", (int)length, kinds);
    else if (what && (start = options_value(what, "start", &length)))
        fprintf(stderr, "; start=%.*s was asked for", (int)length, start);
}

/* The one line of the automatic merge. */
static void print_line(const struct outcome *outcome, const struct run *of, const char *removal)
{
    char run[PATH_SIZE];
    shorten(of->path, run, sizeof(run));
    if (outcome->files > 0)
        print_files("scope-profile", outcome);
    else
        fprintf(stderr, "scope-profile: %s", outcome->problem.text);
    if (outcome->files > 0 && outcome->calls == 0)
        print_filter(job_record_get(&of->job, "what"));
    if (outcome->coarsened != LABELS_AUTO)
        fprintf(stderr, "; so many different calls that labels tell less (labels=%s)",
                labels_word(outcome->coarsened));
    if (outcome->has_no_events)
        fputs("; with events it would be larger than max-file: it has statistics only", stderr);
    if (outcome->likwid[0])
        fprintf(stderr, "; hardware counters are missing: %s", outcome->likwid);
    if (outcome->short_nodes > 0)
        fprintf(stderr, "; not all traces were copied from the spool of %zu %s",
                outcome->short_nodes, outcome->short_nodes == 1 ? "node" : "nodes");
    if (outcome->unread && strcmp(outcome->unread, outcome->problem.text) != 0)
        fprintf(stderr, "; %s", outcome->unread);
    if (removal)
        fprintf(stderr, "; %s", removal);
    else if (!tells_all(outcome))
        fprintf(stderr, "; the traces stay in %s", run);
    if (outcome->files > 0 && outcome->has_failed)
        fprintf(stderr, " (%s)", outcome->problem.text);
    fputc('\n', stderr);
}

static int exit_status(const struct outcome *outcome)
{
    if (outcome->has_failed)
        return WORLD_FAILED;
    if (outcome->files == 0)
        return WORLD_NOTHING;
    return is_complete(outcome) ? WORLD_COMPLETE : WORLD_LOSSES;
}

/* --- the merge ---------------------------------------------------------------------------------
 */

static void merge_world(const struct settings *settings, const struct run *run, size_t index,
                        struct outcome *outcome)
{
    const struct run_world *world = &run->worlds[index];
    struct losses losses = {.quiet = settings->automatic};
    struct world_result result = {0};
    char path[PATH_SIZE];
    struct error err;
    enum world_status status = WORLD_FAILED;
    if (output_path(settings, run->path, index, path, sizeof(path), &err) == 0) {
        if (settings->verbose)
            fprintf(stderr, "sp-merge: %s/%s: %zu traces, %" PRIu64 " bytes -> %s\n", run->path,
                    world->name, world->file_count, world->bytes, path);
        status = world_merge(run, world, path, &settings->world, &losses, &result, &err);
    }
    losses_finish(&losses);
    if (settings->verbose && result.clock[0])
        fprintf(stderr, "sp-merge: %s\n", result.clock);
    if (settings->verbose && result.ends[0])
        fprintf(stderr, "sp-merge: how they ended: %s\n", result.ends);
    if (settings->verbose && result.in_flight[0])
        fprintf(stderr, "sp-merge: where they were then: %s\n", result.in_flight);
    if (!settings->automatic && result.likwid[0])
        fprintf(stderr, "sp-merge: hardware counters are missing: %s\n", result.likwid);
    if (!settings->automatic && result.not_read_back[0])
        fprintf(stderr, "sp-merge: LIKWID did not compute its metrics, they are by the formulas of "
                        "its groups: %s\n",
                result.not_read_back);
    if (status == WORLD_NOTHING || status == WORLD_FAILED) {
        outcome->problem = err;
        if (!settings->automatic)
            fprintf(stderr, "sp-merge: %s\n", err.text);
    }
    add_result(outcome, status, &result, settings->world.labels, path);
}

/* A node may be lost, or not be done copying in time: then traces are missing or cut off. */
static void check_containers(const struct settings *settings, const struct run *run,
                             struct outcome *outcome)
{
    for (size_t i = 0; i < run->container_count; i++) {
        if (run->containers[i].is_complete)
            continue;
        outcome->short_nodes++;
        outcome->has_losses = true;
        if (!settings->automatic)
            fprintf(stderr, "sp-merge: %s: not all traces were copied from the node's spool\n",
                    run->containers[i].file);
    }
}

/* There may be traces in it. */
static void check_unread(const struct settings *settings, const struct run *run,
                         struct outcome *outcome)
{
    if (run->unread_count == 0)
        return;
    outcome->unread = run->unread.text;
    outcome->has_losses = true;
    if (run->world_count == 0)
        outcome->problem = run->unread;
    if (settings->automatic)
        return;
    fprintf(stderr, "sp-merge: %s\n", run->unread.text);
    if (run->unread_count > 1)
        fprintf(stderr, "sp-merge: ... and %zu more like this\n", run->unread_count - 1);
}

/* What no world tells of is missing, and without that no file was wanted. */
static void refuse(const struct settings *settings, const struct run *run, struct outcome *outcome)
{
    outcome->has_nothing = true;
    error_set(&outcome->problem,
              "%s: not everything is there, and without that no file was wanted", run->path);
    if (!settings->automatic)
        fprintf(stderr, "sp-merge: %s\n", outcome->problem.text);
}

/* Removes the traces of a complete merge if that is wanted. Returns what went wrong, or NULL. */
static const char *remove_traces(const struct settings *settings, struct run *run,
                                 const struct outcome *outcome, struct error *err)
{
    if (!settings->remove || !tells_all(outcome))
        return NULL;
    if (run_remove(run, err) < 0)
        return err->text;
    if (settings->verbose)
        fprintf(stderr, "sp-merge: removed the traces in %s\n", run->path);
    return NULL;
}

/* The automatic merge does what the run was asked for; whoever merges by hand says it again. */
static void heed_what(struct settings *settings, const struct run *run)
{
    size_t length;
    const char *what = settings->automatic ? job_record_get(&run->job, "what") : NULL;
    const char *size = what ? options_value(what, "max-file", &length) : NULL;
    if (size && settings->world.most_bytes == 0)
        size_text_read(size, length, &settings->world.most_bytes);
}

static int merge_run(const struct settings *given, struct run *run)
{
    struct settings copy = *given;
    const struct settings *settings = &copy;
    heed_what(&copy, run);
    struct outcome *outcome = calloc(1, sizeof(*outcome));
    struct error err;
    if (!outcome) {
        fputs("sp-merge: out of memory\n", stderr);
        return WORLD_FAILED;
    }
    check_unread(settings, run, outcome);
    if (run->world_count == 0 && run->unread_count == 0) {
        error_set(&outcome->problem, "no trace in %s", run->path);
        if (!settings->automatic)
            fprintf(stderr, "sp-merge: %s: a run directory is called scope-profile-JOB.STEP\n",
                    outcome->problem.text);
    }
    check_containers(settings, run, outcome);
    if (settings->world.is_strict && outcome->has_losses)
        refuse(settings, run, outcome);
    for (size_t i = 0; !outcome->has_nothing && i < run->world_count; i++)
        merge_world(settings, run, i, outcome);
    const char *removal = remove_traces(settings, run, outcome, &err);
    if (settings->automatic) {
        print_line(outcome, run, removal);
    } else if (outcome->files > 0) {
        print_files("sp-merge", outcome);
        fputc('\n', stderr);
        if (outcome->coarsened != LABELS_AUTO)
            fprintf(stderr,
                    "sp-merge: so many different calls that labels tell less (labels=%s; "
                    "--labels=full keeps them apart)\n",
                    labels_word(outcome->coarsened));
        if (outcome->has_no_events)
            fputs("sp-merge: with events it would be larger than --max-file= allows: it has "
                  "statistics only\n",
                  stderr);
        if (removal)
            fprintf(stderr, "sp-merge: %s\n", removal);
        else if (settings->remove && !tells_all(outcome))
            fprintf(stderr, "sp-merge: the file does not tell all: the traces stay in %s\n",
                    run->path);
    }
    int status = exit_status(outcome);
    if (status == WORLD_COMPLETE && removal)
        status = WORLD_FAILED;
    free(outcome);
    return status;
}

static int open_failed(const struct settings *settings, int reason, const struct error *err)
{
    if (settings->automatic && reason == ENOENT)
        return WORLD_COMPLETE; /* a program without MPI leaves nothing, and nothing to say */
    fprintf(stderr, "%s: %s\n", settings->automatic ? "scope-profile" : "sp-merge", err->text);
    return WORLD_NOTHING;
}

/* Two at once would make one file twice, and one remove what the other reads. */
static int merge_claimed_run(const struct settings *settings, struct run *run)
{
    struct error err;
    if (run_claim(run, &err) == 0) {
        if (run_list(run, &err) == 0)
            return merge_run(settings, run);
        return open_failed(settings, 0, &err);
    }
    if (!settings->automatic) /* the other one tells of its file */
        fprintf(stderr, "sp-merge: %s\n", err.text);
    return WORLD_FAILED;
}

/* The exit status of one run directory. */
static int merge_directory(const struct settings *settings, const char *directory)
{
    struct run run;
    struct error err;
    char *path = name_run(directory);
    if (!path) {
        fputs("sp-merge: out of memory\n", stderr);
        return WORLD_FAILED;
    }
    run_wait(path, (int)settings->wait_seconds * 1000);
    int status = run_enter(&run, path, &err) < 0 ? open_failed(settings, errno, &err)
                                                : merge_claimed_run(settings, &run);
    run_release(&run);
    free(path);
    return status;
}

/* In a process of the user's (epilog_step.h). */
static int merge_in_epilog(void *data, const char *run, const struct epilog_bounds *bounds)
{
    struct settings settings = *(const struct settings *)data;
    settings.automatic = settings.remove = settings.world.is_over = true;
    settings.wait_seconds = 0; /* it has waited */
    settings.world.show_progress = false;
    settings.world.threads = bounds->threads;
    settings.world.memory = bounds->memory;
    if (settings.world.likwid_seconds > bounds->likwid_seconds)
        settings.world.likwid_seconds = bounds->likwid_seconds;
    return merge_directory(&settings, run);
}

int main(int argc, char **argv)
{
    struct settings settings = {.wait_seconds = 30, .world.likwid_seconds = LIKWID_READ_SECONDS};
    int worst = WORLD_COMPLETE;
    streams_prepare();
    streams_check_at_exit();
    mallopt(M_ARENA_MAX, 1); /* one for each thread takes 64 MiB of address space, which is limited */
    signal(SIGPIPE, SIG_IGN); /* nobody listening to stderr is no reason to stop half way */
    parse_command_line(argc, argv, &settings);
    if (settings.is_epilog) {
        const char *registry = settings.registry ? settings.registry : REGISTRY_DIRECTORY;
        epilog_run(registry, merge_in_epilog, &settings);
        return 0;
    }
    settings.world.show_progress = !settings.automatic;
    if (settings.world.threads == 0)
        settings.world.threads = settings.automatic ? 1 : workers_default();
    for (size_t i = 0; i < settings.run_count; i++) {
        int status = merge_directory(&settings, settings.runs[i]);
        worst = status > worst ? status : worst;
    }
    return worst;
}
