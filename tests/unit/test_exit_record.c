/* SPDX-License-Identifier: BSD-3-Clause */
/* Exit records come back as they were written, and what is none costs itself alone. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "schema/exit_record.h"

enum { KEPT = 1024 };

static char directory[] = "/tmp/exit-record-XXXXXX";
static int dirfd_ = -1;
static struct error err;
static struct exit_record kept[KEPT];
static size_t count;

static void make_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    dirfd_ = open(directory, O_RDONLY | O_DIRECTORY);
    cr_assert_geq(dirfd_, 0);
}

static void remove_directory(void)
{
    unlinkat(dirfd_, "exit-a", 0);
    unlinkat(dirfd_, "exit-a", AT_REMOVEDIR);
    unlinkat(dirfd_, "target", 0);
    close(dirfd_);
    rmdir(directory);
}

static int keep(void *data, const struct exit_record *record)
{
    (void)data;
    if (count == KEPT)
        return -1;
    kept[count++] = *record;
    return 0;
}

static int read_back(void)
{
    count = 0;
    err.text[0] = '\0';
    return exit_record_read(dirfd_, "exit-a", keep, NULL, &err);
}

static int append(const struct exit_record *record)
{
    char line[EXIT_RECORD_LINE_SIZE];
    size_t length = exit_record_print(record, line);
    return exit_record_append(dirfd_, "exit-a", line, length);
}

static void same(const struct exit_record *a, const struct exit_record *b)
{
    cr_expect_eq(a->task, b->task);
    cr_expect_eq(a->local, b->local);
    cr_expect_eq(a->pid, b->pid);
    cr_expect_eq(a->status, b->status);
    cr_expect_eq(a->realtime_ns, b->realtime_ns);
    cr_expect_eq(a->monotonic_ns, b->monotonic_ns);
    cr_expect_str_eq(a->host, b->host);
}

static void put(const char *data, size_t size)
{
    int fd = openat(dirfd_, "exit-a", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, data, size), (ssize_t)size);
    close(fd);
}

#define GOOD "exit=1 task=3 local=1 pid=47 status=9 realtime=5 monotonic=-6 host=a b c\n"

/* One line between two good ones. */
static void refuses(const char *line, size_t size)
{
    char text[1024];
    size_t good = strlen(GOOD);
    memcpy(text, GOOD, good);
    memcpy(text + good, line, size);
    memcpy(text + good + size, "\n" GOOD, good + 1);
    put(text, 2 * good + size + 1);
    cr_expect_eq(read_back(), 1, "taken: %s", line);
    cr_expect_str_eq(err.text, "exit-a: line 2 is no exit record");
    cr_expect_eq(count, 2, "%s: %zu records", line, count);
}

#define REFUSES(line) refuses(line, sizeof(line) - 1)

TestSuite(exit_record, .init = make_directory, .fini = remove_directory);

Test(exit_record, records_come_back_in_order)
{
    struct exit_record first = {.task = UINT32_MAX,
                                .local = INT32_MAX,
                                .pid = INT32_MAX,
                                .status = INT32_MAX,
                                .realtime_ns = INT64_MAX,
                                .monotonic_ns = INT64_MIN,
                                .host = "boot time:[1] node1"};
    struct exit_record second = {.task = -1, .local = -1, .pid = 1};
    exit_record_stamp(&second);
    cr_assert_eq(append(&first), 0);
    cr_assert_eq(append(&second), 0);
    cr_assert_eq(read_back(), 0, "%s", err.text);
    cr_assert_eq(count, 2);
    same(&kept[0], &first);
    same(&kept[1], &second);
    cr_expect_gt(second.realtime_ns, INT64_C(1600000000) * 1000000000);
    cr_expect_gt(second.monotonic_ns, 0);
    cr_expect(strlen(second.host) > 2);
}

Test(exit_record, the_longest_record_fits_its_line)
{
    char line[EXIT_RECORD_LINE_SIZE];
    struct exit_record record = {INT64_MIN, INT32_MIN, INT32_MIN, INT32_MIN,
                                 INT64_MIN, INT64_MIN, ""};
    memset(record.host, 'x', sizeof record.host - 1);
    size_t length = exit_record_print(&record, line);
    cr_expect_eq(length, strlen(line));
    cr_expect_eq(line[length - 1], '\n');
}

Test(exit_record, a_host_of_any_bytes_stays_one_line)
{
    struct exit_record record = {.pid = 1, .host = "a\nexit=1\tb\xff%"};
    cr_assert_eq(append(&record), 0);
    cr_assert_eq(read_back(), 0, "%s", err.text);
    cr_assert_eq(count, 1);
    cr_expect_str_eq(kept[0].host, "a?exit=1?b?%");
}

Test(exit_record, room_set_aside_is_not_seen)
{
    struct exit_record record = {.pid = 1};
    exit_record_reserve(dirfd_, "a");
    exit_record_reserve(dirfd_, "a");
    cr_assert_eq(read_back(), 0, "%s", err.text);
    cr_expect_eq(count, 0);
    cr_assert_eq(append(&record), 0);
    exit_record_reserve(dirfd_, "a");
    cr_assert_eq(read_back(), 0, "%s", err.text);
    cr_expect_eq(count, 1);
    unlinkat(dirfd_, "exit-a", 0);
    cr_assert_eq(symlinkat("target", dirfd_, "exit-a"), 0);
    exit_record_reserve(dirfd_, "a");
    cr_expect_neq(faccessat(dirfd_, "target", F_OK, 0), 0);
    exit_record_reserve(dirfd_, "a/b");
}

Test(exit_record, a_limit_on_file_sizes_does_not_end_who_sets_room_aside)
{
    char name[] = "/dev/shm/scope-exit-record.XXXXXX"; /* tmpfs heeds the limit for that too */
    cr_assert_not_null(mkdtemp(name));
    int shm = open(name, O_RDONLY | O_DIRECTORY), status;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){1024, 1024});
        exit_record_reserve(shm, "a");
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_expect_eq(unlinkat(shm, "exit-a", 0), 0);
    close(shm);
    rmdir(name);
}

Test(exit_record, several_may_end_at_once)
{
    enum { PROCESSES = 8, LINES = 100 };
    bool seen[PROCESSES * LINES] = {false};
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() != 0)
            continue;
        for (int j = 0; j < LINES; j++) {
            struct exit_record record = {.task = i * LINES + j, .pid = 1, .host = "h"};
            if (append(&record) < 0)
                _exit(1);
        }
        _exit(0);
    }
    for (int status; wait(&status) > 0;)
        cr_expect_eq(status, 0);
    cr_assert_eq(read_back(), 0, "%s", err.text);
    cr_assert_eq(count, PROCESSES * LINES);
    for (size_t i = 0; i < count; i++)
        seen[kept[i].task] = true;
    for (size_t i = 0; i < count; i++)
        cr_expect(seen[i], "%zu is missing", i);
}

Test(exit_record, a_line_that_is_none_is_passed_over_and_named)
{
    REFUSES("");
    REFUSES("exit=1");
    REFUSES("exit=2 task=3 local=1 pid=47 status=9 realtime=5 monotonic=-6 host=a");
    REFUSES(" exit=1 task=3 local=1 pid=47 status=9 realtime=5 monotonic=-6 host=a");
    REFUSES("exit=1  task=3 local=1 pid=47 status=9 realtime=5 monotonic=-6 host=a");
    REFUSES("exit=1 task= 3 local=1 pid=47 status=9 realtime=5 monotonic=-6 host=a");
    REFUSES("exit=1 task=+3 local=1 pid=47 status=9 realtime=5 monotonic=-6 host=a");
    REFUSES("exit=1 task=-2 local=1 pid=47 status=9 realtime=5 monotonic=-6 host=a");
    REFUSES("exit=1 task=4294967296 local=1 pid=47 status=9 realtime=5 monotonic=-6 host=a");
    REFUSES("exit=1 task=3 local=2147483648 pid=47 status=9 realtime=5 monotonic=-6 host=a");
    REFUSES("exit=1 task=3 local=1 pid=0 status=9 realtime=5 monotonic=-6 host=a");
    REFUSES("exit=1 task=3 local=1 pid=47 status=-1 realtime=5 monotonic=-6 host=a");
    REFUSES("exit=1 task=3 local=1 pid=47 status=x realtime=5 monotonic=-6 host=a");
    REFUSES("exit=1 task=3 local=1 pid=4 status=9 realtime=9223372036854775808 monotonic=-6 host=");
    REFUSES("exit=1 task=3 local=1 pid=47 status=9 realtime=5 monotonic=--6 host=a");
    REFUSES("exit=1 task=3 local=1 pid=47 status=9 realtime=5 monotonic=-6");
    REFUSES("exit=1 local=1 task=3 pid=47 status=9 realtime=5 monotonic=-6 host=a");
    REFUSES("exit=1 task=3 local=1 pid=47 status=9 realtime=5 monotonic=-6 host=a\tb");
    REFUSES("exit=1 task=3 local=1 pid=47 status=9 realtime=5 monotonic=-6 host=a\0b");
    REFUSES("exit=1 task=3 local=1 pid=47 status=9 realtime=5 monotonic=-6 host="
            "0123456789012345678901234567890123456789012345678901234567890123"
            "0123456789012345678901234567890123456789012345678901234567890123"
            "0123456789012345678901234567890123456789012345678901234567890123");
}

Test(exit_record, a_cut_off_line_at_the_end_is_none)
{
    put(GOOD GOOD, 2 * strlen(GOOD) - 1);
    cr_expect_eq(read_back(), 1);
    cr_expect_str_eq(err.text, "exit-a: line 2 is no exit record");
    cr_expect_eq(count, 1);
    put("", 0);
    cr_expect_eq(read_back(), 0);
    cr_expect_eq(count, 0);
}

Test(exit_record, one_note_tells_of_all_wrong_lines)
{
    put("x\ny\n" GOOD "z\n", strlen("x\ny\n" GOOD "z\n"));
    cr_expect_eq(read_back(), 1);
    cr_expect_str_eq(err.text, "exit-a: line 1 is no exit record");
    cr_expect_eq(count, 1);
}

Test(exit_record, size_is_bounded_on_both_sides)
{
    static char text[EXIT_RECORD_FILE_MAX + 1];
    struct exit_record record = {.pid = 1};
    memset(text, '\n', sizeof text);
    put(text, sizeof text);
    cr_expect_eq(read_back(), 1);
    cr_expect_str_eq(err.text, "exit-a: is longer than 1048576 bytes");
    put(text, EXIT_RECORD_FILE_MAX - 8);
    cr_expect_eq(append(&record), -1);
    cr_expect_eq(errno, EFBIG);
}

Test(exit_record, only_a_regular_file_is_written_or_read)
{
    struct exit_record record = {.pid = 1};
    cr_expect_eq(read_back(), 1);
    cr_expect(strstr(err.text, "exit-a: cannot be opened") == err.text, "%s", err.text);

    cr_assert_eq(symlinkat("target", dirfd_, "exit-a"), 0);
    cr_expect_eq(append(&record), -1);
    cr_expect_neq(faccessat(dirfd_, "target", F_OK, 0), 0);
    cr_expect_eq(read_back(), 1);
    cr_expect_str_eq(err.text, "exit-a: is a symbolic link, which is not followed");
    unlinkat(dirfd_, "exit-a", 0);

    cr_assert_eq(mkfifoat(dirfd_, "exit-a", 0644), 0);
    cr_expect_eq(append(&record), -1);
    cr_expect_eq(read_back(), 1);
    cr_expect_str_eq(err.text, "exit-a: is no regular file");
    int reader = openat(dirfd_, "exit-a", O_RDONLY | O_NONBLOCK);
    cr_expect_eq(append(&record), -1);
    cr_expect_eq(errno, EINVAL);
    cr_expect_eq(read(reader, &record, sizeof record), 0, "something was written into the FIFO");
    close(reader);
    unlinkat(dirfd_, "exit-a", 0);

    cr_assert_eq(mkdirat(dirfd_, "exit-a", 0755), 0);
    cr_expect_eq(append(&record), -1);
    cr_expect_eq(read_back(), 1);
    cr_expect_str_eq(err.text, "exit-a: is no regular file");
}

Test(exit_record, no_memory_for_a_record_ends_the_reading)
{
    static char text[(KEPT + 1) * sizeof GOOD];
    for (int i = 0; i <= KEPT; i++)
        strcat(text + i * (sizeof GOOD - 1), GOOD);
    put(text, strlen(text));
    cr_expect_eq(read_back(), -1);
    cr_expect_str_eq(err.text, "exit-a: out of memory");
}

Test(exit_record, a_node_names_its_file)
{
    char name[EXIT_RECORD_NAME_SIZE], longest[EXIT_RECORD_NAME_SIZE];
    cr_expect_eq(exit_record_name("node1", name), 0);
    cr_expect_str_eq(name, "exit-node1");
    cr_expect_eq(exit_record_name("..", name), 0);
    cr_expect_str_eq(name, "exit-..");
    cr_expect_eq(exit_record_name("", name), -1);
    cr_expect_eq(exit_record_name("a/b", name), -1);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    cr_expect_eq(exit_record_name(longest, name), -1);
    longest[sizeof longest - 6] = '\0';
    cr_expect_eq(exit_record_name(longest, name), 0);
    cr_expect_eq(strlen(name), sizeof name - 1);
}
