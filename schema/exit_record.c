/* SPDX-License-Identifier: BSD-3-Clause */
/* How processes of a run ended, as their parent saw it: the files "exit-NODE" of a run. */
#define _GNU_SOURCE
#include "schema/exit_record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "schema/regular_file.h"
#include "schema/size_limit.h"

#define PREFIX_LENGTH (sizeof EXIT_RECORD_PREFIX - 1)

static bool is_printable(unsigned char c)
{
    return c >= ' ' && c < 127;
}

/* --- writing -------------------------------------------------------------------------------------
 */

static int64_t now(clockid_t clock)
{
    struct timespec time = {0};
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void exit_record_stamp(struct exit_record *record)
{
    record->realtime_ns = now(CLOCK_REALTIME);
    record->monotonic_ns = now(CLOCK_MONOTONIC);
    host_key_read(record->host, sizeof record->host);
}

int exit_record_name(const char *node, char name[static EXIT_RECORD_NAME_SIZE])
{
    size_t length = strlen(node);
    if (length == 0 || length >= EXIT_RECORD_NAME_SIZE - PREFIX_LENGTH || strchr(node, '/'))
        return -1;
    memcpy(name, EXIT_RECORD_PREFIX, PREFIX_LENGTH);
    memcpy(name + PREFIX_LENGTH, node, length + 1);
    return 0;
}

size_t exit_record_print(const struct exit_record *record, char line[static EXIT_RECORD_LINE_SIZE])
{
    char host[sizeof record->host];
    snprintf(host, sizeof host, "%s", record->host);
    for (char *p = host; *p; p++) {
        if (!is_printable((unsigned char)*p))
            *p = '?';
    }
    int length = snprintf(line, EXIT_RECORD_LINE_SIZE,
                          "exit=1 task=%" PRId64 " local=%" PRId32 " pid=%" PRId32
                          " status=%" PRId32 " realtime=%" PRId64 " monotonic=%" PRId64
                          " host=%s\n",
                          record->task, record->local, record->pid, record->status,
                          record->realtime_ns, record->monotonic_ns, host);
    return (size_t)length;
}

/* Returns a descriptor for appending and the file's size, or -1 with errno. */
static int open_for_appending(int dirfd, const char *name, int64_t *size)
{
    int fd = openat(dirfd, name,
                    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                    0644);
    if (fd < 0)
        return -1;
    *size = regular_file_size(fd);
    if (*size >= 0)
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

void exit_record_reserve(int dirfd, const char *node)
{
    char name[EXIT_RECORD_NAME_SIZE];
    int64_t size;
    int fd = exit_record_name(node, name) == 0 ? open_for_appending(dirfd, name, &size) : -1;
    if (fd < 0)
        return;
    /* Behind the file's end: readers see none of it. Some file systems send SIGXFSZ all the same. */
    if (size_limit_error(EXIT_RECORD_RESERVED) == 0)
        fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, EXIT_RECORD_RESERVED);
    close(fd);
}

int exit_record_append(int dirfd, const char *name, const char *line, size_t length)
{
    int64_t size;
    int fd = open_for_appending(dirfd, name, &size);
    if (fd < 0)
        return -1;
    int reason = size > EXIT_RECORD_FILE_MAX - (int64_t)length
                     ? EFBIG
                     : size_limit_error((uint64_t)size + length);
    if (reason == 0) {
        ssize_t written = write(fd, line, length); /* one write: lines of others stay whole */
        reason = written < 0 ? errno : (size_t)written < length ? ENOSPC : 0;
    }
    if (close(fd) < 0 && reason == 0)
        reason = errno;
    errno = reason;
    return reason ? -1 : 0;
}

/* --- reading: the file may be anything -----------------------------------------------------------
 */

/* Takes "WORD" and a number between least and most from *text. */
static bool take_number(const char **text, const char *word, int64_t least, int64_t most,
                        int64_t *number)
{
    size_t length = strlen(word);
    char *end;
    if (strncmp(*text, word, length) != 0)
        return false;
    const char *digits = *text + length, *first = *digits == '-' ? digits + 1 : digits;
    if (*first < '0' || *first > '9') /* strtoll would take blanks and a '+' */
        return false;
    errno = 0;
    *number = strtoll(digits, &end, 10);
    *text = end;
    return errno == 0 && *number >= least && *number <= most;
}

static bool take_host(const char *text, char *host, size_t size)
{
    size_t length = strlen(text);
    if (length >= size)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!is_printable((unsigned char)text[i]))
            return false;
    }
    memcpy(host, text, length + 1);
    return true;
}

static bool parse_line(struct exit_record *record, const char *line)
{
    int64_t version, local, pid, status;
    if (!take_number(&line, "exit=", 1, 1, &version) ||
        !take_number(&line, " task=", -1, UINT32_MAX, &record->task) ||
        !take_number(&line, " local=", -1, INT32_MAX, &local) ||
        !take_number(&line, " pid=", 1, INT32_MAX, &pid) ||
        !take_number(&line, " status=", 0, INT32_MAX, &status) ||
        !take_number(&line, " realtime=", INT64_MIN, INT64_MAX, &record->realtime_ns) ||
        !take_number(&line, " monotonic=", INT64_MIN, INT64_MAX, &record->monotonic_ns) ||
        strncmp(line, " host=", strlen(" host=")) != 0)
        return false;
    record->local = (int32_t)local;
    record->pid = (int32_t)pid;
    record->status = (int32_t)status;
    return take_host(line + strlen(" host="), record->host, sizeof record->host);
}

/* Up to size bytes: a file may become longer while it is read. Returns how many there were, or -1
 * with errno. */
static ssize_t read_all(int fd, char *text, size_t size)
{
    size_t have = 0;
    while (have < size) {
        ssize_t got = pread(fd, text + have, size - have, (off_t)have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

/* A zero byte inside a line ends it early, and then it is no record; so is a last line without its
 * newline. */
static int parse(char *text, size_t size, const char *name, exit_record_take *take, void *data,
                 struct error *err)
{
    int status = 0;
    size_t number = 1;
    for (char *line = text, *end = text + size; line < end; number++) {
        struct exit_record record;
        char *newline = memchr(line, '\n', (size_t)(end - line));
        if (newline)
            *newline = '\0';
        if (newline && strlen(line) == (size_t)(newline - line) && parse_line(&record, line)) {
            if (take(data, &record) < 0)
                return error_set(err, "%s: out of memory", name);
        } else if (status == 0) {
            status = 1;
            error_set(err, "%s: line %zu is no exit record", name, number);
        }
        line = newline ? newline + 1 : end;
    }
    return status;
}

int exit_record_read(int dirfd, const char *name, exit_record_take *take, void *data,
                     struct error *err)
{
    int64_t size;
    int fd = regular_file_open(dirfd, name, &size, err);
    if (fd < 0)
        return 1;
    if (size > EXIT_RECORD_FILE_MAX) {
        close(fd);
        error_set(err, "%s: is longer than %d bytes", name, EXIT_RECORD_FILE_MAX);
        return 1;
    }
    char *text = malloc((size_t)size + 1);
    ssize_t length = text ? read_all(fd, text, (size_t)size) : 0;
    int reason = errno, status = 1;
    close(fd);
    if (!text)
        status = error_set(err, "%s: out of memory", name);
    else if (length < 0)
        error_set(err, "%s: cannot be read: %s", name, strerror(reason));
    else
        status = parse(text, (size_t)length, name, take, data, err);
    free(text);
    return status;
}

/* --- of a few nodes ------------------------------------------------------------------------------
 */

static int look(void *data, const struct exit_record *record)
{
    int64_t *last = data;
    if (WIFSIGNALED(record->status) && record->realtime_ns > *last)
        *last = record->realtime_ns;
    return 0;
}

int64_t exit_record_last_killed(int dirfd)
{
    enum { FILES_LOOKED_INTO = 4 };
    int64_t last = EXIT_RECORD_NEVER;
    int looked = 0, fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (!list) {
        if (fd >= 0)
            close(fd);
        return last;
    }
    for (struct dirent *entry; looked < FILES_LOOKED_INTO && (entry = readdir(list));) {
        if (strncmp(entry->d_name, EXIT_RECORD_PREFIX, strlen(EXIT_RECORD_PREFIX)) != 0)
            continue;
        exit_record_read(dirfd, entry->d_name, look, &last, NULL);
        looked++;
    }
    closedir(list);
    return last;
}
