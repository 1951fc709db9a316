/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces that go into a container come out of it; one that is cut off or damaged tells no more
 * than it holds. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/trace_container.h"

enum { SIZE_MAX_HERE = 4096 };

static char directory[] = "/tmp/trace-container-XXXXXX";
static int dirfd_ = -1;
static struct error err;
static struct trace_container container;
static struct trace_container_trace trace;
static const char *const names[] = {"a.1-0/rank-000000.sptrace", "a.1-0/rank-000001.sptrace",
                                    "b-0/rank-000000.sptrace"};
static const char *const bytes[] = {"the first", "the second one", ""};
enum { TRACES = 3 };

static void make_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    dirfd_ = open(directory, O_RDONLY | O_DIRECTORY);
    cr_assert_geq(dirfd_, 0);
}

static void remove_directory(void)
{
    unlinkat(dirfd_, "c", 0);
    unlinkat(dirfd_, "trace", 0);
    close(dirfd_);
    rmdir(directory);
}

static void put_file(const char *name, const void *data, size_t size)
{
    int fd = openat(dirfd_, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    cr_assert_eq(write(fd, data, size), (ssize_t)size);
    close(fd);
}

/* Writes the container "c", and its bytes to data; how many there are. */
static size_t make(unsigned char data[static SIZE_MAX_HERE])
{
    int fd = openat(dirfd_, "c", O_RDWR | O_CREAT | O_TRUNC, 0644);
    cr_assert_eq(trace_container_begin(fd), 0);
    for (int i = 0; i < TRACES; i++) {
        put_file("trace", bytes[i], strlen(bytes[i]));
        int source = openat(dirfd_, "trace", O_RDONLY);
        cr_assert_eq(trace_container_add(fd, names[i], source), 0);
        close(source);
    }
    cr_assert_eq(trace_container_finish(fd, TRACES), 0);
    ssize_t size = pread(fd, data, SIZE_MAX_HERE, 0);
    cr_assert(size > 0 && size < SIZE_MAX_HERE);
    close(fd);
    return (size_t)size;
}

static void expect_trace(int number, const unsigned char *data, size_t size)
{
    char name[2 * TRACE_CONTAINER_NAME_SIZE];
    snprintf(name, sizeof name, "%s/%s", trace.world, trace.file);
    cr_expect_str_eq(name, names[number]);
    cr_assert_leq(trace.offset + trace.size, size);
    cr_expect_eq(memcmp(data + trace.offset, bytes[number], trace.size), 0);
}

TestSuite(trace_container, .init = make_directory, .fini = remove_directory);

Test(trace_container, what_went_in_comes_out)
{
    unsigned char data[SIZE_MAX_HERE];
    size_t size = make(data);
    cr_assert_eq(trace_container_open(&container, dirfd_, "c", &err), 0, "%s", err.text);
    for (int i = 0; i < TRACES; i++) {
        cr_assert_eq(trace_container_next(&container, &trace), 1);
        cr_expect_eq(trace.size, strlen(bytes[i]));
        expect_trace(i, data, size);
    }
    cr_expect_eq(trace_container_next(&container, &trace), 0);
    cr_expect(container.is_complete);
    cr_expect_eq(trace_container_next(&container, &trace), 0);
    trace_container_close(&container);
}

/* A rank takes space ahead of what it writes. */
Test(trace_container, what_was_never_written_takes_no_space)
{
    enum { LENGTH = 16 * 1024 * 1024, LAST = LENGTH - 4 };
    struct stat status;
    char text[8] = "";
    put_file("trace", "begin", 5);
    int source = openat(dirfd_, "trace", O_RDWR);
    cr_assert_eq(pwrite(source, "mid", 3, LENGTH / 2), 3);
    cr_assert_eq(ftruncate(source, LENGTH), 0);
    int fd = openat(dirfd_, "c", O_RDWR | O_CREAT | O_TRUNC, 0644);
    cr_assert_eq(trace_container_begin(fd), 0);
    cr_assert_eq(trace_container_add(fd, names[0], source), 0);
    cr_assert_eq(trace_container_finish(fd, 1), 0);
    cr_assert_eq(fstat(fd, &status), 0);
    cr_expect_lt((long long)status.st_blocks * 512, LENGTH / 4);
    cr_assert_eq(trace_container_open(&container, dirfd_, "c", &err), 0, "%s", err.text);
    cr_assert_eq(trace_container_next(&container, &trace), 1);
    cr_expect_eq(trace.size, LENGTH);
    cr_assert_eq(pread(fd, text, 5, (off_t)trace.offset), 5);
    cr_expect_str_eq(text, "begin");
    cr_assert_eq(pread(fd, text, 5, (off_t)trace.offset + LENGTH / 2), 5);
    cr_expect_str_eq(text, "mid");
    cr_assert_eq(pread(fd, text, 4, (off_t)trace.offset + LAST), 4);
    cr_expect_eq(memcmp(text, "\0\0\0\0", 4), 0);
    cr_expect_eq(trace_container_next(&container, &trace), 0);
    cr_expect(container.is_complete);
    trace_container_close(&container);
    close(source);
    close(fd);
}

Test(trace_container, whatever_is_cut_off_the_rest_is_there)
{
    unsigned char data[SIZE_MAX_HERE];
    size_t size = make(data);
    for (size_t cut = 0; cut < size; cut++) {
        int status, number = 0;
        put_file("c", data, cut);
        if (cut > 0 && cut < sizeof(struct trace_container_header)) {
            cr_expect_eq(trace_container_open(&container, dirfd_, "c", &err), -1);
            cr_expect_str_eq(err.text, "c: holds no traces of this version");
            continue;
        }
        cr_assert_eq(trace_container_open(&container, dirfd_, "c", &err), 0, "%s", err.text);
        while ((status = trace_container_next(&container, &trace)) == 1)
            expect_trace(number++, data, cut);
        cr_expect_eq(status, 0);
        cr_expect_not(container.is_complete, "cut to %zu bytes", cut);
        trace_container_close(&container);
    }
}

Test(trace_container, no_byte_leads_out_of_the_file)
{
    unsigned char data[SIZE_MAX_HERE];
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff, '/', '.'};
    size_t size = make(data);
    for (size_t at = 0; at < size; at++) {
        unsigned char good = data[at];
        for (size_t i = 0; i < sizeof values; i++) {
            size_t found = 0;
            data[at] = values[i];
            put_file("c", data, size);
            if (trace_container_open(&container, dirfd_, "c", NULL) < 0)
                continue;
            while (trace_container_next(&container, &trace) == 1) {
                cr_assert_leq(++found, size);
                cr_assert(trace.offset <= size && trace.size <= size - trace.offset);
                cr_expect(*trace.world && *trace.world != '.' && !strchr(trace.world, '/') &&
                          *trace.file && !strchr(trace.file, '/'));
            }
            trace_container_close(&container);
        }
        data[at] = good;
    }
}

Test(trace_container, only_names_of_containers_are_taken)
{
    char name[TRACE_CONTAINER_NAME_SIZE], part[TRACE_CONTAINER_NAME_SIZE];
    char longest[TRACE_CONTAINER_NAME_SIZE + 1];
    cr_assert_eq(trace_container_name("node2+18", name), 0);
    cr_expect_str_eq(name, "spool-node2+18.sptraces");
    cr_assert(trace_container_is(name, part));
    cr_expect_str_eq(part, "node2+18");
    cr_expect_eq(trace_container_name("", name), -1);
    cr_expect_eq(trace_container_name("a/b", name), -1);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    cr_expect_eq(trace_container_name(longest, name), -1);
    cr_expect_not(trace_container_is("spool-.sptraces", part));
    cr_expect_not(trace_container_is("spool-a.sptrace", part));
    cr_expect_not(trace_container_is("xspool-a.sptraces", part));
    cr_expect_not(trace_container_is(longest, part));
}

Test(trace_container, links_and_others_are_refused)
{
    cr_assert_eq(symlinkat("trace", dirfd_, "c"), 0);
    cr_expect_eq(trace_container_open(&container, dirfd_, "c", &err), -1);
    unlinkat(dirfd_, "c", 0);
    cr_assert_eq(mkfifoat(dirfd_, "c", 0644), 0);
    cr_expect_eq(trace_container_open(&container, dirfd_, "c", &err), -1);
}
