/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads one rank's trace, also one that is cut off, damaged, hostile or still being written.
 *
 * The reader uses pread only, allocates in proportion to what the file really holds, and never
 * trusts a number in it. A damaged place ends the stream (thread) it lies in, not the trace.
 *
 *     struct trace_reader *reader;
 *     struct trace_record record;
 *     if (trace_reader_open(&reader, dirfd, name, &err) < 0) ...
 *     while ((status = trace_reader_next(reader, &record, &err)) > 0) ...
 *     trace_reader_close(reader);
 */
#ifndef SCOPE_TRACE_READER_H
#define SCOPE_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"
#include "schema/mpi_kind.h"
#include "schema/trace_format.h"

struct trace_reader;

enum record_type {
    RECORD_WINDOW,       /* a window begins: .window */
    RECORD_EVENT,        /* .event */
    RECORD_POLLS,        /* .polls; its counts are valid until the next call */
    RECORD_SIGNATURE,    /* a new signature of this stream: .signature_id */
    RECORD_COMMUNICATOR, /* .communicator; its runs are valid until the next call */
    RECORD_SYNC,         /* .sync */
    RECORD_RESOLVE,      /* .message: received */
    RECORD_SENDING,      /* .message: to be sent */
    RECORD_RECEIVING,    /* .message: to be received */
    RECORD_COMPLETION,   /* .completion; valid until the next call */
    RECORD_NAME,         /* .name; valid until the next call */
    RECORD_FAILED,       /* .error_class: the stream's next call (or run of polls) failed */
    RECORD_PAUSE,        /* .pause */
};

struct trace_event {
    uint32_t signature; /* id in the stream: trace_reader_signature tells what it is */
    uint64_t start;     /* ticks */
    uint64_t end;       /* ticks, >= start */
};

/* A run of polls that found nothing, directly one after the other: one event. Where the trace was
 * read while a poll was being counted, the counts may be one poll ahead of the event's end. */
struct trace_poll_run {
    struct trace_event event; /* its signature is what the polls have in common */
    uint32_t first;           /* signature of the first poll */
    size_t count;             /* of signatures, not 0 */
    const struct trace_polled *polled; /* the polls of each, the first one included; the sums of
                                          count, and of busy on top of start, fit an int64_t */
};

struct trace_record {
    enum record_type type;
    uint32_t stream;
    union {
        struct trace_event event;
        struct trace_poll_run polls;
        uint32_t signature_id;
        struct trace_communicator communicator;
        struct trace_sync sync;
        const struct trace_window *window;
        struct trace_message message;
        struct {
            const uint32_t *indices;
            size_t count;
        } completion;
        struct {
            uint32_t communicator; /* id in the process */
            const char *text;      /* without control characters */
        } name;
        int32_t error_class;
        struct {
            bool paused; /* else resumed */
            uint64_t ticks;
        } pause;
    };
};

struct trace_operation {
    enum mpi_kind kind;
    char name[TRACE_NAME_MAX + 1]; /* "isend"; [a-z0-9_]+ is checked */
};

/* Opens dirfd/name (AT_FDCWD works) with O_NOFOLLOW; regular files only.
 * Returns 0 and *reader, to be closed by the caller, or -1 and err, which names the file:
 * not a trace, another byte order, another major version, a header cut off.
 */
int trace_reader_open(struct trace_reader **reader, int dirfd, const char *name, struct error *err);

/* The same for a trace that is a part of the file dirfd/container, the size bytes at offset; name is
 * what messages call it. part NULL: dirfd/name itself. */
struct trace_part {
    const char *container; /* NULL: no part of a file, but one of its own */
    int dirfd;
    uint64_t offset, size;
};

int trace_reader_open_part(struct trace_reader **reader, int dirfd, const char *name,
                           const struct trace_part *part, struct error *err);
void trace_reader_close(struct trace_reader *reader);

/* Valid until close. Strings are terminated whatever the file held. The state is as of open. */
const struct trace_header *trace_reader_header(const struct trace_reader *reader);
const struct trace_state *trace_reader_state(const struct trace_reader *reader);

/* The slots (calls in flight) as of open: an array of trace_reader_header()->slot_count. Signature
 * and start of each belong together; a thread that comes and goes all the time has signature 0. */
const struct trace_slot *trace_reader_slots(const struct trace_reader *reader);

/* Gets the next record: windows in file order, the records of a window in order.
 * Returns 1 and *record, 0 at the end. Returns -1 with err (file, offset, reason) for a damaged
 * place; the caller may go on calling: the rest of that stream is left out, others are read.
 */
int trace_reader_next(struct trace_reader *reader, struct trace_record *record, struct error *err);

/* Takes events that follow one after the other, several times as fast as trace_reader_next would:
 * none of them a run of polls, none beginning before the end of the one before it. Returns how
 * many, up to room, all of *stream. 0: it is trace_reader_next's turn, whatever comes. */
size_t trace_reader_events(struct trace_reader *reader, struct trace_event *events, size_t room,
                           uint32_t *stream);

/* From now on trace_reader_next passes over events, runs of polls and what is told of single calls
 * (RECORD_RESOLVE, _SENDING, _RECEIVING, _COMPLETION, _FAILED), several times as fast: what is left defines something, or
 * tells times. */
void trace_reader_pass_events(struct trace_reader *reader);

/* How a stream ends: what its thread did last, up to now or to its death. */
struct trace_ending {
    bool is_pause;       /* recording pauses since `start` */
    bool is_run;         /* the last of these events is a run of polls */
    uint32_t signature;  /* of the last event, and of those like it directly before */
    uint64_t count;      /* of these events, polls in runs one by one; 0: recording pauses, or went
                            on at `start` and nothing came yet */
    uint64_t start, end; /* ticks, from the first one's start to the last one's end */
};

/* Gets how a stream ends from the last windows of the stream alone: what its signature is is not
 * known yet, and need not be defined anywhere. Polls are followed back for up to 64 windows, other
 * events to the beginning of their window. Returns false if no event can be read. The reader is
 * then where trace_reader_rewind would put it. */
bool trace_reader_ending(struct trace_reader *reader, uint32_t stream, struct trace_ending *ending);

/* Back to the first window, so that a second pass can be made. Definitions are read again. */
void trace_reader_rewind(struct trace_reader *reader);

/* The signature with this id in stream, or NULL if it has not been read yet. Valid until the next
 * call of trace_reader_next or _rewind. Its operation and origin are ids in the same stream. */
const struct trace_signature *trace_reader_signature(const struct trace_reader *reader,
                                                     uint32_t stream, uint32_t id);
const struct trace_operation *trace_reader_operation(const struct trace_reader *reader,
                                                     uint32_t stream, uint32_t id);

/* Of the call with this signature: how many receives there were among the requests that it finished
 * or started; -1: not told, one at most. And the rank from which one that also sends receives, if
 * the tag is that of the send; else PEER_NONE. The signature's own root is PEER_NONE for both. */
int32_t trace_reader_received(const struct trace_reader *reader, uint32_t stream, uint32_t id);
int32_t trace_reader_source(const struct trace_reader *reader, uint32_t stream, uint32_t id);

/* The name of the operation that made the request a signature waits for; "unknown", "mixed"; NULL
 * for a call that waits for none. Valid as long as the signature. */
const char *trace_reader_origin(const struct trace_reader *reader, uint32_t stream,
                                const struct trace_signature *signature);

/* A call that was counted where the trace had no more room for events. */
struct trace_unrecorded {
    struct trace_operation operation;
    struct trace_operation origin; /* name "" for a call that waits for no request; "unknown" or
                                      "mixed" as of trace_reader_origin */
    int64_t bytes;
    int32_t peer, root, tag, communicator; /* as in struct trace_signature */
    uint64_t count;
    uint64_t ticks; /* in all of them */
};

/* How many kinds of such calls there are, and the one with this number: false if it is damaged. */
uint32_t trace_reader_unrecorded_count(struct trace_reader *reader);
bool trace_reader_unrecorded(struct trace_reader *reader, uint32_t number,
                             struct trace_unrecorded *unrecorded);

/* Goes to the next area of the file, from *offset on, which is that of the one in *area; 0: to the
 * first. Its entries lie within its size. Independent of trace_reader_next. False: there is no
 * more. */
bool trace_reader_area(struct trace_reader *reader, uint64_t *offset, struct trace_area *area);

/* Whether the size bytes at name hold a terminated name of an operation. */
bool trace_reader_is_name(const char *name, size_t size);

/* Reads up to size bytes of the file as they are now; how many there were. */
size_t trace_reader_read(struct trace_reader *reader, void *data, size_t size, uint64_t offset);

/* Numbers of streams seen so far, and of bytes read from the file. */
uint32_t trace_reader_stream_count(const struct trace_reader *reader);
uint64_t trace_reader_bytes(const struct trace_reader *reader);

#endif
