/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a run when it starts: the file "job" in its run directory. */
#include "schema/job_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "schema/percent.h"
#include "schema/regular_file.h"
#include "schema/size_limit.h"

#define FIRST_LINE "scope-profile-job 1\n"

enum { KEY_MAX = 64, TEMPORARY_ATTEMPTS = 100 };

static bool is_key_byte(unsigned char c, bool first)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

static bool is_key(const char *key, size_t length)
{
    if (length == 0 || length > KEY_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!is_key_byte((unsigned char)key[i], i == 0))
            return false;
    }
    return true;
}

/* --- writing: runs inside the application, so nothing is allocated -------------------------------
 */

void job_record_begin(struct job_record_text *text)
{
    size_t length = strlen(FIRST_LINE);
    text->length = text->skipped = 0;
    if (length > text->size)
        return; /* every field will be skipped, and publish refuses */
    memcpy(text->buffer, FIRST_LINE, length);
    text->length = length;
}

/* Whether the reader would refuse one more field of this key: it is there, or there are too many.
 */
static bool is_one_too_many(const struct job_record_text *text, const char *key, size_t key_length)
{
    const char *end = text->buffer + text->length;
    size_t count = 0;
    for (const char *line = text->buffer + strlen(FIRST_LINE); line < end; count++) {
        if ((size_t)(end - line) > key_length && memcmp(line, key, key_length) == 0 &&
            line[key_length] == '=')
            return true;
        line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
    }
    return count >= JOB_RECORD_KEYS_MAX;
}

void job_record_add(struct job_record_text *text, const char *key, const char *value)
{
    if (!value)
        return;
    size_t key_length = strlen(key), limit = text->size;
    if (limit > JOB_RECORD_MAX)
        limit = JOB_RECORD_MAX;
    if (text->length == 0 || !is_key(key, key_length) || is_one_too_many(text, key, key_length) ||
        percent_size(value) + key_length + 2 > limit - text->length) {
        text->skipped++;
        return;
    }
    char *p = text->buffer + text->length;
    memcpy(p, key, key_length);
    p += key_length;
    *p++ = '=';
    p = percent_encode(p, value);
    *p++ = '\n';
    text->length = (size_t)(p - text->buffer);
}

static int write_all(int fd, const char *data, size_t size)
{
    if ((errno = size_limit_error(size)) != 0)
        return -1;
    while (size > 0) {
        ssize_t written = write(fd, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        data += written;
        size -= (size_t)written;
    }
    return 0;
}

/* Creates a file that nobody else uses, also on another node with the same process id. */
static int create_temporary(int dirfd, char *name, size_t size, struct error *err)
{
    for (int i = 0; i < TEMPORARY_ATTEMPTS; i++) {
        snprintf(name, size, "." JOB_RECORD_NAME "-%ld-%d", (long)getpid(), i);
        int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            return error_set(err, "%s: cannot be created: %s", name, strerror(errno));
    }
    return error_set(err, "%s: a file of that name is in the way", name);
}

/* Gives the file its name unless that is taken. Some file systems know no second name of a file,
 * and some of those no rename that keeps what is there: then the last one wins, equally complete.
 */
static int give_name(int dirfd, const char *temporary)
{
    enum { NOREPLACE = 1 };
    if (linkat(dirfd, temporary, dirfd, JOB_RECORD_NAME, 0) == 0 || errno == EEXIST) {
        unlinkat(dirfd, temporary, 0);
        return 0;
    }
#ifdef SYS_renameat2
    if (syscall(SYS_renameat2, dirfd, temporary, dirfd, JOB_RECORD_NAME, NOREPLACE) == 0)
        return 0;
    if (errno == EEXIST) {
        unlinkat(dirfd, temporary, 0);
        return 0;
    }
#endif
    return renameat(dirfd, temporary, dirfd, JOB_RECORD_NAME);
}

int job_record_publish(const struct job_record_text *text, int dirfd, struct error *err)
{
    char temporary[64];
    if (text->length == 0)
        return error_set(err, JOB_RECORD_NAME ": no room for the record");
    if (faccessat(dirfd, JOB_RECORD_NAME, F_OK, 0) == 0)
        return 0;
    int fd = create_temporary(dirfd, temporary, sizeof temporary, err);
    if (fd < 0)
        return -1;
    bool failed = write_all(fd, text->buffer, text->length) < 0;
    int reason = errno;
    if (close(fd) < 0 && !failed) { /* where quota and full disks of network file systems show */
        failed = true;
        reason = errno;
    }
    if (!failed && give_name(dirfd, temporary) < 0) {
        failed = true;
        reason = errno;
    }
    if (!failed)
        return 0;
    unlinkat(dirfd, temporary, 0);
    return error_set(err, JOB_RECORD_NAME ": cannot be written: %s", strerror(reason));
}

/* --- reading: the file may be anything -----------------------------------------------------------
 */

static int parse_line(struct job_record *record, char *line, size_t number, struct error *err)
{
    char *equals = strchr(line, '=');
    if (!equals || !is_key(line, (size_t)(equals - line)))
        return error_set(err, JOB_RECORD_NAME ": line %zu is no KEY=VALUE", number);
    *equals = '\0';
    if (job_record_get(record, line))
        return error_set(err, JOB_RECORD_NAME ": line %zu: %s is there twice", number, line);
    if (record->count == JOB_RECORD_KEYS_MAX)
        return error_set(err, JOB_RECORD_NAME ": more than %d keys", JOB_RECORD_KEYS_MAX);
    if (percent_decode(equals + 1) < 0)
        return error_set(err, JOB_RECORD_NAME ": line %zu: the value of %s is not well encoded",
                         number, line);
    record->fields[record->count++] = (struct job_field){line, equals + 1};
    return 0;
}

/* The text is terminated; a zero byte inside it ends a line early, which is then not complete. */
static int parse(struct job_record *record, size_t size, struct error *err)
{
    size_t first = strlen(FIRST_LINE), number = 2;
    if (size < first || memcmp(record->text, FIRST_LINE, first) != 0)
        return error_set(err, JOB_RECORD_NAME ": is no job record of version 1");
    for (char *line = record->text + first, *end = record->text + size; line < end; number++) {
        char *newline = strchr(line, '\n');
        if (!newline)
            return error_set(err, JOB_RECORD_NAME ": line %zu is cut off", number);
        *newline = '\0';
        if (parse_line(record, line, number, err) < 0)
            return -1;
        line = newline + 1;
    }
    return 0;
}

static int read_all(int fd, char *text, size_t size, struct error *err)
{
    for (size_t have = 0; have < size;) {
        ssize_t got = pread(fd, text + have, size - have, (off_t)have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(err, JOB_RECORD_NAME ": cannot be read: %s", strerror(errno));
        if (got == 0)
            return error_set(err, JOB_RECORD_NAME ": became shorter while it was read");
        have += (size_t)got;
    }
    text[size] = '\0';
    return 0;
}

int job_record_read(struct job_record *record, int dirfd, struct error *err)
{
    int64_t size;
    *record = (struct job_record){0};
    int fd = regular_file_open(dirfd, JOB_RECORD_NAME, &size, err), status = -1;
    if (fd < 0)
        return -1;
    if (size > JOB_RECORD_MAX) {
        error_set(err, JOB_RECORD_NAME ": is longer than %d bytes", JOB_RECORD_MAX);
        goto out;
    }
    record->text = malloc((size_t)size + 1);
    record->fields = calloc(JOB_RECORD_KEYS_MAX, sizeof *record->fields);
    if (!record->text || !record->fields)
        error_set(err, JOB_RECORD_NAME ": no memory");
    else if (read_all(fd, record->text, (size_t)size, err) == 0)
        status = parse(record, (size_t)size, err);
out:
    close(fd);
    if (status < 0)
        job_record_release(record);
    return status;
}

const char *job_record_get(const struct job_record *record, const char *key)
{
    for (size_t i = 0; i < record->count; i++) {
        if (strcmp(record->fields[i].key, key) == 0)
            return record->fields[i].value;
    }
    return NULL;
}

void job_record_release(struct job_record *record)
{
    free(record->text);
    free(record->fields);
    *record = (struct job_record){0};
}
