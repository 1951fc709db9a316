/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a run when it starts: the file "job" in its run directory.
 *
 * Text, one KEY=VALUE per line, values percent-encoded (every byte outside printable ASCII, and
 * '%'), first line "scope-profile-job 1". Keys are [A-Za-z_][A-Za-z0-9_]*, at most 64 bytes, each
 * at most once; a file over JOB_RECORD_MAX bytes or with a repeated key is refused.
 */
#ifndef SCOPE_JOB_RECORD_H
#define SCOPE_JOB_RECORD_H

#include <stddef.h>

#include "schema/error.h"

#define JOB_RECORD_NAME "job"

enum { JOB_RECORD_MAX = 256 * 1024, JOB_RECORD_KEYS_MAX = 512 };

struct job_record {
    char *text; /* owns keys and values */
    size_t count;
    struct job_field {
        const char *key;
        const char *value; /* decoded; may hold any byte but zero */
    } * fields;
};

/* Builds a record text in buffer step by step. Start with {.buffer, .size}; a field that no longer
 * fits is left out and counted in skipped. */
struct job_record_text {
    char *buffer;
    size_t size, length, skipped;
};

void job_record_begin(struct job_record_text *text);
/* value may be NULL: nothing is added. */
void job_record_add(struct job_record_text *text, const char *key, const char *value);

/* Writes the text as dirfd/job unless a file of that name is already there (another rank was
 * first); it appears complete or not at all. Returns 0 (written, or there before), -1 and err. */
int job_record_publish(const struct job_record_text *text, int dirfd, struct error *err);

/* Reads dirfd/job (regular file, O_NOFOLLOW). Returns 0, or -1 and err; free with _release. */
int job_record_read(struct job_record *record, int dirfd, struct error *err);
/* The value of key, or NULL. */
const char *job_record_get(const struct job_record *record, const char *key);
void job_record_release(struct job_record *record);

#endif
