/* SPDX-License-Identifier: BSD-3-Clause */
/* The job record comes back as it was written, and a damaged or hostile one is refused. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/job_record.h"

static char directory[] = "/tmp/job-record-XXXXXX";
static int dirfd_ = -1;
static struct error err;
static struct job_record record;

static void make_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    dirfd_ = open(directory, O_RDONLY | O_DIRECTORY);
    cr_assert_geq(dirfd_, 0);
}

static void remove_directory(void)
{
    unlinkat(dirfd_, JOB_RECORD_NAME, 0);
    unlinkat(dirfd_, "target", 0);
    close(dirfd_);
    rmdir(directory);
}

static void put(const char *data, size_t size)
{
    int fd = openat(dirfd_, JOB_RECORD_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, data, size), (ssize_t)size);
    close(fd);
}

static void refuses(const char *data, size_t size, const char *message)
{
    put(data, size);
    err.text[0] = '\0';
    cr_expect_eq(job_record_read(&record, dirfd_, &err), -1, "taken: %s", message);
    cr_expect(strstr(err.text, message) != NULL, "got: %s, not: %s", err.text, message);
    cr_expect_null(record.text);
}

#define REFUSES(data, message) refuses(data, sizeof(data) - 1, message)

static size_t file_count(void)
{
    size_t count = 0;
    DIR *list = opendir(directory);
    for (struct dirent *entry; (entry = readdir(list));)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(list);
    return count;
}

TestSuite(job_record, .init = make_directory, .fini = remove_directory);

Test(job_record, values_come_back_byte_for_byte)
{
    static char buffer[4096], all[256];
    for (int i = 1; i < 256; i++)
        all[i - 1] = (char)i;
    struct job_record_text text = {.buffer = buffer, .size = sizeof buffer};
    job_record_begin(&text);
    job_record_add(&text, "command", "./app a=b 100%\n");
    job_record_add(&text, "bytes", all);
    job_record_add(&text, "empty", "");
    job_record_add(&text, "absent", NULL);
    cr_assert_eq(text.skipped, 0);
    cr_assert_eq(job_record_publish(&text, dirfd_, &err), 0, "%s", err.text);
    cr_assert_eq(job_record_read(&record, dirfd_, &err), 0, "%s", err.text);
    cr_expect_eq(record.count, 3);
    cr_expect_str_eq(job_record_get(&record, "command"), "./app a=b 100%\n");
    cr_expect_str_eq(job_record_get(&record, "bytes"), all);
    cr_expect_str_eq(job_record_get(&record, "empty"), "");
    cr_expect_null(job_record_get(&record, "absent"));
    job_record_release(&record);
    cr_expect_eq(file_count(), 1);
}

Test(job_record, the_first_one_stays)
{
    char buffer[128];
    struct job_record_text text = {.buffer = buffer, .size = sizeof buffer};
    for (int i = 0; i < 2; i++) {
        job_record_begin(&text);
        job_record_add(&text, "who", i == 0 ? "first" : "second");
        cr_assert_eq(job_record_publish(&text, dirfd_, &err), 0, "%s", err.text);
    }
    cr_assert_eq(job_record_read(&record, dirfd_, &err), 0);
    cr_expect_str_eq(job_record_get(&record, "who"), "first");
    job_record_release(&record);
    cr_expect_eq(file_count(), 1);
}

Test(job_record, a_dangling_link_of_that_name_is_left_alone)
{
    char buffer[128];
    struct job_record_text text = {.buffer = buffer, .size = sizeof buffer};
    cr_assert_eq(symlinkat("target", dirfd_, JOB_RECORD_NAME), 0);
    job_record_begin(&text);
    cr_assert_eq(job_record_publish(&text, dirfd_, &err), 0, "%s", err.text);
    cr_expect_neq(faccessat(dirfd_, "target", F_OK, 0), 0);
    cr_expect_eq(job_record_read(&record, dirfd_, &err), -1);
    cr_expect_str_eq(err.text, "job: is a symbolic link, which is not followed");
}

Test(job_record, what_does_not_fit_is_counted_and_the_rest_is_whole)
{
    char buffer[40];
    struct job_record_text text = {.buffer = buffer, .size = sizeof buffer};
    job_record_begin(&text);
    job_record_add(&text, "long", "0123456789012345678901234567890123456789");
    job_record_add(&text, "a", "b");
    job_record_add(&text, "a", "again");
    job_record_add(&text, "no key", "x");
    job_record_add(&text, "9", "x");
    cr_expect_eq(text.skipped, 4);
    cr_assert_eq(job_record_publish(&text, dirfd_, &err), 0, "%s", err.text);
    cr_assert_eq(job_record_read(&record, dirfd_, &err), 0, "%s", err.text);
    cr_expect_eq(record.count, 1);
    cr_expect_str_eq(job_record_get(&record, "a"), "b");
    job_record_release(&record);
}

Test(job_record, no_room_at_all_is_an_error)
{
    char buffer[4];
    struct job_record_text text = {.buffer = buffer, .size = sizeof buffer};
    job_record_begin(&text);
    job_record_add(&text, "a", "b");
    cr_expect_eq(text.skipped, 1);
    cr_expect_eq(job_record_publish(&text, dirfd_, &err), -1);
    cr_expect_eq(file_count(), 0);
}

Test(job_record, the_writer_keeps_to_the_readers_limits)
{
    static char buffer[JOB_RECORD_MAX + 4096], value[JOB_RECORD_MAX];
    struct job_record_text text = {.buffer = buffer, .size = sizeof buffer};
    job_record_begin(&text);
    for (int i = 0; i < JOB_RECORD_KEYS_MAX + 3; i++) {
        char key[16];
        snprintf(key, sizeof key, "K%d", i);
        job_record_add(&text, key, "v");
    }
    cr_expect_eq(text.skipped, 3);
    cr_assert_eq(job_record_publish(&text, dirfd_, &err), 0);
    cr_assert_eq(job_record_read(&record, dirfd_, &err), 0, "%s", err.text);
    cr_expect_eq(record.count, JOB_RECORD_KEYS_MAX);
    job_record_release(&record);

    memset(value, 'x', sizeof value - 1);
    job_record_begin(&text);
    job_record_add(&text, "big", value);
    cr_expect_eq(text.skipped, 1);
}

Test(job_record, damaged_text_is_refused_with_its_line)
{
    REFUSES("", "is no job record of version 1");
    REFUSES("scope-profile-job 1", "is no job record of version 1");
    REFUSES("scope-profile-job 2\na=b\n", "is no job record of version 1");
    REFUSES("scope-profile-job 1\na=b\nc=d", "line 3 is cut off");
    REFUSES("scope-profile-job 1\nab\n", "line 2 is no KEY=VALUE");
    REFUSES("scope-profile-job 1\n=b\n", "line 2 is no KEY=VALUE");
    REFUSES("scope-profile-job 1\n1a=b\n", "line 2 is no KEY=VALUE");
    REFUSES("scope-profile-job 1\na b=c\n", "line 2 is no KEY=VALUE");
    REFUSES("scope-profile-job 1\na=b\n\n", "line 3 is no KEY=VALUE");
    REFUSES("scope-profile-job 1\na=b\na=c\n", "line 3: a is there twice");
    REFUSES("scope-profile-job 1\na=%\n", "not well encoded");
    REFUSES("scope-profile-job 1\na=%4\n", "not well encoded");
    REFUSES("scope-profile-job 1\na=%4g\n", "not well encoded");
    REFUSES("scope-profile-job 1\na=%00\n", "not well encoded");
    REFUSES("scope-profile-job 1\na=\001\n", "not well encoded");
    REFUSES("scope-profile-job 1\na=b\0c\n", "cut off");
    REFUSES("scope-profile-job 1\n"
            "A2345678901234567890123456789012345678901234567890123456789012345=x\n",
            "line 2 is no KEY=VALUE");
}

Test(job_record, size_and_number_of_keys_are_bounded)
{
    static char text[JOB_RECORD_MAX + 1];
    memset(text, 'x', sizeof text);
    refuses(text, sizeof text, "is longer than 262144 bytes");
    size_t length = (size_t)sprintf(text, "scope-profile-job 1\n");
    for (int i = 0; i <= JOB_RECORD_KEYS_MAX; i++)
        length += (size_t)sprintf(text + length, "K%d=\n", i);
    refuses(text, length, "more than 512 keys");
}

Test(job_record, only_a_regular_file_is_read)
{
    cr_expect_eq(job_record_read(&record, dirfd_, &err), -1);
    cr_expect(strstr(err.text, "job: cannot be opened") == err.text, "%s", err.text);
    cr_assert_eq(mkfifoat(dirfd_, JOB_RECORD_NAME, 0644), 0);
    cr_expect_eq(job_record_read(&record, dirfd_, &err), -1);
    cr_expect_str_eq(err.text, "job: is no regular file");
}
