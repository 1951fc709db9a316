/* SPDX-License-Identifier: BSD-3-Clause */
/* sp-report: the usual questions to a profile file, answered without Python. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/fence.h"
#include "report/json.h"
#include "report/rank_set.h"
#include "report/summary.h"
#include "report/text.h"
#include "schema/profile_reader.h"
#include "schema/streams.h"

const char *argp_program_version = "sp-report (scope-profile) " PACKAGE_VERSION;

enum { EXIT_UNUSABLE = 2, EXIT_CANNOT_WRITE = 3, EXIT_USAGE = 64 };
enum { KEY_RANKS = 256, KEY_TOP, KEY_JSON };

struct settings {
    const char *path;
    struct rank_set ranks;
    size_t top;
    bool json;
};

static const struct argp_option option_table[] = {
    {"ranks", KEY_RANKS, "LIST", 0, "Only these ranks, e.g. 0-3,7", 0},
    {"top", KEY_TOP, "N", 0, "Only the N regions with the most time", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON, times in ns", 0},
    {0},
};

static size_t parse_top(const char *text, struct argp_state *state)
{
    char *end;
    errno = 0;
    unsigned long top = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || top == 0)
        argp_error(state, "--top needs a number from 1 on, not \"%s\"", text);
    return top;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct settings *settings = state->input;
    struct error err;
    switch (key) {
    case KEY_RANKS:
        rank_set_release(&settings->ranks);
        if (rank_set_parse(&settings->ranks, argument, &err) < 0)
            argp_error(state, "--ranks: %s", err.text);
        return 0;
    case KEY_TOP:
        settings->top = parse_top(argument, state);
        return 0;
    case KEY_JSON:
        settings->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (settings->path)
            argp_error(state, "one file at a time, please; \"%s\" is another", argument);
        if (*argument == '\0')
            argp_error(state, "the name of the file is empty");
        settings->path = argument;
        return 0;
    case ARGP_KEY_END:
        if (!settings->path)
            argp_error(state, "which file?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void parse_command_line(int argc, char **argv, struct settings *settings)
{
    static const struct argp parser = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "FILE.h5",
        .doc = "Print the share of MPI per rank and a table of all regions of a profile file. "
               "share is a region's part of the time between MPI_Init and MPI_Finalize, all ranks "
               "together; regions outside have none. On a terminal, columns are left out and names "
               "shortened as needed to fit; into a pipe everything is printed in full.\vExit "
               "status: 0 printed, 2 the file cannot be used, 3 cannot write, 64 usage.",
    };
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, settings);
}

/* An empty report on ranks that are not there would look like an answer. */
static int check_ranks(const struct settings *settings, const struct profile *profile,
                       struct error *err)
{
    uint32_t *ranks = calloc(profile->row_count + 1, sizeof(*ranks));
    struct rank_set present;
    if (!ranks)
        return error_set(err, "out of memory");
    for (size_t i = 0; i < profile->row_count; i++)
        ranks[i] = profile->rows[i].rank;
    int status = rank_set_of(&present, ranks, profile->row_count, err);
    if (status == 0) {
        status = rank_set_check(&settings->ranks, &present, err);
        rank_set_release(&present);
    }
    free(ranks);
    return status;
}

static int print_report(const struct settings *settings, const struct profile *profile,
                        struct error *err)
{
    struct summary summary;
    if (summary_make(&summary, profile, &settings->ranks, err) < 0)
        return -1;
    int status = 0;
    if (settings->json) {
        status = json_print(stdout, settings->path, profile, &summary, settings->top, err);
    } else {
        struct text_layout layout = text_layout(settings->top);
        text_print(stdout, settings->path, profile, &summary, &layout);
    }
    summary_release(&summary);
    return status;
}

static int fail(const struct settings *settings, int status, const struct error *err)
{
    fprintf(stderr, "sp-report: %s: %s\n", settings->path, err->text);
    return status;
}

static int finish_output(void)
{
    if (streams_finish() == 0)
        return EXIT_SUCCESS;
    fputs("sp-report: cannot write to standard output\n", stderr);
    return EXIT_CANNOT_WRITE;
}

/* Everything that touches the file; returns an exit status. */
static int report(void *data)
{
    const struct settings *settings = data;
    struct profile profile;
    struct error err;
    int status;
    if (profile_read(&profile, settings->path, &err) < 0) {
        fprintf(stderr, "sp-report: %s\n", err.text);
        return EXIT_UNUSABLE;
    }
    if (check_ranks(settings, &profile, &err) < 0)
        status = fail(settings, EXIT_USAGE, &err);
    else if (print_report(settings, &profile, &err) < 0)
        status = fail(settings, EXIT_UNUSABLE, &err);
    else
        status = finish_output();
    profile_release(&profile);
    return status;
}

int main(int argc, char **argv)
{
    struct settings settings = {0};
    struct error err;
    streams_prepare();
    streams_check_at_exit();
    parse_command_line(argc, argv, &settings);
    int status = fence_run(settings.path, report, &settings, &err);
    if (status < 0) {
        fprintf(stderr, "sp-report: %s\n", err.text);
        status = EXIT_UNUSABLE;
    }
    rank_set_release(&settings.ranks);
    return status;
}
