/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry: who may have it, what it holds, and that it does not grow for ever. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/registry.h"

static char parent[] = "/tmp/registry-XXXXXX";
static char directory[64], other[64];
static struct step_record record = {.nodes = 1, .run = "/run"};
static struct error err;

static void make(void)
{
    cr_assert_not_null(mkdtemp(parent));
    snprintf(directory, sizeof directory, "%s/registry", parent);
    snprintf(other, sizeof other, "%s/other", parent);
}

static void take_away(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", parent);
    cr_expect_eq(system(command), 0);
}

TestSuite(registry, .init = make, .fini = take_away);

static int opened(void)
{
    int registry = registry_open(directory, true, &err);
    cr_assert_geq(registry, 0, "%s", err.text);
    return registry;
}

static void add(int registry, uint32_t job, uint32_t step)
{
    record.job = job;
    record.step = step;
    cr_assert_eq(registry_add(registry, &record, &err), 0, "%s", err.text);
}

static int count(int registry, uint32_t job)
{
    uint32_t steps[2 * REGISTRY_JOB_MAX];
    return registry_list(registry, job, steps, 2 * REGISTRY_JOB_MAX);
}

static void write_entry(int registry, const char *name, const char *text, mode_t mode)
{
    int fd = openat(registry, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    cr_assert_eq(fchmod(fd, mode), 0);
    close(fd);
}

/* --- the directory -------------------------------------------------------------------------------
 */

Test(registry, it_is_made_for_its_owner_alone)
{
    struct stat info;
    cr_expect_eq(registry_open(directory, false, &err), -1);
    cr_expect_eq(errno, ENOENT);
    opened();
    cr_assert_eq(stat(directory, &info), 0);
    cr_expect_eq(info.st_mode & 0777, 0700);
    opened();
}

Test(registry, a_link_is_not_followed)
{
    cr_assert_eq(mkdir(other, 0700), 0);
    cr_assert_eq(symlink(other, directory), 0);
    cr_expect_eq(registry_open(directory, true, &err), -1);
}

Test(registry, a_directory_that_others_may_write_to_is_refused)
{
    cr_assert_eq(mkdir(directory, 0700), 0);
    cr_assert_eq(chmod(directory, 0770), 0);
    cr_expect_eq(registry_open(directory, true, &err), -1);
    cr_assert_eq(chmod(directory, 0702), 0);
    cr_expect_eq(registry_open(directory, true, &err), -1);
    cr_assert_eq(chmod(directory, 0755), 0);
    cr_expect_geq(registry_open(directory, true, &err), 0);
}

Test(registry, a_directory_of_somebody_else_is_refused)
{
    if (getuid() != 0)
        cr_skip_test("only root can give a directory away");
    cr_assert_eq(mkdir(directory, 0755), 0);
    cr_assert_eq(chown(directory, 65534, 65534), 0);
    cr_expect_eq(registry_open(directory, true, &err), -1);
}

/* --- entries -------------------------------------------------------------------------------------
 */

Test(registry, the_steps_of_a_job_are_told_in_order)
{
    struct step_record read;
    uint32_t steps[4];
    int registry = opened();
    add(registry, 17, 10);
    add(registry, 17, 9);
    add(registry, 170, 0);
    cr_assert_eq(registry_list(registry, 17, steps, 4), 2);
    cr_expect_eq(steps[0], 9);
    cr_expect_eq(steps[1], 10);
    cr_assert_eq(registry_read(registry, 17, 9, &read, &err), 0, "%s", err.text);
    cr_expect_eq(read.step, 9);
    registry_remove(registry, 17, 9);
    cr_expect_eq(count(registry, 17), 1);
    cr_expect_eq(registry_read(registry, 17, 9, &read, &err), -1);
}

Test(registry, an_entry_takes_the_place_of_one_of_the_same_step)
{
    struct step_record read;
    int registry = opened();
    record.nodes = 1;
    add(registry, 17, 0);
    record.nodes = 2;
    add(registry, 17, 0);
    cr_expect_eq(count(registry, 17), 1);
    cr_assert_eq(registry_read(registry, 17, 0, &read, &err), 0);
    cr_expect_eq(read.nodes, 2);
}

Test(registry, names_that_it_does_not_give_are_no_entries)
{
    static const char *const names[] = {"17", "17.", "17.00", " 17.1", "17.-1", "17.1x", ".17.1-5",
                                        "4294967313.1"};
    int registry = opened();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        write_entry(registry, names[i], "", 0600);
    cr_expect_eq(count(registry, 17), 0);
}

Test(registry, an_entry_under_the_name_of_another_step_is_refused)
{
    struct step_record read;
    int registry = opened();
    add(registry, 17, 0);
    cr_assert_eq(renameat(registry, "17.0", registry, "18.0"), 0);
    cr_expect_eq(registry_read(registry, 18, 0, &read, &err), -1);
    cr_expect_str_eq(err.text, "18.0: is of another step");
}

Test(registry, an_entry_that_is_no_file_of_its_owner_alone_is_refused)
{
    struct step_record read;
    char text[STEP_RECORD_MAX + 1];
    int registry = opened();
    add(registry, 17, 0);
    cr_assert_eq(symlinkat("17.0", registry, "18.0"), 0);
    cr_expect_eq(registry_read(registry, 18, 0, &read, &err), -1);
    cr_assert_eq(fchmodat(registry, "17.0", 0620, 0), 0);
    cr_expect_eq(registry_read(registry, 17, 0, &read, &err), -1);
    cr_expect_str_eq(err.text, "17.0: is not root's alone");
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    write_entry(registry, "19.0", text, 0600);
    cr_expect_eq(registry_read(registry, 19, 0, &read, &err), -1);
    cr_expect_str_eq(err.text, "19.0: is too long");
    cr_assert_eq(mkdirat(registry, "20.0", 0700), 0);
    cr_expect_eq(registry_read(registry, 20, 0, &read, &err), -1);
}

/* --- limits --------------------------------------------------------------------------------------
 */

static void make_old(int registry, const char *name)
{
    const struct timespec then[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    cr_assert_eq(utimensat(registry, name, then, 0), 0);
}

Test(registry, of_too_many_steps_of_a_job_the_oldest_goes)
{
    int registry = opened();
    add(registry, 18, 0);
    make_old(registry, "18.0");
    for (uint32_t step = 0; step < REGISTRY_JOB_MAX; step++)
        add(registry, 17, step);
    make_old(registry, "17.5");
    add(registry, 17, REGISTRY_JOB_MAX);
    cr_expect_eq(count(registry, 17), REGISTRY_JOB_MAX);
    cr_expect_eq(faccessat(registry, "17.5", F_OK, 0), -1);
    cr_expect_eq(count(registry, 18), 1, "another job's entry went");
}

Test(registry, of_too_many_steps_of_a_job_that_of_the_batch_script_stays)
{
    int registry = opened();
    add(registry, 17, 4294967291U);
    make_old(registry, "17.4294967291");
    for (uint32_t step = 0; step <= REGISTRY_JOB_MAX; step++)
        add(registry, 17, step);
    cr_expect_eq(count(registry, 17), REGISTRY_JOB_MAX);
    cr_expect_eq(faccessat(registry, "17.4294967291", F_OK, 0), 0);
}

Test(registry, of_too_many_entries_the_oldest_goes)
{
    int registry = opened();
    for (uint32_t job = 1; job <= REGISTRY_MAX; job++)
        add(registry, job, 0);
    make_old(registry, "300.0");
    add(registry, 1, 1);
    cr_expect_eq(faccessat(registry, "300.0", F_OK, 0), -1);
    cr_expect_eq(count(registry, 1), 2);
}

Test(registry, what_is_stale_goes)
{
    int registry = opened();
    add(registry, 17, 0);
    add(registry, 18, 0);
    write_entry(registry, ".19.0-4711", "", 0600);
    make_old(registry, "17.0");
    make_old(registry, ".19.0-4711");
    registry_clean(registry, 3600);
    cr_expect_eq(count(registry, 17), 0);
    cr_expect_eq(count(registry, 18), 1);
    cr_expect_eq(faccessat(registry, ".19.0-4711", F_OK, 0), -1);
}
