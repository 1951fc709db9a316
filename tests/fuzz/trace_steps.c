/* SPDX-License-Identifier: BSD-3-Clause */
/* Stops the writer of a trace after every single instruction and reads the trace: there is every
 * finished record, and no more. What the compiler made of the commit rule is what is tested.
 * Speaks TAP.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/fuzz/sample_trace.h"

enum { COPY_SIZE = 1 << 20 };

static const char name[] = "rank-000001.sptrace";

static void no_step(void)
{
}

/* Starts the writer under our eyes, stopped before its first instruction of interest. */
static pid_t start(int directory, struct sample_progress *finished)
{
    pid_t child = fork();
    int status;
    if (child < 0)
        sample_die("cannot fork");
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(98);
        raise(SIGSTOP);
        sample_write(directory, name, finished, no_step);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        sample_die("no ptrace here");
    return child;
}

/* True if the file is no longer what it was at the last call. */
static bool changed(int directory)
{
    static unsigned char before[COPY_SIZE];
    static unsigned char *file = MAP_FAILED;
    static size_t size;
    struct stat status;

    if (fstatat(directory, name, &status, 0) < 0)
        return false;
    if (size != (size_t)status.st_size || file == MAP_FAILED) {
        if (file != MAP_FAILED)
            munmap(file, size);
        int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
        size = (size_t)status.st_size;
        if (fd < 0 || size > COPY_SIZE)
            sample_die("the trace is larger than was thought");
        file = size ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
        close(fd);
        if (file == MAP_FAILED)
            return false;
        memcpy(before, file, size);
        return true;
    }
    if (memcmp(before, file, size) == 0)
        return false;
    memcpy(before, file, size);
    return true;
}

/* The magic number comes last: before it there is no trace. */
static bool has_begun(int directory)
{
    char magic[8] = "";
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    bool begun = fd >= 0 && pread(fd, magic, sizeof magic, 0) == sizeof magic &&
                 memcmp(magic, TRACE_MAGIC, sizeof magic) == 0;
    if (fd >= 0)
        close(fd);
    return begun;
}

int main(void)
{
    static struct sample_digests expected, found;
    char path[64];
    struct error err;
    size_t steps = 0, looks = 0, problems = 0;
    int status = 0;
    int directory = sample_directory(path);
    struct sample_progress *finished = mmap(NULL, sizeof *finished, PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (finished == MAP_FAILED)
        sample_die("no memory");
    sample_write(directory, name, finished, no_step);
    if (!sample_read(directory, name, &expected, &err))
        sample_die(err.text);
    unlinkat(directory, name, 0);
    memset(finished, 0, sizeof *finished);

    pid_t child = start(directory, finished);
    while (problems <= 10) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) < 0 ||
            waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
            break;
        steps++;
        if (!changed(directory) || !has_begun(directory))
            continue;
        looks++;
        if (!sample_read(directory, name, &found, &err))
            printf("# step %zu: %s\n", steps, err.text);
        else if (!sample_is_prefix(&found, &expected, finished))
            printf("# step %zu: %zu and %zu records where %zu and %zu are finished\n", steps,
                   found.count[0], found.count[1], finished->records[0], finished->records[1]);
        else if (!sample_requests_are_right(directory, name, finished))
            printf("# step %zu: other requests than are in flight\n", steps);
        else
            continue;
        problems++;
    }
    bool good = problems == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    bool complete =
        sample_read(directory, name, &found, &err) && sample_is_whole(&found, finished);
    unlinkat(directory, name, 0);
    rmdir(path);
    printf("1..2\n");
    printf("%sok 1 - after each of %zu instructions, %zu of which changed the file\n",
           good ? "" : "not ", steps, looks);
    printf("%sok 2 - the writer came to its end\n", complete && looks > 500 ? "" : "not ");
    return !good || !complete;
}
