/* SPDX-License-Identifier: BSD-3-Clause */
/* WHAT: the one option grammar, after --scope-profile=, in SCOPE_PROFILE and for sp-run. */
#include "schema/options.h"

#include <string.h>

#include "schema/mpi_kind.h"
#include "schema/run_path.h"
#include "schema/size_text.h"

#define WORDS                                                                                      \
    "the words are: mpi-calls, polls=all, start=paused, off, help, out=DIR, merge=srun, "            \
    "merge=epilog, merge=off, max-run=SIZE, max-trace=SIZE, max-file=SIZE, likwid=EVENTS, "         \
    "likwid-mpi=yes, likwid-pin=yes, likwid-shared=yes, qmpi=TOOL{+TOOL}, qmpi-path=DIR"
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
    "  polls=all    record each test or probe that found nothing; else polls that follow one\n"
    "               another closely are one event with their number\n"
    "  start=paused record nothing until the program calls MPI_Pcontrol(1)\n"
    "  off          do not profile, whatever the job asks for (stands alone)\n"
    "  help         print this text and run nothing (stands alone)\n"
    "  out=DIR      the directory in which the profile file appears; default: the one you\n"
    "               start from. In DIR, %j is the job, %s the step, %u the user, %x the job's\n"
    "               name, %A and %a the array job and task, %% a percent sign\n"
    "  merge=srun   at the end make one profile file of all ranks' traces (the default)\n"
    "  merge=epilog the same, but when the job ends, on a node of it, and srun does not wait\n"
    "  merge=off    keep the traces; \"sp-merge DIRECTORY\" makes the profile file later\n"
    "  max-run=SIZE    the bytes (or 500M, 10G, ...) that the traces of a run may take in all;\n"
    "               then calls are counted, no longer recorded; default: 10G\n"
    "  max-trace=SIZE  those of one rank; default: max-run by ranks, but 8M at least\n"
    "  max-file=SIZE   those of the profile file: a larger one would get statistics only, and\n"
    "               the traces stay; default: any size\n"
    "  likwid=EVENTS   hardware counters, in the regions that the program's own LIKWID markers\n"
    "               mark, else in one: app, from MPI_Init to MPI_Finalize. A group\n"
    "               (likwid-perfctr -a lists them), or EVENT:COUNTER+EVENT:COUNTER;\n"
    "               several, joined by |, for programs that switch between them\n"
    "  likwid-mpi=yes  a program without markers gets a region mpi, too: inside the calls that\n"
    "               are recorded; each then takes much longer\n"
    "  likwid-pin=yes  LIKWID pins each thread that it counts in to a CPU of its own\n"
    "  likwid-shared=yes  read them also where tasks share CPUs, and with them the counters\n"
    "  qmpi=TOOL+TOOL  load these QMPI tools, the first one nearest to the program; scope stands\n"
    "               for what records the calls, which else comes last: see qmpi(7)\n"
    "  qmpi-path=DIR   where their libraries are: absolute paths of directories or files, joined\n"
    "               by colons\n"
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
enum given {
    GIVEN_CALLS = 1,
    GIVEN_OFF = 2,
    GIVEN_HELP = 4,
    GIVEN_OUT = 8,
    GIVEN_MERGE = 16,
    GIVEN_POLLS = 32,
    GIVEN_START = 64,
    GIVEN_RUN = 128,
    GIVEN_TRACE = 256,
    GIVEN_FILE = 512,
    GIVEN_LIKWID = 1024,
    GIVEN_SHARED = 2048,
    GIVEN_QMPI = 4096,
    GIVEN_QMPI_PATH = 8192,
    GIVEN_COUNT_MPI = 16384,
    GIVEN_PIN = 32768,
};

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

/* all, or kinds joined by '+' */
static int check_calls(struct options *options, const char *value, struct error *err)
{
    (void)options;
    if (strcmp(value, "all") == 0)
        return 0;
    for (;;) {
        size_t length = strcspn(value, "+");
        if (mpi_kind_from_word(value, length) == KIND_COUNT)
            return error_set(err, "unknown kind \"%.*s\" of mpi-calls; " KINDS,
                             length < 60 ? (int)length : 60, show(value).text);
        if (value[length] == '\0')
            return 0;
        value += length + 1;
    }
}

static int unknown_value(const char *word, const char *value, struct error *err)
{
    return error_set(err, "unknown value \"%s\" of %s; " WORDS, show(value).text, word);
}

static int set_merge(struct options *options, const char *who, struct error *err)
{
    if (strcmp(who, "srun") == 0)
        options->merge = MERGE_SRUN;
    else if (strcmp(who, "epilog") == 0)
        options->merge = MERGE_EPILOG;
    else if (strcmp(who, "off") == 0)
        options->merge = MERGE_OFF;
    else
        return unknown_value("merge", who, err);
    return 0;
}

static int check_polls(struct options *options, const char *which, struct error *err)
{
    (void)options;
    return strcmp(which, "all") == 0 ? 0 : unknown_value("polls", which, err);
}

static int check_start(struct options *options, const char *how, struct error *err)
{
    (void)options;
    return strcmp(how, "paused") == 0 ? 0 : unknown_value("start", how, err);
}

static int check_size(const char *word, const char *size, struct error *err)
{
    uint64_t bytes;
    if (size_text_read(size, strlen(size), &bytes))
        return 0;
    return error_set(err, "%s=%s is no size: a number of bytes from 1 on, or with K, M, G or T "
                          "behind it", word, show(size).text);
}

static int check_run(struct options *options, const char *size, struct error *err)
{
    (void)options;
    return check_size("max-run", size, err);
}

static int check_trace(struct options *options, const char *size, struct error *err)
{
    (void)options;
    return check_size("max-trace", size, err);
}

static int check_file(struct options *options, const char *size, struct error *err)
{
    (void)options;
    return check_size("max-file", size, err);
}

/* What cannot be in a list of LIKWID's groups and events is refused here, the rest by LIKWID. */
static int check_likwid(struct options *options, const char *events, struct error *err)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-.:=+|";
    if (strlen(events) > OPTIONS_LIKWID_MAX)
        return error_set(err, "the value of likwid= is longer than %d bytes", OPTIONS_LIKWID_MAX);
    if (*events != '\0' && events[strspn(events, good)] == '\0') {
        options->likwid = true;
        return 0;
    }
    return error_set(err, "\"%s\" is no list of LIKWID's events: a group, or "
                          "EVENT:COUNTER+EVENT:COUNTER", show(events).text);
}

static int check_yes(const char *word, const char *value, struct error *err)
{
    return strcmp(value, "yes") == 0 ? 0 : unknown_value(word, value, err);
}

static int check_shared(struct options *options, const char *value, struct error *err)
{
    (void)options;
    return check_yes("likwid-shared", value, err);
}

static int check_count_mpi(struct options *options, const char *value, struct error *err)
{
    (void)options;
    return check_yes("likwid-mpi", value, err);
}

static int check_pin(struct options *options, const char *value, struct error *err)
{
    (void)options;
    return check_yes("likwid-pin", value, err);
}

/* Names joined by '+'; they are parts of file names. */
int options_check_tools(const char *list, struct error *err)
{
    static const char recorder[] = "scope";
    int recorders = 0, tools = 0;
    for (;;) {
        size_t length = strcspn(list, "+");
        if (length == 0 || length >= OPTIONS_TOOL_MAX || memchr(list, '/', length))
            return error_set(err, "\"%.*s\" cannot be the name of a QMPI tool",
                             length < 60 ? (int)length : 60, show(list).text);
        bool is_recorder = length == strlen(recorder) && strncmp(list, recorder, length) == 0;
        recorders += is_recorder;
        tools += !is_recorder;
        if (recorders > 1)
            return error_set(err, "scope stands twice in the list of QMPI tools");
        if (tools > OPTIONS_TOOLS_MAX)
            return error_set(err, "there are more than %d QMPI tools in the list",
                             OPTIONS_TOOLS_MAX);
        if (list[length] == '\0')
            return 0;
        list += length + 1;
    }
}

static int check_tools(struct options *options, const char *value, struct error *err)
{
    (void)options;
    return options_check_tools(value, err);
}

static int check_tools_path(struct options *options, const char *value, struct error *err)
{
    (void)options;
    for (;; value++) {
        if (*value != '/')
            return error_set(err, "qmpi-path=: \"%s\" is no absolute path", show(value).text);
        value += strcspn(value, ":");
        if (*value == '\0')
            return 0;
    }
}

static const struct word {
    const char *name;
    enum given given;
    /* Takes or checks the value; NULL: the word has none. */
    int (*set)(struct options *options, const char *value, struct error *err);
    const char *example; /* of a value that must be there; NULL: it may be left out */
} words[] = {
    {"mpi-calls", GIVEN_CALLS, check_calls, NULL}, {"off", GIVEN_OFF, NULL, NULL},
    {"help", GIVEN_HELP, NULL, NULL},              {"out", GIVEN_OUT, set_out, "DIR"},
    {"merge", GIVEN_MERGE, set_merge, "srun"},     {"polls", GIVEN_POLLS, check_polls, "all"},
    {"start", GIVEN_START, check_start, "paused"}, {"max-run", GIVEN_RUN, check_run, "10G"},
    {"max-trace", GIVEN_TRACE, check_trace, "100M"}, {"max-file", GIVEN_FILE, check_file, "4G"},
    {"likwid", GIVEN_LIKWID, check_likwid, "MEM_DP"},
    {"likwid-mpi", GIVEN_COUNT_MPI, check_count_mpi, "yes"},
    {"likwid-pin", GIVEN_PIN, check_pin, "yes"},
    {"likwid-shared", GIVEN_SHARED, check_shared, "yes"},
    {"qmpi", GIVEN_QMPI, check_tools, "TOOL"},
    {"qmpi-path", GIVEN_QMPI_PATH, check_tools_path, "/DIR"},
};

static const struct word *find_word(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (length == strlen(words[i].name) && strncmp(text, words[i].name, length) == 0)
            return &words[i];
    }
    return NULL;
}

/* Returns the kind of the word, or -1 and err. */
static int apply_word(struct options *options, const char *text, struct error *err)
{
    size_t length = strcspn(text, "=");
    const struct word *word = find_word(text, length);
    const char *value = text[length] == '=' ? text + length + 1 : NULL;
    if (*text == '\0')
        return error_set(err, "empty word; " WORDS);
    if (!word)
        return error_set(err, "unknown word \"%s\"; " WORDS, show(text).text);
    if (value && !word->set)
        return error_set(err, "%s takes no value, but \"%s\" was given", word->name,
                         show(value).text);
    if (!value && word->example)
        return error_set(err, "%s needs a value, for example %s=%s", word->name, word->name,
                         word->example);
    if (value && word->set(options, value, err) < 0)
        return -1;
    return (int)word->given;
}

static const char *given_name(int given)
{
    size_t i = 0;
    while (words[i].given != (enum given)given)
        i++;
    return words[i].name;
}

static int check_together(int given, struct error *err)
{
    if ((given & GIVEN_OFF && given != GIVEN_OFF) || (given & GIVEN_HELP && given != GIVEN_HELP))
        return error_set(err, "%s stands alone, without other words",
                         given & GIVEN_OFF ? "off" : "help");
    if (!(given & (GIVEN_CALLS | GIVEN_OFF | GIVEN_HELP)))
        return error_set(err, "nothing to record is asked for: add mpi-calls");
    int how = given & (GIVEN_COUNT_MPI | GIVEN_PIN | GIVEN_SHARED);
    if (how && !(given & GIVEN_LIKWID))
        return error_set(err, "%s is for likwid=EVENTS, which is not given",
                         given_name(how & -how));
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

/* Behind the next comma that separates words; NULL if there is none. */
static const char *next_word(const char *word)
{
    for (; *word; word++) {
        if (*word == '\\' && word[1])
            word++;
        else if (*word == ',')
            return word + 1;
    }
    return NULL;
}

const char *options_value(const char *text, const char *name, size_t *length)
{
    size_t size = strlen(name);
    while (text && (strncmp(text, name, size) != 0 || text[size] != '='))
        text = next_word(text);
    if (!text)
        return NULL;
    const char *next = next_word(text);
    text += size + 1;
    *length = next ? (size_t)(next - 1 - text) : strlen(text);
    return text;
}
