/* SPDX-License-Identifier: BSD-3-Clause */
/* WHAT: the one option grammar, after --scope-profile=, in SCOPE_PROFILE and for sp-run. */
#include "schema/options.h"

#include <string.h>

#include "schema/mpi_kind.h"
#include "schema/run_path.h"

#define WORDS "the words are: mpi-calls, off, help, out=DIR, merge=srun, merge=off"
#define KINDS                                                                                      \
    "the kinds are: point-to-point, collective, wait, poll, one-sided, io, communicator, "         \
    "topology, other; or mpi-calls=all"

const char options_help[] =
    "WHAT is a list of words, separated by commas (\"\\,\" is a comma in a word):\n"
    "  mpi-calls    record the MPI calls of every rank that move data or wait\n"
    "  mpi-calls=all         these, and those that only ask or change something locally\n"
    "  mpi-calls=KIND+KIND   calls of these kinds alone:\n"
    "     point-to-point     messages: send, recv, sendrecv, probe, ...\n"
    "     collective         barrier, bcast, reduce, alltoall, neighbor_..., ...\n"
    "     wait               completion of requests that had to be waited for\n"
    "     poll               tests and probes that found nothing\n"
    "     one-sided          put, get, accumulate, and the synchronisation of windows\n"
    "     io                 files\n"
    "     communicator       making and freeing communicators and groups\n"
    "     topology           cartesian and graph communicators\n"
    "     other              the rest: init, finalize, datatypes, ...\n"
    "  off          do not profile, whatever the job asks for (stands alone)\n"
    "  help         print this text and run nothing (stands alone)\n"
    "  out=DIR      the directory in which the profile file appears; default: the one you\n"
    "               start from. In DIR, %j is the job, %s the step, %u the user, %x the job's\n"
    "               name, %A and %a the array job and task, %% a percent sign\n"
    "  merge=srun   at the end make one profile file of all ranks' traces (the default)\n"
    "  merge=off    keep the traces; \"sp-merge DIRECTORY\" makes the profile file later\n"
    "Example: mpi-calls,out=profiles/%j\n";

/* A word of the text, as it is shown to the user: cut, and without control characters. */
struct shown {
    char text[64];
};

static struct shown show(const char *word)
{
    struct shown shown;
    size_t i;
    for (i = 0; word[i] && i < sizeof shown.text - 4; i++)
        shown.text[i] = (unsigned char)word[i] < ' ' || word[i] == 127 ? '?' : word[i];
    strcpy(shown.text + i, word[i] ? "..." : "");
    return shown;
}

/* Copies the word at *text to word[OPTIONS_TEXT_MAX] with its escapes resolved, and moves *text to
 * the comma or the end behind it. */
static int take_word(const char **text, char *word, struct error *err)
{
    const char *p = *text;
    size_t length = 0;
    while (*p && *p != ',') {
        if (*p == '\\') {
            p++;
            if (*p != ',' && *p != '\\')
                return error_set(err, "a backslash in \"%s\" is not before a comma or a backslash",
                                 show(*text).text);
        }
        word[length++] = *p++;
    }
    word[length] = '\0';
    *text = p;
    return 0;
}

/* Words that were given, to refuse the second of a kind. */
enum given { GIVEN_CALLS = 1, GIVEN_OFF = 2, GIVEN_HELP = 4, GIVEN_OUT = 8, GIVEN_MERGE = 16 };

static int set_out(struct options *options, const char *directory, struct error *err)
{
    if (*directory == '\0')
        return error_set(err, "out= needs a directory");
    if (strlen(directory) >= sizeof options->out)
        return error_set(err, "the directory of out= is longer than %d bytes",
                         OPTIONS_PATH_MAX - 1);
    if (run_path_check(directory, err) < 0)
        return -1;
    strcpy(options->out, directory);
    return 0;
}

/* The value of mpi-calls: all, or kinds joined by '+'. */
static int check_calls(const char *value, struct error *err)
{
    if (strcmp(value, "all") == 0)
        return GIVEN_CALLS;
    for (;;) {
        size_t length = strcspn(value, "+");
        if (mpi_kind_from_word(value, length) == KIND_COUNT)
            return error_set(err, "unknown kind \"%.*s\" of mpi-calls; " KINDS,
                             length < 60 ? (int)length : 60, show(value).text);
        if (value[length] == '\0')
            return GIVEN_CALLS;
        value += length + 1;
    }
}

static int set_merge(struct options *options, const char *who, struct error *err)
{
    if (strcmp(who, "srun") == 0)
        options->merge = MERGE_SRUN;
    else if (strcmp(who, "off") == 0)
        options->merge = MERGE_OFF;
    else
        return error_set(err, "unknown value \"%s\" of merge; " WORDS, show(who).text);
    return 0;
}

/* Returns the kind of the word, or -1 and err. */
static int apply_word(struct options *options, const char *word, struct error *err)
{
    size_t length = strcspn(word, "=");
    bool has_value = word[length] == '=';
    const char *value = word + length + has_value;
    if (length == strlen("out") && strncmp(word, "out", length) == 0)
        return has_value ? (set_out(options, value, err) < 0 ? -1 : GIVEN_OUT)
                         : error_set(err, "out needs a directory: out=DIR");
    if (length == strlen("merge") && strncmp(word, "merge", length) == 0)
        return has_value ? (set_merge(options, value, err) < 0 ? -1 : GIVEN_MERGE)
                         : error_set(err, "merge needs a value: merge=srun or merge=off");
    if (length == strlen("mpi-calls") && strncmp(word, "mpi-calls", length) == 0)
        return has_value ? check_calls(value, err) : GIVEN_CALLS;

    static const struct {
        const char *word;
        enum given given;
    } plain[] = {{"off", GIVEN_OFF}, {"help", GIVEN_HELP}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (length != strlen(plain[i].word) || strncmp(word, plain[i].word, length) != 0)
            continue;
        if (has_value)
            return error_set(err, "%s takes no value, but \"%s\" was given", plain[i].word,
                             show(value).text);
        return plain[i].given;
    }
    if (*word == '\0')
        return error_set(err, "empty word; " WORDS);
    return error_set(err, "unknown word \"%s\"; " WORDS, show(word).text);
}

static const char *given_name(int given)
{
    switch (given) {
    case GIVEN_CALLS:
        return "mpi-calls";
    case GIVEN_OFF:
        return "off";
    case GIVEN_HELP:
        return "help";
    case GIVEN_OUT:
        return "out=";
    default:
        return "merge=";
    }
}

static int check_together(int given, struct error *err)
{
    if ((given & GIVEN_OFF && given != GIVEN_OFF) || (given & GIVEN_HELP && given != GIVEN_HELP))
        return error_set(err, "%s stands alone, without other words",
                         given & GIVEN_OFF ? "off" : "help");
    if (!(given & (GIVEN_CALLS | GIVEN_OFF | GIVEN_HELP)))
        return error_set(err, "nothing to record is asked for: add mpi-calls");
    return 0;
}

int options_parse(struct options *options, const char *text, struct error *err)
{
    char word[OPTIONS_TEXT_MAX];
    int given = 0;
    memset(options, 0, sizeof *options);
    options->merge = MERGE_SRUN;
    if (strlen(text) >= sizeof word)
        return error_set(err, "the text is longer than %d bytes", OPTIONS_TEXT_MAX - 1);
    for (;; text++) {
        if (take_word(&text, word, err) < 0)
            return -1;
        int kind = apply_word(options, word, err);
        if (kind < 0)
            return -1;
        if (given & kind)
            return error_set(err, "%s is given twice", given_name(kind));
        given |= kind;
        if (*text == '\0')
            break;
    }
    options->mpi_calls = given & GIVEN_CALLS;
    options->off = given & GIVEN_OFF;
    options->help = given & GIVEN_HELP;
    return check_together(given, err);
}
