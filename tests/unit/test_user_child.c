/* SPDX-License-Identifier: BSD-3-Clause */
/* The child that has the ids of a user: what it has, what it says, and that it ends. */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "merge/user_child.h"

enum { NOBODY = 65534, GROUP = 4711, ENOUGH_MS = 60000, SHORT_MS = 100 };

extern char **environ;

static const gid_t groups[] = {NOBODY, GROUP};
static struct user_child child;

/* Of an ordinary user: nobody where we are root, else us. */
static struct user_ids ids(void)
{
    return getuid() == 0 ? (struct user_ids){NOBODY, NOBODY, groups, 2}
                         : (struct user_ids){getuid(), getgid(), NULL, 0};
}

static int run(int (*work)(const void *data), int limit_ms)
{
    struct user_ids of = ids();
    cr_assert_eq(user_child_start(&child, &of, work, NULL), 0);
    return user_child_wait(&child, user_child_now() + limit_ms);
}

static int have_ids(const void *data)
{
    uid_t user[3];
    gid_t group[3], have[8];
    struct user_ids of = ids();
    (void)data;
    getresuid(&user[0], &user[1], &user[2]);
    getresgid(&group[0], &group[1], &group[2]);
    for (int i = 0; i < 3; i++) {
        if (user[i] != of.user || group[i] != of.group)
            return 1;
    }
    return of.group_count && (getgroups(8, have) != 2 || have[0] + have[1] != NOBODY + GROUP);
}

Test(user_child, it_has_the_ids_for_good)
{
    cr_expect_eq(run(have_ids, ENOUGH_MS), 0);
}

static int have_environment(const void *data)
{
    char directory[16];
    struct rlimit core;
    (void)data;
    for (char **variable = environ; *variable; variable++) {
        if (strcmp(*variable, "PATH=/usr/bin:/bin") != 0 && strcmp(*variable, "HOME=/") != 0)
            return 1;
    }
    return !getenv("PATH") || !getenv("HOME") || !getcwd(directory, sizeof directory) ||
           strcmp(directory, "/") != 0 || prctl(PR_GET_DUMPABLE) != 0 ||
           getrlimit(RLIMIT_CORE, &core) < 0 || core.rlim_max != 0 ||
           getpriority(PRIO_PROCESS, 0) < 10;
}

Test(user_child, it_has_nothing_of_the_environment)
{
    setenv("LD_PRELOAD", "/tmp/evil.so", 1);
    setenv("PATH", "/tmp", 1);
    cr_expect_eq(run(have_environment, ENOUGH_MS), 0);
}

static int have_descriptors(const void *data)
{
    (void)data;
    for (int fd = 3; fd < 1024; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            return 1;
    }
    return write(STDOUT_FILENO, "x", 1) != 1 || read(STDIN_FILENO, &(char){0}, 1) != 0;
}

Test(user_child, it_has_no_descriptor_but_its_own)
{
    cr_assert_geq(open("/etc/passwd", O_RDONLY), 0);
    cr_assert_geq(dup2(0, 1000), 0);
    cr_expect_eq(run(have_descriptors, ENOUGH_MS), 0);
    cr_expect_str_empty(child.text);
}

/* On a kernel without close_range(2); closing a descriptor from limit on ends the process. */
static void forget_close_range(uint32_t limit)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, limit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

Test(user_child, without_close_range_it_does_not_go_through_a_huge_limit)
{
    enum { FIRST_TOO_MANY = 16384 };
    struct rlimit limit = {FIRST_TOO_MANY + 1, FIRST_TOO_MANY + 1};
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        cr_skip_test("the limit of descriptors is low, and cannot be raised");
    cr_assert_geq(open("/etc/passwd", O_RDONLY), 0);
    cr_assert_geq(dup2(0, 1000), 0);
    forget_close_range(FIRST_TOO_MANY);
    cr_expect_eq(run(have_descriptors, ENOUGH_MS), 0);
}

static int have_signals(const void *data)
{
    sigset_t blocked;
    struct sigaction action;
    (void)data;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    sigaction(SIGTERM, NULL, &action);
    return sigismember(&blocked, SIGTERM) || action.sa_handler != SIG_DFL;
}

Test(user_child, signals_reach_it)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    signal(SIGTERM, SIG_IGN);
    cr_expect_eq(run(have_signals, ENOUGH_MS), 0);
}

static int speak(const void *data)
{
    static char text[3 * USER_CHILD_TEXT];
    (void)data;
    memset(text, 'a', sizeof text);
    text[1] = '\0';
    for (int i = 0; i < 20; i++) { /* more than a pipe holds */
        if (write(STDERR_FILENO, text, sizeof text) < 0)
            return 1;
    }
    return 7;
}

Test(user_child, what_it_says_is_kept_as_far_as_there_is_room)
{
    cr_expect_eq(run(speak, ENOUGH_MS), 7);
    cr_expect_eq(strlen(child.text), USER_CHILD_TEXT - 1);
    cr_expect_eq(strncmp(child.text, "a?aa", 4), 0);
}

static int hang(const void *data)
{
    (void)data;
    signal(SIGTERM, SIG_IGN);
    dprintf(STDERR_FILENO, "hangs");
    while (pause() < 0)
        continue;
    return 0;
}

Test(user_child, one_that_hangs_is_ended)
{
    cr_expect_eq(run(hang, SHORT_MS), -1);
    cr_expect_str_eq(child.text, "hangs");
    cr_expect_eq(kill(child.pid, 0), -1, "it is still there");
}

static int stop(const void *data)
{
    (void)data;
    return raise(SIGSTOP);
}

Test(user_child, so_is_one_that_is_stopped)
{
    cr_expect_eq(run(stop, SHORT_MS), -1);
}

static int clean_up(const void *data)
{
    sigset_t term;
    int number;
    (void)data;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    sigwait(&term, &number);
    dprintf(STDERR_FILENO, "cleaned");
    return 0;
}

Test(user_child, it_may_clean_up_when_its_time_is_over)
{
    cr_expect_eq(run(clean_up, SHORT_MS), -1);
    cr_expect_str_eq(child.text, "cleaned");
}

static int die(const void *data)
{
    (void)data;
    return raise(SIGKILL);
}

Test(user_child, one_that_is_killed_is_no_success)
{
    cr_expect_eq(run(die, ENOUGH_MS), -1);
}
