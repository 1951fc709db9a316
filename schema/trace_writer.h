/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes one rank's trace so that it is valid at every instant, also when the rank is killed.
 *
 * Windows of the file are mapped and records are stored straight into them: no buffer is lost with
 * the process. Where a mapping is not safe (see trace_writer_create) windows are plain memory that
 * is written out when full. The commit rule: payload first, then the tag's later bytes, last the
 * tag's first byte with a release store; until then the zero byte there ends the window.
 *
 * A writer belongs to a process, a stream to one thread of it. Nothing here prints, and only the
 * functions that say so call the system.
 */
#ifndef SCOPE_TRACE_WRITER_H
#define SCOPE_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "schema/error.h"
#include "schema/lock.h"
#include "schema/mpi_kind.h"
#include "schema/trace_format.h"
#include "schema/varint.h"

struct trace_writer {
    int fd;
    dev_t device; /* with the inode, what tells whether the descriptor is still the trace's */
    ino_t inode;
    bool mapped;         /* windows are mappings of the file; else they are written when full */
    uint64_t size_limit; /* bytes this trace may grow to */
    uint64_t file_size;  /* reserved so far */
    uint64_t area_size;  /* of that, areas */
    uint64_t hole_size;  /* of that, given back where it was not the file's end */
    lock_t lock;         /* over sizes, streams, their slots and the state page's sync point */
    uint32_t stream_count;
    bool slot_is_free[TRACE_SLOTS]; /* its stream is closed */
    struct trace_header *header; /* TRACE_FIXED_SIZE bytes: this and the next three */
    struct trace_state *state;
    struct trace_slot *slots;
    struct trace_statistics *statistics;
    void (*read_clocks)(struct trace_sync *sync);
};

/* Different signatures that a run of polls tells apart. */
enum { TRACE_RUN_SIGNATURES = 24 };

/* The run of polls at the end of a stream, as long as nothing else is written. */
struct trace_run {
    unsigned char *at;      /* the stream's cursor behind the latest poll; NULL: no run */
    unsigned char *polls;   /* struct trace_polls in the window; NULL: one poll so far, an event */
    uint64_t first_busy;    /* ticks of that poll */
    uint32_t count;         /* of signatures */
    uint32_t latest;        /* which one came last: most runs have one, or take turns */
    struct {
        uint32_t signature;
        unsigned char *polled; /* struct trace_polled in the window */
    } of[TRACE_RUN_SIGNATURES];
};

/* Windows grow up to this: what is done for one at a time stalls a call for as long as that
 * takes. */
enum { TRACE_WINDOW_LARGEST = 256 * 1024 };

/* A window that nothing was written to yet. */
struct trace_next {
    unsigned char *memory; /* NULL: there is none */
    uint64_t offset;       /* in the file */
    uint32_t size;
};

/* What one thread writes to. The first cache line is all that an event touches. */
struct trace_stream {
    unsigned char *cursor;    /* where the next record goes */
    unsigned char *end;       /* no record may begin at or behind before room was made */
    uint64_t previous_end;    /* ticks: what the next gap counts from */
    struct trace_slot *slot;  /* the call in flight */
    unsigned char *announced; /* behind the gap that trace_stream_announce wrote; NULL: none */
    struct trace_writer *writer;
    unsigned char *window;  /* start of the current window; NULL before the first */
    uint64_t window_offset; /* in the file */
    uint32_t window_size;
    unsigned char *limit;   /* no record may begin at or behind; = cursor once stopped */
    struct trace_next next; /* prepared before the current window is full */
    uint32_t next_size;     /* of the window to come */
    int32_t thread_id;
    uint32_t number;
    uint32_t window_count;
    uint32_t signature_count;
    uint32_t operation_count;
    struct trace_run run;
    struct trace_slot no_slot; /* for threads beyond TRACE_SLOTS */
} __attribute__((aligned(64)));

/* Creates dirfd/name (O_EXCL, 0644 under the umask, for who can write to it could steer the rank)
 * and its fixed pages, identity's strings and numbers included; magic, version, sizes and offsets are
 * filled in here.
 * Windows are mapped where space can be reserved and local file systems keep mappings safe (ext4,
 * xfs, tmpfs); else written when full. read_clocks is called whenever a sync point is
 * wanted. Returns 0; -1 with errno of the failed call and err: EEXIST if the name is taken.
 */
int trace_writer_create(struct trace_writer *writer, int dirfd, const char *name,
                        const struct trace_header *identity, uint64_t size_limit,
                        void (*read_clocks)(struct trace_sync *sync), struct error *err);

/* Takes a sync point into the state page. */
void trace_writer_sync(struct trace_writer *writer, const struct trace_sync *sync);

/* Marks how far the rank has come; ticks goes into init_end or finalize_start. */
void trace_writer_initialised(struct trace_writer *writer, uint64_t ticks);
void trace_writer_finalised(struct trace_writer *writer, uint64_t ticks);

/* Writes the fixed pages, marks the trace closed and closes the file. Streams that are still open
 * stay valid memory, for a thread may be in its last call, but get no further window. */
void trace_writer_close(struct trace_writer *writer);

/* Closes the descriptor without touching the file: what a killed process leaves. */
void trace_writer_abandon(struct trace_writer *writer);

/* In the child of fork(): what the caller still writes, who may be in the middle of a call, goes to
 * memory of its own. stream: of the thread that called fork(), or NULL. */
void trace_writer_forked(struct trace_writer *writer, struct trace_stream *stream);

/* Takes area->size bytes of the file, TRACE_ALIGN to TRACE_AREA_LARGEST, for an area and fills in
 * its header. Returns the memory, zeroed behind the header, which stays valid for good, or NULL:
 * the trace is not mapped, or closed, or has no room; areas get a quarter of what it may grow to.
 * The trace then says that some requests are in no area, if they were to be. Takes the writer's lock. errno is kept. */
void *trace_writer_area(struct trace_writer *writer, const struct trace_area *area);

/* Sets up a stream of the calling thread; its first event's gap counts from ticks. A stream that
 * finds no room counts what it drops, like any other. */
void trace_stream_open(struct trace_stream *stream, struct trace_writer *writer, uint64_t ticks);

/* Writes out what a stream holds in memory; without effect on a mapped trace. */
void trace_stream_flush(struct trace_stream *stream);

/* Releases the stream's window. Its records stay. */
void trace_stream_close(struct trace_stream *stream);

/* Opens the next window for at least need bytes of records. Returns false when the trace has
 * stopped, by now or before: the caller's record is dropped. */
bool trace_stream_turn(struct trace_stream *stream, size_t need);

/* Defines what later records refer to, and returns its id. When the trace has stopped an id is given all
 * the same: calls are told apart by it, though no record ever will be. */
uint32_t trace_stream_operation(struct trace_stream *stream, enum mpi_kind kind, const char *name);
uint32_t trace_stream_signature(struct trace_stream *stream, const struct trace_signature *s);
void trace_stream_communicator(struct trace_stream *stream, const struct trace_communicator *c);

/* Writes the name that the program gave a communicator, cut at TRACE_NAME_MAX bytes; the last one
 * in the trace holds. */
void trace_stream_name(struct trace_stream *stream, uint32_t communicator, const char *name);

/* Writes a sync point into the stream and the state page. */
void trace_stream_sync(struct trace_stream *stream);

/* Takes a sync point into the state page alone. Both write out the fixed pages of a trace that is
 * not mapped. */
void trace_stream_sync_state(struct trace_stream *stream);

/* Writes what a wildcard receive that the next event finishes really got. */
void trace_stream_resolve(struct trace_stream *stream, const struct trace_message *message);

/* Writes a persistent send or receive that the next event starts. */
void trace_stream_started(struct trace_stream *stream, bool is_send,
                          const struct trace_message *message);

/* Says that the call of the next event returned an error of this class. */
void trace_stream_failed(struct trace_stream *stream, int error_class);

/* Says that recording pauses or goes on at ticks. */
void trace_stream_pause(struct trace_stream *stream, bool paused, uint64_t ticks);

/* Writes which requests of its array the call that ends next finished. */
void trace_stream_completion(struct trace_stream *stream, const int *indices, size_t count);

/* Called after every store that matters for the commit rule; tests stop the writer there. */
#ifndef TRACE_STORED
#define TRACE_STORED() ((void)0)
#endif

/* Stores tag (below 2^33) at p, whose first byte is zero: the payload behind it becomes a record.
 */
static inline void trace_commit(unsigned char *p, uint64_t tag)
{
    unsigned extra = varint_extra(tag);
    uint64_t word = varint_word(tag, extra);
    for (unsigned i = extra; i > 0; i--) {
        p[i] = (unsigned char)(word >> 8 * i);
        TRACE_STORED();
    }
    __atomic_store_n(p, (unsigned char)word, __ATOMIC_RELEASE);
    TRACE_STORED();
}

/* Writes the event of a call that has ended; false if it was dropped, for lack of room. errno is kept.
 */
bool trace_stream_event(struct trace_stream *stream, uint32_t signature, uint64_t start,
                        uint64_t end);

/* True if a poll that starts now can be added to the run at the stream's end. */
static inline bool trace_run_goes_on(const struct trace_stream *stream)
{
    return stream->run.at == stream->cursor && stream->run.at;
}

/* Counts a poll that found nothing in the run at the stream's end, in place. Returns false if there
 * is no run, or it has no poll of this signature yet. */
bool trace_run_count(struct trace_stream *stream, uint32_t signature, uint64_t start, uint64_t end);

/* Adds a signature's first poll to the run at the stream's end, which then is, as a whole, of
 * signature `common`. Returns false if the run has no place for it, or no record has. */
bool trace_run_join(struct trace_stream *stream, uint32_t signature, uint32_t common,
                    uint64_t start, uint64_t end);

/* Writes the event of a poll that found nothing: a run of its own so far. False as of
 * trace_stream_event. */
bool trace_run_begin(struct trace_stream *stream, uint32_t signature, uint64_t start, uint64_t end);

/* trace_stream_event in two steps, for the path that counts: what is known of the event when the call
 * begins is written then, uncommitted, while the processor waits for nothing. */
static inline __attribute__((always_inline)) void
trace_stream_announce(struct trace_stream *stream, uint32_t signature, uint64_t start)
{
    unsigned char *p = stream->cursor;
    uint64_t gap = start - stream->previous_end; /* a negative one shows as huge */
    stream->announced = NULL;
    if (__builtin_expect(p < stream->end && gap >> 56 == 0 && signature < 128 - TRACE_TAG_EVENT,
                         1)) {
        stream->announced = varint_put_short(p + 1, gap);
        TRACE_STORED();
    }
}

/* Finishes the event that was announced with the same signature and start, or writes it anew where
 * that was not possible or others were written since. False as of trace_stream_event. */
static inline __attribute__((always_inline)) bool
trace_stream_finish(struct trace_stream *stream, uint32_t signature, uint64_t start, uint64_t end)
{
    unsigned char *p = stream->cursor, *q = stream->announced;
    if (__builtin_expect(q == NULL || (end - start) >> 56 != 0, 0)) {
        return trace_stream_event(stream, signature, start, end);
    }
    stream->cursor = varint_put_short(q, end - start);
    TRACE_STORED();
    __atomic_store_n(p, (unsigned char)varint_word(signature + TRACE_TAG_EVENT, 0),
                     __ATOMIC_RELEASE);
    TRACE_STORED();
    stream->previous_end = end;
    return true;
}

/* Shows whoever looks which call is in flight: its signature's id + 1, or 0 for none, and its start
 * in ticks. The start is stored first: a reader that finds the same signature before and after it
 * has both. */
static inline void trace_slot_show(struct trace_slot *slot, uint32_t signature, uint64_t start)
{
    __atomic_store_n(&slot->start, start, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->signature, signature, __ATOMIC_RELEASE);
}

/* Shows which requests the call in flight, which began at start, is to complete. */
static inline void trace_slot_show_requests(struct trace_slot *slot, const void *array, size_t size,
                                            uint64_t start)
{
    slot->array = (uintptr_t)array;
    slot->array_size = size;
    __atomic_store_n(&slot->array_start, start, __ATOMIC_RELEASE);
}

/* Shows that no call is in flight since ticks. In the other order: a reader between both stores finds
 * no call, which is right, and a time that is a little too early. */
static inline void trace_slot_clear(struct trace_slot *slot, uint64_t ticks)
{
    __atomic_store_n(&slot->signature, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->start, ticks, __ATOMIC_RELEASE);
}

#endif
