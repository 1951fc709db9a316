/* SPDX-License-Identifier: BSD-3-Clause */
/* The traces of a node in one file, "spool-NODE.sptraces": as they were copied out of its spool.
 *
 * While its ranks run, a header that tells where their traces are. Then, from the copy on, a header,
 * then for each trace its name and size and its bytes, then an end. Where the copy was
 * stopped there is no end, and the last trace may be cut off.
 */
#ifndef SCOPE_TRACE_CONTAINER_H
#define SCOPE_TRACE_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"

#define TRACE_CONTAINER_PREFIX "spool-"
#define TRACE_CONTAINER_SUFFIX ".sptraces"
#define TRACE_CONTAINER_MAGIC "sptraces"

enum {
    TRACE_CONTAINER_VERSION = 1,
    TRACE_CONTAINER_SPOOL_SIZE = 1024,
    TRACE_CONTAINER_NAME_SIZE = 256, /* of the file, and of a trace in it; zero byte included */
    TRACE_CONTAINER_TRACE = 0x31545053, /* "SPT1" */
    TRACE_CONTAINER_END = 0x30545053    /* "SPT0" */
};

/* Little endian, as traces are. */
struct trace_container_header {
    char magic[8]; /* without a zero byte */
    uint32_t version;
    uint32_t header_size; /* where the first entry begins; before that, the spool's path, if any */
};

struct trace_container_entry {
    uint32_t kind; /* TRACE_CONTAINER_TRACE or _END */
    uint32_t name_length;
    uint64_t size; /* of the trace, behind the name; of the end: how many traces there are */
};

/* Writes the file's name to name. part: what the node's marker has behind "done-", "node2" or
 * "node2+18". Returns 0, or -1 if it cannot be part of a file's name. */
int trace_container_name(const char *part, char name[static TRACE_CONTAINER_NAME_SIZE]);

/* Whether a file of this name holds traces; writes their part of it to part. */
bool trace_container_is(const char *name, char part[static TRACE_CONTAINER_NAME_SIZE]);

/* --- writing: nothing but system calls, so a child of a process with threads may do it -----------
 */

/* Each writes on at fd's position, behind which nothing is. Returns 0, or -1 with errno. A trace
 * that shrinks while it is copied is filled up with zeros, as if that part of it had not been
 * written yet. Long zeros become holes. */
int trace_container_begin(int fd);
int trace_container_add(int fd, const char *name, int trace);
int trace_container_finish(int fd, uint64_t count);

/* Writes the header of a file that is empty, with the path of the step's directory in the spool. All
 * ranks of a node may do so: they write the same. Returns as above. */
int trace_container_announce(int fd, const char *spool);

/* --- reading: the file may be anything -----------------------------------------------------------
 */

struct trace_container {
    int fd;
    uint64_t size, offset; /* of the file; of the next entry */
    uint64_t count;        /* of entries read */
    bool is_complete;      /* the end was read, and it counts as many */
    char spool[TRACE_CONTAINER_SPOOL_SIZE]; /* where the traces are as yet; "": not told */
};

struct trace_container_trace {
    char world[TRACE_CONTAINER_NAME_SIZE], file[TRACE_CONTAINER_NAME_SIZE];
    uint64_t offset, size; /* of what is there */
};

/* Opens dirfd/name, a regular file and no link. An empty one is one without traces whose copy
 * has not begun. Returns 0, to be closed, or -1 and err, which names the file. */
int trace_container_open(struct trace_container *container, int dirfd, const char *name,
                         struct error *err);

/* Gets the next trace. Returns 1; 0: there is no more, see is_complete; -1: what follows is no
 * entry, and nothing more can be read. */
int trace_container_next(struct trace_container *container, struct trace_container_trace *trace);

void trace_container_close(struct trace_container *container);

#endif
