/* SPDX-License-Identifier: BSD-3-Clause */
/* Which exit record is a rank's, and what is said of it. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge/exits.h"
#include "schema/exit_record.h"
#include "schema/rank_groups.h"

static char directory[] = "/tmp/exits-XXXXXX";
static int dirfd_ = -1;
static struct exits exits;

static void make_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    dirfd_ = open(directory, O_RDONLY | O_DIRECTORY);
    cr_assert_geq(dirfd_, 0);
}

static void remove_directory(void)
{
    exits_release(&exits);
    close(dirfd_);
    rmdir(directory);
}

/* The status tells the records apart. */
static void record(const char *node, int task, int local, int pid, const char *host, int status)
{
    struct exit_record record = {.task = task, .local = local, .pid = pid, .status = status << 8};
    char line[EXIT_RECORD_LINE_SIZE], name[EXIT_RECORD_NAME_SIZE];
    snprintf(record.host, sizeof record.host, "%s", host);
    cr_assert_eq(exit_record_name(node, name), 0);
    size_t length = exit_record_print(&record, line);
    cr_assert_eq(exit_record_append(dirfd_, name, line, length), 0);
}

static void take(const char *node)
{
    char name[EXIT_RECORD_NAME_SIZE];
    cr_assert_eq(exit_record_name(node, name), 0);
    cr_assert(exits_is_name(name));
    cr_assert_eq(exits_add_file(&exits, dirfd_, name), 0);
    unlinkat(dirfd_, name, 0);
}

static void finds(int rank, const char *node, const char *host_key, int pid, int local,
                  enum rank_end_of of, int status)
{
    struct trace_header header = {.rank = (uint32_t)rank, .pid = pid, .local_rank = local};
    snprintf(header.node, sizeof header.node, "%s", node);
    snprintf(header.host, sizeof header.host, "%s", host_key);
    snprintf(header.host_key, sizeof header.host_key, "%s", host_key);
    struct rank_end end = exits_find(&exits, &header);
    cr_expect_eq(end.of, of, "rank %d: %d", rank, end.of);
    cr_expect_eq(end.status, status < 0 ? -1 : status << 8, "rank %d: %d", rank, end.status);
}

TestSuite(exits, .init = make_directory, .fini = remove_directory);

Test(exits, a_run_without_records_tells_nothing)
{
    cr_assert_eq(exits_settle(&exits), 0);
    finds(0, "a", "h", 10, 0, END_UNSEEN, -1);
}

Test(exits, a_process_is_known_by_node_and_number)
{
    record("b", 2, 0, 10, "hb", 3);
    record("b", 3, 1, 12, "hb", 4);
    record("a", 0, 0, 10, "ha", 1);
    record("a", 1, 1, 11, "ha", 2);
    take("b");
    take("a");
    cr_assert_eq(exits_settle(&exits), 0);
    finds(0, "a", "ha", 10, 0, END_OF_RANK, 1);
    finds(1, "a", "ha", 11, 1, END_OF_RANK, 2);
    finds(2, "b", "hb", 10, 0, END_OF_RANK, 3);
    finds(3, "b", "hb", 12, 1, END_OF_RANK, 4);
    finds(4, "c", "hc", 10, 0, END_UNSEEN, -1);
    /* In a container with a host name of its own. */
    finds(3, "b", "inside", 12, 1, END_OF_RANK, 4);
}

Test(exits, a_child_of_a_task_is_known_by_the_task)
{
    record("a", 0, 0, 10, "ha", 1);
    record("a", 1, 1, 11, "ha", 2);
    take("a");
    cr_assert_eq(exits_settle(&exits), 0);
    finds(1, "a", "ha", 99, 1, END_OF_TASK, 2);
    /* With the number that in its own namespace is that of another task's process. */
    finds(1, "a", "ha", 10, 1, END_OF_TASK, 2);
    finds(1, "a", "ha", 99, -1, END_UNSEEN, -1);
    finds(1, "a", "ha", 99, 2, END_UNSEEN, -1);
}

Test(exits, components_on_one_node_are_told_apart_by_rank_or_not_at_all)
{
    record("a", 0, 0, 10, "ha", 1);
    record("a", 1, 0, 11, "ha", 2);
    take("a");
    cr_assert_eq(exits_settle(&exits), 0);
    finds(1, "a", "ha", 99, 0, END_OF_TASK, 2);
    finds(5, "a", "ha", 99, 0, END_UNSEEN, -1);
    finds(5, "a", "ha", 11, 0, END_OF_RANK, 2);
}

Test(exits, what_sp_run_started_is_a_rank_or_the_launcher_of_all)
{
    record("ha", -1, -1, 10, "ha", 1);
    take("ha");
    cr_assert_eq(exits_settle(&exits), 0);
    finds(0, "", "ha", 10, -1, END_OF_RANK, 1);
    finds(0, "", "hb", 10, -1, END_OF_LAUNCHER, 1);
    finds(1, "a", "ha", 11, 0, END_OF_LAUNCHER, 1);
    /* On a node that Slurm calls as the host is called, in a shell of Slurm's with local id 0. */
    finds(0, "ha", "ha", 10, 0, END_OF_RANK, 1);
}

Test(exits, of_two_launchers_neither_is_taken)
{
    record("ha", -1, -1, 10, "ha", 1);
    record("ha", -1, -1, 11, "ha", 2);
    take("ha");
    cr_assert_eq(exits_settle(&exits), 0);
    finds(0, "", "ha", 11, -1, END_OF_RANK, 2);
    finds(0, "", "ha", 12, -1, END_UNSEEN, -1);
}

Test(exits, problems_are_counted_and_the_first_is_kept)
{
    cr_assert_eq(exits_add_file(&exits, dirfd_, "exit-gone"), 0);
    cr_assert_eq(symlinkat("x", dirfd_, "exit-link"), 0);
    take("link");
    cr_assert_eq(exits_settle(&exits), 0);
    cr_expect_eq(exits.problem_count, 2);
    cr_expect(strstr(exits.problem.text, "exit-gone: cannot be opened") == exits.problem.text);
    cr_expect_not(exits_is_name("exit-"));
    cr_expect_not(exits_is_name("job"));
}

Test(exits, the_end_of_the_job_is_the_cause_of_later_kills_alone)
{
    struct job_end end = {JOB_END_TIME_LIMIT, 0};
    cr_assert_eq(job_end_write(dirfd_, &end), 0);
    exits_add_job_end(&exits, dirfd_);
    unlinkat(dirfd_, JOB_END_NAME, 0);
    cr_expect_eq(exits.job.cause, JOB_END_TIME_LIMIT);
    cr_expect_eq(exits.problem_count, 0);

    const struct job_end job = {JOB_END_CANCELLED, 100};
    const struct {
        enum rank_end_of of;
        int status;
        int64_t at;
        enum job_end_cause cause;
    } cases[] = {
        {END_OF_RANK, SIGTERM, 100, JOB_END_CANCELLED},
        {END_OF_TASK, SIGKILL, 101, JOB_END_CANCELLED},
        {END_OF_RANK, SIGKILL, 99, JOB_END_UNKNOWN},
        {END_OF_RANK, SIGSEGV, 101, JOB_END_UNKNOWN},
        {END_OF_RANK, 3 << 8, 101, JOB_END_UNKNOWN},
        {END_UNSEEN, -1, 101, JOB_END_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rank_end rank = {.of = cases[i].of,
                                .status = cases[i].status,
                                .realtime_ns = cases[i].at};
        rank_end_explain(&rank, &job);
        cr_expect_eq(rank.cause, cases[i].cause, "case %zu", i);
    }
}

/* --- what is said --------------------------------------------------------------------------------
 */

static void says(enum rank_end_of of, int status, uint32_t phase, const char *text,
                 const char *clause)
{
    struct rank_end end = {.of = of, .status = status};
    char said[RANK_END_TEXT];
    rank_end_text(&end, phase, said);
    cr_expect_str_eq(said, text);
    rank_end_clause(&end, phase, said);
    cr_expect_str_eq(said, clause);
}

Test(rank_end, every_way_has_its_words)
{
    says(END_OF_RANK, 0, PHASE_CLOSED, "normal", "ended with exit status 0");
    says(END_OF_TASK, 0, PHASE_CLOSED, "normal", "normal");
    says(END_OF_RANK, 0, PHASE_INITIALISED, "exit status 0 without MPI_Finalize",
         "ended with exit status 0 without MPI_Finalize");
    says(END_OF_RANK, 3 << 8, PHASE_FINALISED, "exit status 3 in MPI_Finalize",
         "ended with exit status 3 in MPI_Finalize");
    says(END_OF_RANK, 3 << 8, PHASE_CLOSED, "exit status 3", "ended with exit status 3");
    says(END_OF_RANK, SIGKILL, PHASE_CLOSED, "signal 9 (SIGKILL), cause unknown",
         "killed by signal 9 (SIGKILL), cause unknown");
    says(END_OF_RANK, SIGSEGV | 128, PHASE_OPENED, "signal 11 (SIGSEGV), core dumped",
         "killed by signal 11 (SIGSEGV), core dumped");
    says(END_OF_RANK, SIGTERM, PHASE_OPENED, "signal 15 (SIGTERM), cause unknown",
         "killed by signal 15 (SIGTERM), cause unknown");
    says(END_OF_RANK, SIGABRT, PHASE_OPENED, "signal 6 (SIGABRT)",
         "killed by signal 6 (SIGABRT)");
    says(END_OF_RANK, 64, PHASE_OPENED, "signal 64, cause unknown",
         "killed by signal 64, cause unknown");
    says(END_OF_TASK, 5 << 8, PHASE_INITIALISED, "its task ended with exit status 5",
         "its task ended with exit status 5");
    says(END_OF_LAUNCHER, SIGTERM, PHASE_CLOSED,
         "its launcher ended with signal 15 (SIGTERM), cause unknown",
         "its launcher ended with signal 15 (SIGTERM), cause unknown");
    says(END_OF_RANK, INT32_MAX, PHASE_CLOSED, "wait status 2147483647",
         "ended with wait status 2147483647");
    says(END_UNSEEN, -1, PHASE_CLOSED, "unknown: no exit record", "unknown: no exit record");
}

Test(rank_end, why_slurm_ended_the_job_is_said)
{
    static const char *const said[] = {
        [JOB_END_UNKNOWN] = "signal 15 (SIGTERM), cause unknown",
        [JOB_END_CANCELLED] = "signal 15 (SIGTERM), job cancelled",
        [JOB_END_TIME_LIMIT] = "signal 15 (SIGTERM), time limit reached",
        [JOB_END_NODE_FAILURE] = "signal 15 (SIGTERM), a node of the job failed",
        [JOB_END_PREEMPTED] = "signal 15 (SIGTERM), job preempted",
        [JOB_END_DEADLINE] = "signal 15 (SIGTERM), job's deadline reached",
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct rank_end end = {
            .of = END_OF_RANK, .status = SIGTERM, .cause = (enum job_end_cause)i};
        char text[RANK_END_TEXT];
        rank_end_text(&end, PHASE_INITIALISED, text);
        cr_expect_str_eq(text, said[i]);
    }
    struct rank_end longest = {.of = END_OF_LAUNCHER,
                               .status = SIGQUIT | 128,
                               .cause = JOB_END_NODE_FAILURE};
    char text[RANK_END_TEXT];
    rank_end_clause(&longest, PHASE_INITIALISED, text);
    cr_expect_str_eq(text, "its launcher ended with signal 3 (SIGQUIT), core dumped, a node of the "
                           "job failed");
}

Test(rank_end, times_of_any_size_are_placed)
{
    struct rank_end end = {.of = END_OF_RANK, .has_rank_clock = true, .monotonic_ns = 50};
    rank_end_place(&end, -20, 7, 10);
    cr_expect_eq(end.ns, 30);
    rank_end_place(&end, -20, 7, 40);
    cr_expect_eq(end.ns, 40, "before the last sign of life");
    end.monotonic_ns = INT64_MAX;
    rank_end_place(&end, 1, 7, 40);
    cr_expect_eq(end.ns, 40);
    end = (struct rank_end){.of = END_OF_RANK, .realtime_ns = 50};
    rank_end_place(&end, -20, 7, 10);
    cr_expect_eq(end.ns, 43);
    end = (struct rank_end){.of = END_UNSEEN, .ns = -1};
    rank_end_place(&end, -20, 7, 10);
    cr_expect_eq(end.ns, -1);
}

/* --- ranks of one text ---------------------------------------------------------------------------
 */

Test(rank_groups, ranks_are_runs_and_texts_stay_apart)
{
    struct rank_groups groups = {.count = 0};
    char text[RANK_GROUPS_SENTENCE];
    rank_groups_print(&groups, text);
    cr_expect_str_empty(text);
    for (uint32_t rank = 0; rank < 12; rank++)
        rank_groups_add(&groups, rank, rank == 5 || rank == 7 ? "b" : rank == 9 ? "c" : "a");
    rank_groups_print(&groups, text);
    cr_expect_str_eq(text, "ranks 0-4,6,8,10-11: a; ranks 5,7: b; rank 9: c");
    rank_groups_print(&groups, text);
    cr_expect_str_eq(text, "ranks 0-4,6,8,10-11: a; ranks 5,7: b; rank 9: c");
}

Test(rank_groups, many_runs_and_many_texts_are_cut)
{
    struct rank_groups groups = {.count = 0};
    char text[RANK_GROUPS_SENTENCE], words[RANK_GROUP_TEXT + 50];
    for (uint32_t rank = 4000000000; rank < 4000000100; rank += 2)
        rank_groups_add(&groups, rank, "a");
    rank_groups_print(&groups, text);
    cr_expect_str_eq(text, "ranks 4000000000,4000000002,4000000004,4000000006,4000000008,"
                           "4000000010,4000000012,...: a");
    groups = (struct rank_groups){.count = 0};
    for (uint32_t rank = 0; rank < 2 * RANK_GROUPS_MAX; rank++) {
        memset(words, 'a' + (int)rank, sizeof words - 1);
        words[sizeof words - 1] = '\0';
        rank_groups_add(&groups, rank, words);
        rank_groups_add(&groups, rank + 1000, words);
    }
    rank_groups_print(&groups, text);
    cr_expect_lt(strlen(text), sizeof text - 1);
    cr_expect(strstr(text, "; 32 others"), "%s", text);
}
