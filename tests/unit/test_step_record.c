/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries of the registry: what is written is read again, and nothing else is taken. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "schema/step_record.h"

#define FIRST "scope-profile-step 1\n"
#define REST                                                                                       \
    "step=0\nnodes=2\ncomponent=18\nuser=1000\ngroup=100\ngroups=100,27\nmerge=epilog\n"  \
    "run=/d/run\nspool=/s/17.0-0-1\ntimeout=30\nwait=20\nthreads=1\ndetach=yes\nmpirun=no\n"
#define WHOLE FIRST "job=17\n" REST

static struct step_record record;
static char text[STEP_RECORD_MAX];
static struct error err;

static int parse(const char *from)
{
    size_t length = strlen(from);
    cr_assert_lt(length, sizeof text);
    memcpy(text, from, length + 1);
    return step_record_parse(&record, text, length, &err);
}

static void refuses(const char *from, const char *why)
{
    cr_expect_eq(parse(from), -1, "\"%s\" is taken", from);
    cr_expect_str_eq(err.text, why);
}

static size_t print(const struct step_record *from)
{
    size_t length;
    cr_assert_eq(step_record_print(from, text, &length, &err), 0, "%s", err.text);
    cr_expect_eq(strlen(text), length);
    return length;
}

Test(step_record, an_entry_is_read)
{
    cr_assert_eq(parse(WHOLE), 0, "%s", err.text);
    cr_expect_eq(record.job, 17);
    cr_expect_eq(record.step, 0);
    cr_expect_eq(record.nodes, 2);
    cr_expect_eq(record.user, 1000);
    cr_expect_eq(record.group, 100);
    cr_assert_eq(record.group_count, 2);
    cr_expect_eq(record.groups[0], 100);
    cr_expect_eq(record.groups[1], 27);
    cr_expect_eq(record.merge, MERGE_EPILOG);
    cr_expect_str_eq(record.run, "/d/run");
    cr_expect_str_eq(record.spool, "/s/17.0-0-1");
    cr_expect_eq(record.component, 18);
    cr_expect_eq(record.terms.timeout_s, 30);
    cr_expect_eq(record.terms.wait_s, 20);
    cr_expect_eq(record.terms.threads, 1);
    cr_expect(record.terms.detaches);
    cr_expect(!record.is_mpirun);
}

Test(step_record, what_is_written_is_what_was_read)
{
    cr_assert_eq(parse(WHOLE), 0);
    struct step_record read = record;
    print(&read);
    cr_expect_str_eq(text, WHOLE);
}

/* A job's name may be part of the run directory's. */
Test(step_record, a_name_with_newlines_stays_a_name)
{
    static const char name[] = "/d/x\nuser=0\n%/scope-profile-17.0";
    cr_assert_eq(parse(WHOLE), 0);
    struct step_record hostile = record;
    strcpy(hostile.run, name);
    size_t length = print(&hostile);
    cr_assert_not_null(strstr(text, "\nrun=/d/x%0Auser=0%0A%25/scope-profile-17.0\n"));
    cr_assert_eq(step_record_parse(&record, text, length, &err), 0, "%s", err.text);
    cr_expect_str_eq(record.run, name);
    cr_expect_eq(record.user, 1000);
}

Test(step_record, ids_and_paths_of_any_size_fit)
{
    static gid_t groups[STEP_RECORD_GROUPS_MAX + 1];
    struct user_ids ids = {4294967294U, 4294967294U, groups, STEP_RECORD_GROUPS_MAX};
    for (size_t i = 0; i < STEP_RECORD_GROUPS_MAX; i++)
        groups[i] = 4294967294U - (gid_t)i;
    struct step_record large = {.job = 4294967295U};
    memset(large.run, '\n', sizeof large.run - 1);
    large.run[0] = '/';
    cr_assert_eq(step_record_set_ids(&large, &ids, &err), 0);
    size_t length = print(&large);
    cr_assert_eq(step_record_parse(&record, text, length, &err), 0, "%s", err.text);
    cr_expect_eq(memcmp(record.groups, groups, sizeof record.groups), 0);
    cr_expect_str_eq(record.run, large.run);
    ids.group_count++;
    cr_expect_eq(step_record_set_ids(&large, &ids, &err), -1, "more groups than there is room for");
}

Test(step_record, a_step_without_groups)
{
    cr_assert_eq(parse(FIRST "job=17\nstep=0\nnodes=2\ncomponent=0\nuser=1\ngroup=1\n"
                             "groups=\nmerge=srun\nrun=/\nspool=\ntimeout=1\nwait=1\nthreads=1\ndetach=no\nmpirun=yes\n"),
                 0, "%s", err.text);
    cr_expect_eq(record.group_count, 0);
    cr_expect_str_empty(record.spool);
    cr_expect_eq(record.merge, MERGE_SRUN);
    cr_expect_not(record.terms.detaches);
    cr_expect(record.is_mpirun);
}

/* The plugin may be replaced while jobs run. */
Test(step_record, what_an_older_plugin_wrote_is_read)
{
    cr_assert_eq(parse(FIRST "job=17\nstep=0\nnodes=2\nuser=1\ngroup=1\ngroups=\nmerge=srun\n"
                             "run=/d/run\ntimeout=1\nwait=1\nthreads=1\ndetach=no\nmpirun=no\n"),
                 0, "%s", err.text);
    cr_expect_eq(record.component, 0);
    cr_expect_str_empty(record.spool);
    cr_expect_str_eq(record.run, "/d/run");
}

Test(step_record, only_the_keys_of_this_version_and_each_once)
{
    refuses("", "it is no entry of version 1");
    refuses("scope-profile-step 2\njob=17\n" REST, "it is no entry of version 1");
    refuses(WHOLE "job=17\n", "job is there twice");
    refuses(WHOLE "user=0\n", "user is there twice");
    refuses(WHOLE "later=1\n", "a key is unknown");
    refuses(WHOLE "=1\n", "a key is unknown");
    refuses(WHOLE "later\n", "a line is no KEY=VALUE");
    refuses(FIRST REST, "a key is missing");
    refuses(WHOLE "\n", "a line is no KEY=VALUE");
    refuses(FIRST "job=17", "its last line is cut off");
}

Test(step_record, a_zero_byte_is_no_end)
{
    static const char hostile[] = WHOLE "x\0y=1\n";
    memcpy(text, hostile, sizeof hostile);
    cr_expect_eq(step_record_parse(&record, text, sizeof hostile - 1, &err), -1);
}

Test(step_record, only_values_that_can_be)
{
    static const char *const wrong[] = {"",    "-1",  "+1",         " 1",  "1 ",
                                        "0x1", "1,2", "4294967296", "%31", "18446744073709551617"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char entry[1024];
        snprintf(entry, sizeof entry, FIRST "job=%s\n" REST, wrong[i]);
        if (strcmp(wrong[i], "%31") == 0) /* another way to write a 1 */
            cr_expect_eq(parse(entry), 0);
        else
            refuses(entry, "the value of job cannot be");
    }
    refuses(FIRST "run=\n", "the value of run cannot be");
    refuses(FIRST "run=d\n", "the value of run cannot be");
    refuses(FIRST "spool=s\n", "the value of spool cannot be");
    refuses(FIRST "groups=1,\n", "the value of groups cannot be");
    refuses(FIRST "groups=,1\n", "the value of groups cannot be");
    refuses(FIRST "groups=1;2\n", "the value of groups cannot be");
    refuses(FIRST "merge=off\n", "the value of merge cannot be");
    refuses(FIRST "detach=maybe\n", "the value of detach cannot be");
    refuses(FIRST "mpirun=1\n", "the value of mpirun cannot be");
    refuses(FIRST "run=relative\n", "the value of run cannot be");
    refuses(FIRST "run=/%0\n", "the value of run cannot be");
    refuses(FIRST "run=/%00\n", "the value of run cannot be");
}

Test(step_record, a_path_that_is_too_long_is_refused)
{
    char entry[OPTIONS_PATH_MAX + 64] = FIRST "run=/";
    size_t length = strlen(entry);
    memset(entry + length, 'd', OPTIONS_PATH_MAX - 1);
    strcpy(entry + length + OPTIONS_PATH_MAX - 1, "\n");
    refuses(entry, "the value of run cannot be");
}
