/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces are copied out of a spool once and whole, whoever was stopped at it before. */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/spool_files.h"
#include "schema/trace_container.h"

#define CONTAINER "spool-node1.sptraces"

static char directory[] = "/tmp/spool-files-XXXXXX", run[64], spool[64];

static void put_trace(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/w-0/%s", spool, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, name, strlen(name)), (ssize_t)strlen(name));
    close(fd);
}

static void make_directories(void)
{
    char world[128];
    cr_assert_not_null(mkdtemp(directory));
    snprintf(run, sizeof run, "%s/run", directory);
    snprintf(spool, sizeof spool, "%s/spool", directory);
    snprintf(world, sizeof world, "%s/w-0", spool);
    cr_assert_eq(mkdir(run, 0700) | mkdir(spool, 0700) | mkdir(world, 0700), 0);
    put_trace("rank-000000.sptrace");
    put_trace("rank-000001.sptrace");
}

static void remove_directories(void)
{
    spool_files_remove(run);
    spool_files_remove(spool);
    rmdir(run);
    rmdir(spool);
    rmdir(directory);
}

/* How many traces the container has; -1: it is not complete. */
static int copied(void)
{
    struct trace_container container;
    struct trace_container_trace trace;
    int count = 0, fd = open(run, O_RDONLY | O_DIRECTORY);
    cr_assert_eq(trace_container_open(&container, fd, CONTAINER, NULL), 0);
    while (trace_container_next(&container, &trace) == 1)
        count++;
    trace_container_close(&container);
    close(fd);
    return container.is_complete ? count : -1;
}

static void lose(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/w-0/%s", spool, name);
    cr_assert_eq(unlink(path), 0);
}

static void cut(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/" CONTAINER, run);
    cr_assert_eq(truncate(path, 60), 0);
}

TestSuite(spool_files, .init = make_directories, .fini = remove_directories);

Test(spool_files, what_was_copied_stays_when_the_spool_is_partly_emptied)
{
    cr_assert_eq(spool_files_copy(spool, run, CONTAINER), 0);
    cr_assert_eq(copied(), 2);
    lose("rank-000001.sptrace");
    cr_expect_eq(spool_files_copy(spool, run, CONTAINER), 0);
    cr_expect_eq(copied(), 2);
    cr_assert_eq(spool_files_remove(spool), 0);
    cr_expect_eq(spool_files_copy(spool, run, CONTAINER), 0);
    cr_expect_eq(copied(), 2);
}

Test(spool_files, a_copy_that_was_stopped_is_made_anew)
{
    cr_assert_eq(spool_files_copy(spool, run, CONTAINER), 0);
    cut();
    cr_assert_eq(copied(), -1);
    cr_expect_eq(spool_files_copy(spool, run, CONTAINER), 0);
    cr_expect_eq(copied(), 2);
}

static void give(const char *name, uid_t owner)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    cr_assert_eq(chown(path, owner, (gid_t)-1), 0);
}

Test(spool_files, what_cannot_be_opened_is_missed)
{
    enum { NOBODY = 65534 };
    char path[128];
    uid_t self = geteuid();
    snprintf(path, sizeof path, "%s/w-0/rank-000001.sptrace", spool);
    cr_assert_eq(chmod(path, 0), 0);
    if (self == 0) { /* who may open anything */
        give("", NOBODY);
        give("run", NOBODY);
        give("spool", NOBODY);
        give("spool/w-0", NOBODY);
        give("spool/w-0/rank-000001.sptrace", NOBODY);
        cr_assert_eq(seteuid(NOBODY), 0);
    }
    int status = spool_files_copy(spool, run, CONTAINER);
    cr_assert_eq(seteuid(self), 0);
    cr_expect_eq(status, 0);
    cr_expect_eq(copied(), -1, "the container is not complete");
}
