/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a rank's counters, and the CPUs it has them on. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "merge/likwid_record.h"
#include "spank/likwid_formulas.h"
#include "spank/task_cpus.h"
#include "spank/tool_output.h"

static struct likwid_record record;
static struct error err;

static void parse(const char *text)
{
    likwid_record_release(&record);
    cr_assert_eq(likwid_record_parse(&record, text, strlen(text), &err), 0, "%s", err.text);
}

Test(likwid_record, all_of_it)
{
    parse("scope-profile-likwid 1\nlibrary=/lib/liblikwid.so.5.2\nprocessor=AMD EPYC\n"
          "type=23/49/0\nclock=2000000000\nconstant=num_sockets 2\nsocket=7 1\nsocket=x 1\n"
          "socket=8\nsocket=9 1x\ngroup=CLOCK\nevent=FIXC1 ACTUAL_CPU_CLOCK\n"
          "event=PMC0 A B\nmetric=CPI\nmetric=Clock [MHz]\nformula=PMC0/time\ngroup=MEM\n"
          "event=DFC0 DRAM\nend=1\nLIKWID_MODE=1\n"
          "LIKWID_EVENTS=a=b\n");
    cr_expect_null(record.reason);
    cr_expect_str_eq(record.processor, "AMD EPYC");
    cr_expect_str_eq(record.clock, "2000000000");
    cr_expect_str_eq(record.type, "23/49/0");
    cr_expect_eq(record.cpu_count, 1);
    cr_expect_eq(likwid_record_socket(&record, 7), 1);
    cr_expect_eq(likwid_record_socket(&record, 8), -1);
    cr_expect_str_eq(likwid_record_variable(&record, "LIKWID_EVENTS"), "a=b");
    cr_expect_null(likwid_record_variable(&record, "LIKWID_PIN"));
    cr_assert_eq(record.constant_count, 1);
    cr_expect_str_eq(record.constants[0], "num_sockets");
    cr_expect_str_eq(record.constant_values[0], "2");
    cr_assert_eq(record.group_count, 2);
    cr_expect_str_eq(record.groups[1].name, "MEM");
    cr_expect_eq(record.groups[1].first_event, 2);
    cr_expect_eq(record.groups[1].event_count, 1);
    cr_expect_eq(record.groups[0].metric_count, 2);
    cr_expect_str_eq(record.events[1], "A B");
    cr_expect_str_eq(record.counters[1], "PMC0");
    cr_expect_str_eq(record.metrics[1], "Clock [MHz]");
    cr_expect_null(record.formulas[0]);
    cr_expect_str_eq(record.formulas[1], "PMC0/time");
    cr_assert_eq(record.variable_count, 2);
    cr_expect_str_eq(record.values[1], "a=b");
}

Test(likwid_record, damage)
{
    parse("scope-profile-likwid 1\nevent=A B\nmetric=C\nnonsense\nevent\ngroup=G\nevent=noblank\n"
          "reason=a\033[2J\tb\ncut=of");
    cr_expect_eq(record.event_count, 0, "before a group, or without a counter");
    cr_expect_eq(record.metric_count, 0);
    cr_expect_str_eq(record.reason, "a?[2J?b");
    cr_expect_eq(likwid_record_parse(&record, "scope-profile-likwid 2\n", 23, &err), -1);
    cr_expect_eq(likwid_record_parse(&record, "", 0, &err), -1);
}

Test(task_cpus, they_are_told_one_by_one)
{
    struct task_cpus cpus = {.bits = {[0] = 1UL << 1 | 1UL << 63, [2] = 2}};
    char text[64];
    cr_expect_eq(task_cpus_print(&cpus, text, sizeof text), 0);
    cr_expect_str_eq(text, "1,63,129");
    cr_expect_eq(task_cpus_count(&cpus), 3);
    cr_expect_eq(task_cpus_print(&cpus, text, 8), -1);
    cr_expect_eq(task_cpus_print(&(struct task_cpus){{0}}, text, sizeof text), -1, "none");
    cr_assert_geq(task_cpus_read(&cpus, 0), 0);
    cr_expect_gt(task_cpus_count(&cpus), 0);
}

/* As slurmstepd has them: children of one process, in one group. */
static int ask_beside_a_sibling(bool in_group)
{
    int status;
    pid_t step = fork();
    if (step == 0) {
        setpgid(0, 0);
        pid_t sibling = fork();
        if (sibling == 0) {
            for (;;)
                pause();
        }
        if (!in_group)
            setpgid(sibling, sibling);
        pid_t task = fork();
        if (task == 0) {
            struct task_cpus cpus;
            _exit(task_cpus_read(&cpus, 0) < 0 ? 2 : task_cpus_are_shared(&cpus));
        }
        waitpid(task, &status, 0);
        kill(sibling, SIGKILL);
        waitpid(sibling, NULL, 0);
        _exit(WEXITSTATUS(status));
    }
    waitpid(step, &status, 0);
    return WEXITSTATUS(status);
}

Test(task_cpus, a_task_beside_us_shares_them)
{
    cr_expect_eq(ask_beside_a_sibling(true), 1);
    cr_expect_eq(ask_beside_a_sibling(false), 0, "another child of slurmstepd's is no task");
}

static int run(const char *command, int limit_ms, char *text, size_t size)
{
    const char *const arguments[] = {"/bin/sh", "-c", command, NULL};
    char *environment[] = {(char *)"A=b", NULL};
    return tool_output_read(arguments, environment, limit_ms, text, size, &err);
}

Test(tool_output, what_it_prints_within_bounds)
{
    char text[64];
    cr_expect_eq(run("echo $A; echo x >&2", 60000, text, sizeof text), 0, "%s", err.text);
    cr_expect_str_eq(text, "b\n");
    cr_expect_eq(run("exit 3", 60000, text, sizeof text), -1);
    cr_expect_eq(run("kill -SEGV $$", 60000, text, sizeof text), -1);
    cr_expect_eq(run("exec sleep 1000", 50, text, sizeof text), -1, "it is killed");
    cr_expect_eq(run("exec sleep 1000 >&-", 50, text, sizeof text), -1, "also when it is silent");
    cr_expect_eq(run("while :; do echo 0123456789; done", 60000, text, sizeof text), -1);
    const char *const nothing[] = {"/nowhere/tool", NULL};
    char *none[] = {NULL};
    cr_expect_eq(tool_output_read(nothing, none, 60000, text, sizeof text, &err), -1);
    cr_expect_str_eq(err.text, "/nowhere/tool is not there");
}

/* --- formulas ----------------------------------------------------------------------------------
 */

static char groups[] = "/tmp/test_likwid_groups_XXXXXX";

static void put_group(const char *architecture, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", groups, architecture);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/CLOCK.txt", groups, architecture);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

static void remove_groups(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", groups);
    cr_assert_eq(system(command), 0);
}

#define GROUP                                                                                      \
    "SHORT  Cycles\n\nEVENTSET\nPMC0  INSTRUCTIONS\nPMC1 CYCLES\n\nMETRICS\n"                      \
    "Clock [MHz]   1.E-06*(PMC1/time)\nCPI %s\n\nLONG\nFormulas:\nCPI = x\n"

Test(likwid_formulas, of_the_file_with_the_same_names)
{
    const char *const events[] = {"INSTRUCTIONS", "CYCLES"}, *const counters[] = {"PMC0", "PMC1"};
    const char *const metrics[] = {"Clock [MHz]", "CPI"};
    struct likwid_names names = {"CLOCK", 2, 2, events, counters, metrics};
    char *formulas[LIKWID_FORMULAS_MAX], text[512];
    cr_assert_not_null(mkdtemp(groups));
    cr_expect_eq(likwid_formulas_find(groups, &names, formulas), -1, "none is there");
    snprintf(text, sizeof text, GROUP, "PMC1/PMC0");
    put_group("zen", text);
    put_group("other", "EVENTSET\nPMC0 INSTRUCTIONS\nPMC1 OTHER\nMETRICS\nCPI PMC0\n");
    put_group("cut", "EVENTSET\nPMC0 INSTRUCTIONS\nPMC1 CYCLES\nMETRICS\nClock [MHz] 1\n");
    cr_assert_eq(likwid_formulas_find(groups, &names, formulas), 0);
    cr_expect_str_eq(formulas[0], "1.E-06*(PMC1/time)");
    cr_expect_str_eq(formulas[1], "PMC1/PMC0");
    put_group("zen2", text);
    cr_expect_eq(likwid_formulas_find(groups, &names, formulas), 0, "two say the same");
    snprintf(text, sizeof text, GROUP, "PMC0/PMC1");
    put_group("zen3", text);
    cr_expect_eq(likwid_formulas_find(groups, &names, formulas), -1, "which one is not clear");
    cr_expect_null(formulas[0]);
    remove_groups();
}
