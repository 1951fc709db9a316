/* SPDX-License-Identifier: BSD-3-Clause */
/* Why Slurm ended a job comes back as it was written, and nothing else is taken for it. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/job_end.h"

static char directory[] = "/tmp/job-end-XXXXXX";
static int dirfd_ = -1;
static struct error err;
static struct job_end end;

static void make_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    dirfd_ = open(directory, O_RDONLY | O_DIRECTORY);
    cr_assert_geq(dirfd_, 0);
}

static void remove_directory(void)
{
    unlinkat(dirfd_, JOB_END_NAME, 0);
    unlinkat(dirfd_, "target", 0);
    close(dirfd_);
    rmdir(directory);
}

static void refuses(const char *text, size_t size)
{
    int fd = openat(dirfd_, JOB_END_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    cr_assert_eq(write(fd, text, size), (ssize_t)size);
    close(fd);
    cr_expect_eq(job_end_read(dirfd_, &end, &err), -1, "taken: %s", text);
    cr_expect_str_eq(err.text, "job-end: does not tell why the job ended");
    cr_expect_eq(end.cause, JOB_END_UNKNOWN);
}

#define REFUSES(text) refuses(text, sizeof(text) - 1)

TestSuite(job_end, .init = make_directory, .fini = remove_directory);

Test(job_end, every_cause_comes_back)
{
    cr_assert_eq(job_end_read(dirfd_, &end, &err), 0);
    cr_expect_eq(end.cause, JOB_END_UNKNOWN);
    for (int cause = JOB_END_CANCELLED; cause <= JOB_END_DEADLINE; cause++) {
        struct job_end written = {(enum job_end_cause)cause, INT64_MIN + cause};
        cr_assert_eq(job_end_write(dirfd_, &written), 0);
        cr_assert_eq(job_end_read(dirfd_, &end, &err), 0, "%s", err.text);
        cr_expect_eq(end.cause, written.cause);
        cr_expect_eq(end.realtime_ns, written.realtime_ns);
        unlinkat(dirfd_, JOB_END_NAME, 0);
    }
}

Test(job_end, what_is_there_stays)
{
    struct job_end first = {JOB_END_CANCELLED, 1}, second = {JOB_END_DEADLINE, 2};
    cr_assert_eq(job_end_write(dirfd_, &first), 0);
    cr_expect_eq(job_end_write(dirfd_, &second), -1);
    cr_expect_eq(errno, EEXIST);
    cr_assert_eq(job_end_read(dirfd_, &end, &err), 0);
    cr_expect_eq(end.cause, JOB_END_CANCELLED);
}

Test(job_end, other_text_is_refused)
{
    REFUSES("");
    REFUSES("job-end=1 cause=cancelled realtime=5");
    REFUSES("job-end=2 cause=cancelled realtime=5\n");
    REFUSES("job-end=1 cause=bored realtime=5\n");
    REFUSES("job-end=1 cause= realtime=5\n");
    REFUSES("job-end=1 cause=cancelled realtime=\n");
    REFUSES("job-end=1 cause=cancelled realtime=+5\n");
    REFUSES("job-end=1 cause=cancelled realtime=99999999999999999999\n");
    REFUSES("job-end=1 cause=cancelled realtime=5\n\n");
    REFUSES("job-end=1 cause=cancelled realtime=5\n\0");
    REFUSES("job-end=1 cause=cancelled realtime=0000000000000000000000000000000000000000000000000"
            "000000000000000000000000000000000000000000000000000000000000000000000000000000005\n");
}

Test(job_end, only_a_regular_file_is_read)
{
    cr_assert_eq(symlinkat("target", dirfd_, JOB_END_NAME), 0);
    cr_expect_eq(job_end_read(dirfd_, &end, &err), -1);
    cr_expect_str_eq(err.text, "job-end: is a symbolic link, which is not followed");
    end.cause = JOB_END_CANCELLED;
    cr_expect_eq(job_end_write(dirfd_, &end), -1);
    cr_expect_neq(faccessat(dirfd_, "target", F_OK, 0), 0);
    unlinkat(dirfd_, JOB_END_NAME, 0);
    cr_assert_eq(mkfifoat(dirfd_, JOB_END_NAME, 0644), 0);
    cr_expect_eq(job_end_read(dirfd_, &end, &err), -1);
    cr_expect_str_eq(err.text, "job-end: is no regular file");
}
