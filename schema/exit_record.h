/* SPDX-License-Identifier: BSD-3-Clause */
/* How processes of a run ended, as their parent saw it: the files "exit-NODE" of a run.
 *
 * Text, one line per process, appended by one write when it ended:
 *
 *     exit=1 task=3 local=1 pid=4711 status=9 realtime=NS monotonic=NS host=HOST-KEY
 *
 * The first number is the format's version. README.md tells what the others mean.
 */
#ifndef SCOPE_EXIT_RECORD_H
#define SCOPE_EXIT_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"
#include "schema/host_key.h"

#define EXIT_RECORD_PREFIX "exit-"

enum {
    EXIT_RECORD_NAME_SIZE = 256,       /* of a file's name, its zero byte included */
    EXIT_RECORD_LINE_SIZE = 512,       /* of a line, likewise */
    EXIT_RECORD_RESERVED = 64 * 1024,  /* bytes: what exit_record_reserve sets aside */
    EXIT_RECORD_FILE_MAX = 1024 * 1024 /* bytes: a file that is larger is no exit record */
};

struct exit_record {
    int64_t task;  /* SLURM_PROCID; -1: not a task of Slurm's, but what sp-run started */
    int32_t local; /* SLURM_LOCALID; -1: likewise */
    int32_t pid;
    int32_t status; /* as waitpid(2) has it */
    int64_t realtime_ns, monotonic_ns;
    char host[HOST_KEY_SIZE]; /* whose clocks these are */
};

/* Puts the present time on both clocks, and whose they are, into the record. */
void exit_record_stamp(struct exit_record *record);

/* Writes the name of the file for what ended on node ("exit-NODE") to name. Returns 0, or -1 if
 * node cannot be part of a file's name. */
int exit_record_name(const char *node, char name[static EXIT_RECORD_NAME_SIZE]);

/* Writes the record's line, newline included, to line and returns its length. */
size_t exit_record_print(const struct exit_record *record, char line[static EXIT_RECORD_LINE_SIZE]);

/* Appends the line to dirfd/name, which is made if it is missing: a regular file, never through a
 * link, never waiting for a FIFO's reader. Makes nothing but system calls, so a child of a process
 * with threads may call it. Returns 0, or -1 with errno (EINVAL: no regular file; EFBIG: it is
 * full; ENOSPC: cut off). */
int exit_record_append(int dirfd, const char *name, const char *line, size_t length);

/* Makes the file for what will end on node and sets disk space aside for some hundred lines, where
 * the file system can: they shall have room when the traces have filled the disk. */
void exit_record_reserve(int dirfd, const char *node);

/* Called with each record; -1 ends the reading. */
typedef int exit_record_take(void *data, const struct exit_record *record);

/* Reads dirfd/name, which may be anything, and calls take for each line that is a record, in order.
 * Returns 0; 1 and err, which names the file, if it is not to be read or some of its lines are no
 * records; -1 if take failed or memory is out (and err). */
int exit_record_read(int dirfd, const char *name, exit_record_take *take, void *data,
                     struct error *err);

#define EXIT_RECORD_NEVER INT64_MIN

/* When a signal last ended a task (realtime_ns), as those of a few nodes tell: Slurm ends all tasks
 * of a job alike. EXIT_RECORD_NEVER: none was ended so. */
int64_t exit_record_last_killed(int dirfd);

#endif
