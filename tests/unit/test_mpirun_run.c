/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of one world come to one run directory, of several worlds to several, however they race. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/mpirun_run.h"

enum { WORLDS = 3, RANKS = 8 };

static char directory[] = "/tmp/mpirun-run-XXXXXX";
static int dirfd_ = -1;
static struct error err;
static char name[NAME_MAX + 1];

static void make_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    dirfd_ = open(directory, O_RDONLY | O_DIRECTORY);
    cr_assert_geq(dirfd_, 0);
}

static void remove_directory(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    close(dirfd_);
    cr_assert_eq(system(command), 0);
}

static void finds(const char *world, int restart, const char *expected)
{
    cr_assert_eq(mpirun_run_find(dirfd_, "run", world, restart, name, sizeof name, &err), 0, "%s",
                 err.text);
    cr_expect_str_eq(name, expected);
}

TestSuite(mpirun_run, .init = make_directory, .fini = remove_directory);

Test(mpirun_run, worlds_have_numbers_in_order)
{
    finds("a", 0, "run-1");
    finds("b", 0, "run-2");
    finds("a", -1, "run-1");
    finds("b", 0, "run-2");
    finds("a", 2, "run-1-r2");
}

Test(mpirun_run, what_is_there_keeps_its_name)
{
    cr_assert_eq(symlinkat(".", dirfd_, "run-1"), 0);
    cr_assert_eq(close(openat(dirfd_, "run-2", O_CREAT | O_WRONLY, 0644)), 0);
    cr_assert_eq(close(openat(dirfd_, "run-3.h5", O_CREAT | O_WRONLY, 0644)), 0);
    cr_assert_eq(mkdirat(dirfd_, "run-4", 0755), 0);
    finds("a", 0, "run-5");
}

Test(mpirun_run, no_directory_is_an_error)
{
    unlinkat(AT_FDCWD, directory, AT_REMOVEDIR);
    cr_expect_eq(mpirun_run_find(dirfd_, "run", "a", 0, name, sizeof name, &err), -1);
    cr_expect_str_eq(err.text, "cannot make the directory run-1: No such file or directory");
    cr_assert_eq(mkdir(directory, 0755), 0);
}

static _Noreturn void be_rank(int start, int world)
{
    char world_name[] = "world-N", told[NAME_MAX + 32];
    world_name[6] = (char)('0' + world);
    char byte;
    if (read(start, &byte, 1) != 0 ||
        mpirun_run_find(dirfd_, "run", world_name, 0, name, sizeof name, NULL) < 0)
        _exit(1);
    snprintf(told, sizeof told, "%s/%s-0/%ld", name, world_name, (long)getpid());
    _exit(mkdirat(dirfd_, told, 0755) < 0);
}

static int count(const char *path)
{
    int entries = 0;
    int fd = openat(dirfd_, path, O_RDONLY | O_DIRECTORY);
    DIR *list = fdopendir(fd);
    cr_assert_not_null(list);
    for (struct dirent *entry; (entry = readdir(list));)
        entries += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(list);
    return entries;
}

Test(mpirun_run, ranks_that_race_agree)
{
    int start[2], status;
    cr_assert_eq(pipe(start), 0);
    for (int rank = 0; rank < WORLDS * RANKS; rank++) {
        pid_t child = fork();
        cr_assert_geq(child, 0);
        if (child == 0) {
            close(start[1]);
            be_rank(start[0], rank % WORLDS);
        }
    }
    close(start[1]); /* all at once */
    for (int rank = 0; rank < WORLDS * RANKS; rank++) {
        cr_assert_gt(wait(&status), 0);
        cr_expect_eq(status, 0);
    }
    cr_expect_eq(count("."), WORLDS, "something is left, or a world has two runs");
    for (int world = 0; world < WORLDS; world++) {
        char world_name[] = "world-N", path[NAME_MAX + 32];
        world_name[6] = (char)('0' + world);
        cr_assert_eq(mpirun_run_find(dirfd_, "run", world_name, 0, name, sizeof name, &err), 0);
        snprintf(path, sizeof path, "%s/%s-0", name, world_name);
        cr_expect_eq(count(path), RANKS, "not all ranks of %s are in %s", world_name, name);
    }
}
