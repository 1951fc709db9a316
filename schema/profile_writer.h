/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a profile file: HDF5 in schema 3 of the Python package scope-profiler, or in schema 2.
 *
 *     struct profile_writer *writer;
 *     profile_writer_create(&writer, path, &form, &err)
 *     profile_writer_set_*(writer, ...)                metadata
 *     profile_writer_reserve(writer, events, lanes)    room for all events, known beforehand
 *     profile_writer_batch(writer, end)                which of them come now, if compressed
 *     profile_writer_put(writer, first, ...)           slices of it, in any order
 *     profile_writer_pack, profile_writer_keep         each chunk of it, if compressed
 *     profile_writer_index(writer, ...)                what the slices are
 *     profile_writer_ranks, _communicators, ...        our own groups
 *     profile_writer_close(writer, &err)               on disk, or an error
 *
 * Text that is no UTF-8 is stored with '?' in place of the offending bytes, since the package
 * could not print it. All functions that return int return 0, or -1 and err.
 */
#ifndef SCOPE_PROFILE_WRITER_H
#define SCOPE_PROFILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"
#include "schema/profile_row.h"

struct profile_writer;
struct profile_likwid;

/* A chunk of events, compressed. */
struct profile_packed {
    struct profile_packed_column {
        void *data;
        size_t size;
        uint32_t skipped; /* filters of HDF5 that were not applied, a bit for each */
    } columns[3];
};

/* What is known of one rank's trace: a row of /scope_profile/ranks. */
struct profile_rank {
    uint32_t rank;
    const char *state; /* "complete", ... */
    const char *host, *node;
    int32_t pid;
    uint32_t threads; /* that called MPI */
    uint64_t events, dropped, trace_bytes;
    int64_t last_ns;         /* last sign of life on the timeline of the file; -1 unknown */
    const char *end;         /* how it ended: "normal", ... */
    int32_t end_status;      /* as waitpid(2) has it; -1 unknown */
    int64_t end_ns;          /* when; -1 unknown */
    const char *in_flight;   /* the calls it did not come back from, in words */
    const char *outstanding; /* the requests it had not got back, in words */
    int64_t clock_offset_ns; /* what was added to the rank's CLOCK_MONOTONIC */
};

/* One host's clock: a row of /scope_profile/hosts. */
struct profile_host {
    const char *name;
    uint32_t ranks;
    int64_t offset_ns; /* of its CLOCK_MONOTONIC to the first host's, without messages */
    int64_t first_correction_ns, last_correction_ns; /* that messages asked for in addition, at the
                                                        beginning and at the end */
    int64_t half_width_ns; /* within which the messages leave its clock, at best; -1: unknown */
    uint64_t messages;     /* to and from other hosts that were compared */
};

/* One communicator: a row of /scope_profile/communicators. */
struct profile_communicator {
    int64_t id; /* job-wide */
    uint64_t key;
    const char *kind; /* "intra", "inter" */
    int64_t parent;   /* job-wide id; -1 none or unknown */
    const char *name; /* that the program gave it */
    uint32_t size;
    const char *members;        /* world ranks, "0-3,8-14:2" */
    uint32_t remote_size;       /* of an intercommunicator's other group; 0: not known */
    const char *remote_members; /* likewise; NULL: not known */
};

/* What one rank calls a communicator: a row of /scope_profile/communicator_handles. */
struct profile_handle {
    int64_t id; /* job-wide; -1: could not be told */
    uint32_t rank;
    uint32_t local_id;
    uint32_t local_rank; /* of this rank in the communicator */
    uint64_t handle;     /* of Fortran */
};

/* One thread that called MPI: a row of /thread_table. */
struct profile_thread {
    uint32_t rank;
    uint32_t index; /* what the lanes of profile_writer_put mean */
    int32_t thread_id;
    int64_t start_ns, end_ns;
};

enum { PROFILE_SCHEMA = 3, PROFILE_SCHEMA_OLD = 2, PROFILE_COMPRESS_AUTO = -1 };

/* What a file is to be like. */
struct profile_form {
    int schema;        /* PROFILE_SCHEMA; PROFILE_SCHEMA_OLD: what older readers know */
    int compress;      /* level of deflate; 0: not at all; PROFILE_COMPRESS_AUTO: as the package */
    bool is_aggregate; /* statistics alone: nothing is reserved, and no event is put */
    uint64_t memory;   /* bytes of events that may wait to be compressed */
};

/* Makes a new file; one that is there already is an error. form: NULL for schema 3, as it is. */
int profile_writer_create(struct profile_writer **writer, const char *path,
                          const struct profile_form *form, struct error *err);

/* Attributes of /metadata. A NULL value is left out; a long one is cut at 60000 bytes. A list is
 * cut where it would no longer fit an attribute (64 KiB). */
int profile_writer_set_text(struct profile_writer *writer, const char *name, const char *value,
                            struct error *err);
int profile_writer_set_number(struct profile_writer *writer, const char *name, int64_t value,
                              struct error *err);
int profile_writer_set_list(struct profile_writer *writer, const char *name,
                            const char *const *values, size_t count, struct error *err);

/* Makes the event columns with room for events; once per file. */
int profile_writer_reserve(struct profile_writer *writer, uint64_t events, bool lanes,
                           struct error *err);

/* Events that are to be compressed come batch by batch, in their order. The event up to which a
 * batch that begins where the last one ended stays in memory; UINT64_MAX if nothing is compressed.
 */
uint64_t profile_writer_batch_limit(const struct profile_writer *writer);
/* Begins the next batch, which ends before event number end. One that does not stay in memory waits
 * in a file without a name beside the profile. */
int profile_writer_batch(struct profile_writer *writer, uint64_t end, struct error *err);
/* Chunks to be packed once all events of the batch are put; 0 if nothing is compressed. */
uint64_t profile_writer_chunks(const struct profile_writer *writer);
/* Events of a chunk. */
uint64_t profile_writer_chunk_events(const struct profile_writer *writer);
/* Compresses a chunk of the batch; different ones may be at once. profile_writer_keep, or
 * profile_writer_drop where that is not wanted any more, frees its memory. */
int profile_writer_pack(struct profile_writer *writer, uint64_t chunk,
                        struct profile_packed *packed, struct error *err);
/* Writes a packed chunk; one after the other. */
int profile_writer_keep(struct profile_writer *writer, uint64_t chunk,
                        struct profile_packed *packed, struct error *err);
void profile_writer_drop(struct profile_packed *packed);
/* Bytes that the events kept so far take in the file. */
uint64_t profile_writer_event_bytes(const struct profile_writer *writer);

/* Writes count events from number first on; lane is ignored if lanes were not reserved. In schema 3
 * a start is relative to the previous one of its row, absolute for the first, and with it stands
 * the duration; in schema 2 both times are absolute, start and end. Threads may write different
 * slices at once. */
int profile_writer_put(struct profile_writer *writer, uint64_t first, size_t count,
                       const int64_t *starts, const int64_t *durations, const int64_t *lanes,
                       struct error *err);
/* Reads back what was put; of a batch until it is packed. */
int profile_writer_get(struct profile_writer *writer, uint64_t first, size_t count, int64_t *starts,
                       int64_t *durations, int64_t *lanes, struct error *err);

/* Writes the names of all regions (each used by a row at least) and the rows. */
int profile_writer_index(struct profile_writer *writer, const char *const *names, size_t name_count,
                         const struct profile_row *rows, size_t row_count, struct error *err);

int profile_writer_ranks(struct profile_writer *writer, const struct profile_rank *ranks,
                         size_t count, struct error *err);
int profile_writer_hosts(struct profile_writer *writer, const struct profile_host *hosts,
                         size_t count, struct error *err);
int profile_writer_communicators(struct profile_writer *writer,
                                 const struct profile_communicator *communicators, size_t count,
                                 const struct profile_handle *handles, size_t handle_count,
                                 struct error *err);
int profile_writer_threads(struct profile_writer *writer, const struct profile_thread *threads,
                           size_t count, struct error *err);

int profile_writer_polls(struct profile_writer *writer, const struct profile_counted *polls,
                         size_t count, struct error *err);
int profile_writer_unrecorded(struct profile_writer *writer, const struct profile_counted *calls,
                              size_t count, struct error *err);
int profile_writer_failed(struct profile_writer *writer, const struct profile_failed *failed,
                          size_t count, struct error *err);
int profile_writer_outstanding(struct profile_writer *writer,
                               const struct profile_outstanding *outstanding, size_t count,
                               struct error *err);
int profile_writer_pauses(struct profile_writer *writer, const struct profile_pause *pauses,
                          size_t count, struct error *err);

/* What LIKWID counted in a rank (profile_likwid.h); once for a rank. */
int profile_writer_likwid(struct profile_writer *writer, const struct profile_likwid *likwid,
                          struct error *err);

/* Closes and frees in any case; 0 only if everything is on disk (fsync). */
int profile_writer_close(struct profile_writer *writer, struct error *err);
/* Closes and frees; the file's content does not matter any more. */
void profile_writer_discard(struct profile_writer *writer);

#endif
