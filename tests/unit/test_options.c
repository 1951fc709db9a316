/* SPDX-License-Identifier: BSD-3-Clause */
/* WHAT is taken strictly, and a wrong word is named beside the right ones. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "schema/options.h"

static struct options options;
static struct error err;

static void takes(const char *text)
{
    err.text[0] = '\0';
    cr_assert_eq(options_parse(&options, text, &err), 0, "%s: %s", text, err.text);
}

static void refuses(const char *text, const char *message)
{
    err.text[0] = '\0';
    cr_expect_eq(options_parse(&options, text, &err), -1, "%s was taken", text);
    cr_expect_str_eq(err.text, message);
}

#define KINDS                                                                                      \
    "; the kinds are: point-to-point, collective, wait, poll, one-sided, io, communicator, "       \
    "topology, other; or mpi-calls=all"
#define WORDS                                                                                      \
    "; the words are: mpi-calls, polls=all, start=paused, off, help, out=DIR, merge=srun, "        \
    "merge=epilog, merge=off, max-run=SIZE, max-trace=SIZE, max-file=SIZE, likwid=EVENTS, "         \
    "likwid-mpi=yes, likwid-pin=yes, likwid-shared=yes, qmpi=TOOL{+TOOL}, qmpi-path=DIR"

Test(options, mpi_calls_alone_merges_in_the_working_directory)
{
    takes("mpi-calls");
    cr_expect(options.mpi_calls);
    cr_expect_not(options.off);
    cr_expect_not(options.help);
    cr_expect_eq(options.merge, MERGE_SRUN);
    cr_expect_str_empty(options.out);
}

Test(options, words_stand_in_any_order)
{
    takes("merge=off,out=/scratch/%u/%j,mpi-calls");
    cr_expect(options.mpi_calls);
    cr_expect_eq(options.merge, MERGE_OFF);
    cr_expect_str_eq(options.out, "/scratch/%u/%j");
    takes("mpi-calls,merge=srun");
    cr_expect_eq(options.merge, MERGE_SRUN);
    takes("mpi-calls,merge=epilog");
    cr_expect_eq(options.merge, MERGE_EPILOG);
}

Test(options, off_and_help_stand_alone)
{
    takes("off");
    cr_expect(options.off);
    cr_expect_not(options.mpi_calls);
    takes("help");
    cr_expect(options.help);
    refuses("off,mpi-calls", "off stands alone, without other words");
    refuses("help,out=x", "help stands alone, without other words");
}

Test(options, a_comma_or_a_backslash_is_escaped)
{
    takes("mpi-calls,out=a\\,b\\\\c,merge=off");
    cr_expect_str_eq(options.out, "a,b\\c");
    cr_expect_eq(options.merge, MERGE_OFF);
    refuses("mpi-calls,out=a\\b",
            "a backslash in \"out=a\\b\" is not before a comma or a backslash");
    refuses("mpi-calls\\", "a backslash in \"mpi-calls\\\" is not before a comma or a backslash");
}

Test(options, an_unknown_word_is_named_with_the_right_ones)
{
    refuses("mpi-cals", "unknown word \"mpi-cals\"" WORDS);
    refuses("mpi-calls,nonsense", "unknown word \"nonsense\"" WORDS);
    refuses("MPI-CALLS", "unknown word \"MPI-CALLS\"" WORDS);
    refuses("mpi-calls,outer=x", "unknown word \"outer=x\"" WORDS);
    refuses("./app", "unknown word \"./app\"" WORDS);
    refuses("(null)", "unknown word \"(null)\"" WORDS);
    refuses("mpi-calls,likvid=CLOCK", "unknown word \"likvid=CLOCK\"" WORDS);
}

Test(options, an_empty_word_is_refused)
{
    refuses("", "empty word" WORDS);
    refuses("mpi-calls,", "empty word" WORDS);
    refuses(",mpi-calls", "empty word" WORDS);
    refuses("=x", "unknown word \"=x\"" WORDS);
}

Test(options, values_are_checked)
{
    refuses("mpi-calls,merge=sometimes", "unknown value \"sometimes\" of merge" WORDS);
    refuses("mpi-calls,merge=", "unknown value \"\" of merge" WORDS);
    refuses("mpi-calls,merge", "merge needs a value, for example merge=srun");
    refuses("mpi-calls,out", "out needs a value, for example out=DIR");
    refuses("mpi-calls,out=", "out= needs a directory");
    takes("mpi-calls=all");
    takes("mpi-calls=point-to-point+collective,merge=off");
    takes("mpi-calls=wait+poll+one-sided+io+communicator+topology+other");
    refuses("mpi-calls=", "unknown kind \"\" of mpi-calls" KINDS);
    refuses("mpi-calls=all+wait", "unknown kind \"all\" of mpi-calls" KINDS);
    refuses("mpi-calls=wait+", "unknown kind \"\" of mpi-calls" KINDS);
    refuses("mpi-calls=collectives+wait", "unknown kind \"collectives\" of mpi-calls" KINDS);
    takes("mpi-calls,polls=all,start=paused");
    refuses("mpi-calls,polls=some", "unknown value \"some\" of polls" WORDS);
    refuses("mpi-calls,polls", "polls needs a value, for example polls=all");
    refuses("mpi-calls,start=", "unknown value \"\" of start" WORDS);
    refuses("mpi-calls,start", "start needs a value, for example start=paused");
    refuses("polls=all,start=paused", "nothing to record is asked for: add mpi-calls");
    takes("mpi-calls,max-run=10G,max-trace=8388608,max-file=4G");
    refuses("mpi-calls,max-run=lots",
            "max-run=lots is no size: a number of bytes from 1 on, or with K, M, G or T behind it");
    refuses("mpi-calls,max-trace=0",
            "max-trace=0 is no size: a number of bytes from 1 on, or with K, M, G or T behind it");
    refuses("mpi-calls,max-file=10Q",
            "max-file=10Q is no size: a number of bytes from 1 on, or with K, M, G or T behind it");
    refuses("mpi-calls,max-trace", "max-trace needs a value, for example max-trace=100M");
    takes("mpi-calls,qmpi=A+B+A,qmpi-path=/a:/b/c.so");
    takes("mpi-calls,qmpi=scope+A");
    refuses("mpi-calls,qmpi=scope+A+scope", "scope stands twice in the list of QMPI tools");
    char many[OPTIONS_TEXT_MAX] = "mpi-calls,qmpi=A+scope";
    for (int i = 1; i < OPTIONS_TOOLS_MAX; i++)
        strcat(many, "+A");
    takes(many);
    strcat(many, "+A");
    refuses(many, "there are more than 64 QMPI tools in the list");
    refuses("mpi-calls,qmpi=A+", "\"\" cannot be the name of a QMPI tool");
    refuses("mpi-calls,qmpi=a/b+c", "\"a/b\" cannot be the name of a QMPI tool");
    refuses("mpi-calls,qmpi", "qmpi needs a value, for example qmpi=TOOL");
    refuses("mpi-calls,qmpi-path=/a:b", "qmpi-path=: \"b\" is no absolute path");
    refuses("off=", "off takes no value, but \"\" was given");
}

Test(options, events_of_likwid)
{
    takes("mpi-calls");
    cr_expect_not(options.likwid);
    takes("mpi-calls,likwid=MEM_DP");
    cr_expect(options.likwid);
    takes("likwid=CLOCK|MEM_DP|A:PMC0:EDGEDETECT:THRESHOLD=0x1+B.C-D:PMC1,mpi-calls");
    takes("mpi-calls,likwid=CLOCK,likwid-shared=yes");
    takes("mpi-calls,likwid=CLOCK,likwid-mpi=yes,likwid-pin=yes");
    refuses("mpi-calls,likwid", "likwid needs a value, for example likwid=MEM_DP");
    refuses("mpi-calls,likwid=", "\"\" is no list of LIKWID's events: a group, or "
                                 "EVENT:COUNTER+EVENT:COUNTER");
    refuses("mpi-calls,likwid=A B", "\"A B\" is no list of LIKWID's events: a group, or "
                                    "EVENT:COUNTER+EVENT:COUNTER");
    refuses("mpi-calls,likwid-shared=no", "unknown value \"no\" of likwid-shared" WORDS);
    refuses("mpi-calls,likwid=CLOCK,likwid-mpi=1", "unknown value \"1\" of likwid-mpi" WORDS);
    refuses("mpi-calls,likwid=CLOCK,likwid-pin=no", "unknown value \"no\" of likwid-pin" WORDS);
    refuses("mpi-calls,likwid-mpi=yes",
            "likwid-mpi is for likwid=EVENTS, which is not given");
    refuses("mpi-calls,likwid-pin=yes", "likwid-pin is for likwid=EVENTS, which is not given");
    refuses("mpi-calls,likwid-shared=yes",
            "likwid-shared is for likwid=EVENTS, which is not given");
    refuses("likwid=CLOCK", "nothing to record is asked for: add mpi-calls");
    char text[OPTIONS_LIKWID_MAX + 64] = "mpi-calls,likwid=";
    memset(text + strlen(text), 'A', OPTIONS_LIKWID_MAX + 1);
    refuses(text, "the value of likwid= is longer than 1024 bytes");
}

Test(options, patterns_are_checked_before_anything_runs)
{
    takes("mpi-calls,out=%j-%s-%u-%x-%A-%a-100%%");
    refuses("mpi-calls,out=%N", "%N cannot stand in out=: all nodes and tasks share one directory; "
                                "the patterns are %j %s %u %x %A %a and %%");
    refuses("mpi-calls,out=x%q", "unknown pattern %q in out=; the patterns are %j %s %u %x %A %a "
                                 "and %%");
    refuses("mpi-calls,out=x%", "the directory of out= ends in a single %; the patterns are %j %s "
                                "%u %x %A %a and %%");
}

Test(options, a_word_is_given_once)
{
    refuses("mpi-calls,mpi-calls", "mpi-calls is given twice");
    refuses("mpi-calls,out=a,out=a", "out is given twice");
    refuses("mpi-calls,merge=off,merge=srun", "merge is given twice");
    refuses("off,off", "off is given twice");
}

Test(options, something_must_be_asked_for)
{
    refuses("out=x", "nothing to record is asked for: add mpi-calls");
    refuses("merge=off", "nothing to record is asked for: add mpi-calls");
}

Test(options, control_characters_do_not_reach_the_terminal)
{
    refuses("a\033[2Jb\n", "unknown word \"a?[2Jb?\"" WORDS);
}

Test(options, length_is_bounded)
{
    static char text[OPTIONS_TEXT_MAX + 8];
    memset(text, 'a', OPTIONS_TEXT_MAX);
    refuses(text, "the text is longer than 8191 bytes");
    text[OPTIONS_TEXT_MAX - 1] = '\0'; /* the longest that is looked at */
    cr_expect_eq(options_parse(&options, text, &err), -1);
    cr_expect(strstr(err.text, "aaa...\"") != NULL, "%s", err.text);

    int start = snprintf(text, sizeof text, "mpi-calls,out=");
    memset(text + start, 'a', OPTIONS_PATH_MAX);
    text[start + OPTIONS_PATH_MAX] = '\0';
    refuses(text, "the directory of out= is longer than 4095 bytes");
    text[start + OPTIONS_PATH_MAX - 1] = '\0';
    takes(text);
    cr_expect_eq(strlen(options.out), OPTIONS_PATH_MAX - 1);
}

Test(options, help_names_every_word)
{
    static const char *const words[] = {
        "mpi-calls", "off",       "help",         "out=DIR",      "merge=srun",    "merge=epilog",
        "merge=off", "polls=all", "start=paused", "max-run=SIZE", "max-trace=SIZE",
        "max-file=SIZE", "likwid=EVENTS", "likwid-mpi=yes", "likwid-pin=yes",
        "likwid-shared=yes",
        "qmpi=TOOL",     "qmpi-path=DIR"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        cr_expect(strstr(options_help, words[i]) != NULL, "%s", words[i]);
}

static const char *value(const char *text, const char *name_of)
{
    static char copy[64];
    size_t length;
    const char *found = options_value(text, name_of, &length);
    if (!found)
        return "none";
    snprintf(copy, sizeof copy, "%.*s", (int)length, found);
    return copy;
}

Test(options, a_value_is_found_by_its_word)
{
    const char *text = "mpi-calls=wait+io,out=a\\,max-run=1,max-run=2G,polls=all";
    cr_expect_str_eq(value(text, "mpi-calls"), "wait+io");
    cr_expect_str_eq(value(text, "max-run"), "2G", "a comma of the directory is no end of a word");
    cr_expect_str_eq(value(text, "polls"), "all");
    cr_expect_str_eq(value(text, "poll"), "none");
    cr_expect_str_eq(value(text, "start"), "none");
    cr_expect_str_eq(value("mpi-calls", "mpi-calls"), "none");
    cr_expect_str_eq(value(NULL, "mpi-calls"), "none");
}
