/* SPDX-License-Identifier: BSD-3-Clause */
/* A few files as one short fuzz input: traces are large, but mostly zeros.
 *
 * An input is a row of chunks: the file's number (1 byte), an offset (3 bytes), a length (2 bytes,
 * little-endian both), and as many bytes. A file is as large as its chunks reach; a chunk of length
 * 0 reaches to its offset. seeds.py writes the same.
 */
#ifndef SCOPE_FUZZ_INPUT_H
#define SCOPE_FUZZ_INPUT_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUT_FILE_MAX = 4 * 1024 * 1024, INPUT_CHUNK_HEAD = 6 };

/* By number; the order is that of seeds.py. */
static const char *const input_worlds[] = {"w-0", "w-1"};
static const char *const input_names[] = {
    "w-0/rank-000000.sptrace", "w-0/rank-000001.sptrace", "w-0/rank-000002.sptrace",
    "w-0/rank-000003.sptrace", "w-1/rank-000000.sptrace", "w-1/rank-000001.sptrace",
    "job", "exit-node0", "exit-node1", "job-end", "spool-node0.sptraces",
};
enum { INPUT_WORLDS = 2, INPUT_NAMES = sizeof input_names / sizeof *input_names };

static inline __attribute__((noreturn)) void input_die(const char *what)
{
    perror(what);
    abort();
}

/* A directory to write inputs to, in memory if $TMPDIR is. Its descriptor, and its path. */
static inline int input_directory(char path[static 64])
{
    const char *parent = getenv("TMPDIR");
    snprintf(path, 64, "%s/sp-fuzz-XXXXXX", parent ? parent : "/dev/shm");
    int directory = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory < 0)
        input_die(path);
    return directory;
}

/* Whatever the code under test prints goes nowhere, and into no file that it opens. */
static inline void input_fill_streams(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO)
        ;
    close(fd);
}

static inline void input_remove(int directory)
{
    for (int i = 0; i < INPUT_NAMES; i++)
        unlinkat(directory, input_names[i], 0);
    for (int i = 0; i < INPUT_WORLDS; i++)
        unlinkat(directory, input_worlds[i], AT_REMOVEDIR);
}

static inline void input_write_chunk(int fd, const uint8_t *data, size_t size, uint32_t offset)
{
    struct stat status;
    if (fstat(fd, &status) < 0 ||
        (size == 0 && status.st_size < offset && ftruncate(fd, offset) < 0) ||
        (size > 0 && pwrite(fd, data, size, offset) != (ssize_t)size))
        input_die("writing an input");
}

/* Writes the files of an input whose number is below count, in an empty directory. */
static inline void input_write(int directory, const uint8_t *data, size_t size, unsigned count)
{
    int files[INPUT_NAMES];
    for (int i = 0; i < INPUT_NAMES; i++)
        files[i] = -1;
    while (size >= INPUT_CHUNK_HEAD) {
        unsigned number = data[0] % count;
        uint32_t offset = data[1] | data[2] << 8 | (uint32_t)data[3] << 16;
        size_t length = data[4] | (size_t)data[5] << 8;
        data += INPUT_CHUNK_HEAD;
        size -= INPUT_CHUNK_HEAD;
        if (length > size)
            length = size;
        offset %= INPUT_FILE_MAX - 65536;
        for (int i = 0; i < INPUT_WORLDS && files[number] < 0; i++)
            if (strncmp(input_names[number], input_worlds[i], strlen(input_worlds[i])) == 0)
                mkdirat(directory, input_worlds[i], 0700);
        if (files[number] < 0)
            files[number] =
                openat(directory, input_names[number], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (files[number] < 0)
            input_die(input_names[number]);
        input_write_chunk(files[number], data, length, offset);
        data += length;
        size -= length;
    }
    for (int i = 0; i < INPUT_NAMES; i++)
        if (files[i] >= 0)
            close(files[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
