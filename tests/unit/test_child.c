/* SPDX-License-Identifier: BSD-3-Clause */
/* sp-run ends as its command ended. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch/child.h"

static const struct child_variable none[] = {{NULL, NULL}};

static struct child_end end;

static int run(const char *script)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
    return child_run(argv, none, &end);
}

Test(child, exit_status_is_the_commands)
{
    cr_expect_eq(run("exit 0"), 0);
    cr_expect_eq(run("exit 3"), 3);
    cr_expect_eq(run("exit 255"), 255);
    cr_expect_eq(run("kill -SEGV $$"), 128 + SIGSEGV);
    cr_expect_eq(run("kill -KILL $$"), 128 + SIGKILL);
}

Test(child, its_wait_status_is_kept)
{
    run("exit 3");
    cr_expect_eq(end.status, 3 << 8);
    run("kill -KILL $$");
    cr_expect_eq(end.status, SIGKILL);
    run("exit $(($$ % 200))");
    cr_expect_eq(end.status >> 8, end.pid % 200);
}

Test(child, what_cannot_run_is_told_apart)
{
    char *gone[] = {(char *)"/nowhere/app", NULL}, *data[] = {(char *)"/etc/passwd", NULL};
    cr_expect_eq(child_run(gone, none, NULL), 127);
    cr_expect_eq(child_run(data, none, NULL), 126);
}

Test(child, environment_is_changed_for_the_child_alone)
{
    const struct child_variable variables[] = {{"SP_A", "1"}, {"SP_B", NULL}, {NULL, NULL}};
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"test \"$SP_A$SP_B\" = 1kept", NULL};
    setenv("SP_B", "kept", 1);
    cr_expect_eq(child_run(argv, variables, NULL), 0);
    cr_expect_null(getenv("SP_A"));
}

Test(child, a_signal_is_passed_on)
{
    signal(SIGINT, SIG_DFL); /* a shell ignores it for what it starts in the background */
    /* The shell signals its parent, which is us, and gets the signal back. */
    cr_expect_eq(run("trap 'exit 5' TERM; kill -TERM $PPID; while :; do sleep 0.01; done"), 5);
    cr_expect_eq(run("kill -INT $PPID; while :; do sleep 0.01; done"), 128 + SIGINT);
}

Test(child, signals_of_the_child_are_as_ours_were)
{
    sigset_t now;
    signal(SIGCHLD, SIG_IGN);
    cr_expect_eq(run("kill -TERM $$; exit 1"), 128 + SIGTERM);
    sigprocmask(SIG_BLOCK, NULL, &now);
    cr_expect_not(sigismember(&now, SIGTERM));
}
