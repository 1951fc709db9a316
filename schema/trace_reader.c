/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads one rank's trace, also one that is cut off, damaged, hostile or still being written. */
#define _GNU_SOURCE
#include "schema/trace_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/regular_file.h"
#include "schema/varint.h"

enum { NAME_SIZE = 256 };
enum { STREAMS_MAX = 65536 };
enum { MEMBERS_MAX = 1 << 26 }; /* ranks of a communicator that a definition may claim */
enum { SLOT_TRIES = 100 };
enum { ENDING_WINDOWS = 64 }; /* looked through for where the polls at the end begin */

/* What trace_reader_next makes of a window. */
enum reading {
    READ_ALL,
    READ_DEFINITIONS, /* passes over events and what is told of single calls */
    READ_EVENTS,      /* without definitions: an event may be of any signature */
};

struct known_signature {
    struct trace_signature is; /* its root is one */
    int32_t no_root;           /* what stands there if the call has none; else -1 */
};

struct stream {
    bool damaged;
    uint32_t windows; /* read so far: the next must have this sequence */
    uint64_t previous_end;
    struct known_signature *signatures;
    size_t signature_count, signature_room;
    struct trace_operation *operations;
    size_t operation_count, operation_room;
};

struct trace_reader {
    int fd;
    char name[NAME_SIZE];
    uint64_t size; /* of the file as of open */
    bool is_part;  /* of a file, whose other bytes are not ours */
    uint64_t start; /* of the trace in the file */
    uint64_t bytes_read;
    bool end_checked;
    enum reading reading;
    struct trace_header header;
    struct trace_state state;
    struct trace_slot slots[TRACE_SLOTS];

    struct stream *streams;
    size_t stream_count, stream_room;

    uint64_t next_window;  /* offset */
    unsigned char *buffer; /* the current window */
    size_t buffer_room;
    struct trace_window window;
    uint64_t window_offset;
    const unsigned char *cursor, *end; /* in buffer; NULL between windows */

    struct trace_rank_run *runs; /* of the communicator returned last */
    size_t run_room;
    uint32_t *indices; /* of the completion returned last */
    size_t index_room;
    struct trace_polled *polled; /* of the run of polls returned last */
    size_t polled_room;
    char given_name[TRACE_NAME_MAX + 1]; /* of the communicator named last */
};

/* Makes room for one more element; false when memory is out. */
static bool grow(void *array, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return true;
    size_t new_room = *room ? *room * 2 : 16;
    void *memory;
    memcpy(&memory, array, sizeof memory);
    memory = realloc(memory, new_room * size);
    if (!memory)
        return false;
    memcpy(array, &memory, sizeof memory);
    *room = new_room;
    return true;
}

/* Reads up to size bytes at offset; what is there, or -1. */
static ssize_t read_at(struct trace_reader *reader, void *data, size_t size, uint64_t offset)
{
    size_t done = 0;
    if (reader->is_part) {
        uint64_t left = offset < reader->size ? reader->size - offset : 0;
        size = left < size ? (size_t)left : size;
        offset += reader->start;
    }
    while (done < size) {
        ssize_t n = pread(reader->fd, (char *)data + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    reader->bytes_read += done;
    return (ssize_t)done;
}

static void terminate_strings(struct trace_header *header)
{
    header->job[sizeof header->job - 1] = '\0';
    header->world[sizeof header->world - 1] = '\0';
    header->node[sizeof header->node - 1] = '\0';
    header->host[sizeof header->host - 1] = '\0';
    header->host_key[sizeof header->host_key - 1] = '\0';
    header->mpi_version[sizeof header->mpi_version - 1] = '\0';
}

static int check_header(struct trace_reader *reader, ssize_t size, struct error *err)
{
    struct trace_header *h = &reader->header;
    const char *name = reader->name;

    if (size < (ssize_t)sizeof h->magic || memcmp(h->magic, TRACE_MAGIC, sizeof h->magic) != 0)
        return error_set(err, "%s: not a rank trace", name);
    if (size < (ssize_t)offsetof(struct trace_header, header_size))
        return error_set(err, "%s: cut off in its header", name);
    if (h->byte_order != TRACE_BYTE_ORDER)
        return error_set(err, "%s: written on a machine of another byte order", name);
    if (h->major != TRACE_MAJOR)
        return error_set(err, "%s: trace format %u, this program reads %u", name, h->major,
                         TRACE_MAJOR);
    if (size < (ssize_t)sizeof *h || h->header_size < sizeof *h)
        return error_set(err, "%s: cut off in its header", name);
    if (h->state_offset < h->header_size ||
        h->slot_offset < h->state_offset + sizeof reader->state || h->slot_count > TRACE_SLOTS ||
        h->statistics_offset < h->slot_offset + h->slot_count * sizeof *reader->slots ||
        h->window_offset < h->statistics_offset + (uint64_t)TRACE_STATISTICS_SIZE ||
        h->window_offset > 1 << 30)
        return error_set(err, "%s: offset %zu: parts of the trace overlap", name,
                         offsetof(struct trace_header, state_offset));
    if (h->world_size == 0 || h->rank >= h->world_size || h->world_size > MEMBERS_MAX)
        return error_set(err, "%s: offset %zu: rank %u of %u ranks", name,
                         offsetof(struct trace_header, rank), h->rank, h->world_size);
    if (h->clock_source > CLOCK_SOURCE_CNTVCT || h->clock_shift > 16)
        return error_set(err, "%s: offset %zu: unknown clock", name,
                         offsetof(struct trace_header, clock_source));
    terminate_strings(h);
    return 0;
}

/* The state changes while the rank lives: tries for a last_sync that is not half written. */
static int read_state(struct trace_reader *reader, struct error *err)
{
    for (int tries = 0; tries < 100; tries++) {
        uint32_t sequence;
        uint64_t offset = reader->header.state_offset;
        if (read_at(reader, &reader->state, sizeof reader->state, offset) !=
            (ssize_t)sizeof reader->state)
            return error_set(err, "%s: cut off in its state page", reader->name);
        if (read_at(reader, &sequence, sizeof sequence,
                    offset + offsetof(struct trace_state, sync_sequence)) == sizeof sequence &&
            sequence == reader->state.sync_sequence && sequence % 2 == 0)
            return 0;
    }
    /* Stopped in the middle of an update: the first sync point is whole. */
    reader->state.last_sync = reader->header.first_sync;
    return 0;
}

static bool is_same_call(const struct trace_slot *x, const struct trace_slot *y)
{
    return x->signature == y->signature && x->start == y->start;
}

/* The slots change while the rank lives, and what is read of one may be of two calls. That is no state
 * a writer leaves, so reading it three times tells: between two looks at a signature alone another
 * call of the same one may have begun. One that does not come to rest counts as outside. */
static int read_slots(struct trace_reader *reader, struct error *err)
{
    struct trace_slot reads[3][TRACE_SLOTS];
    bool settled[TRACE_SLOTS] = {false};
    uint32_t count = reader->header.slot_count, left = count;
    size_t size = count * sizeof *reader->slots;

    for (int tries = 0; left > 0 && tries < SLOT_TRIES; tries++) {
        for (int i = 0; i < 3; i++) {
            if (read_at(reader, reads[i], size, reader->header.slot_offset) != (ssize_t)size)
                return error_set(err, "%s: cut off in its slots", reader->name);
        }
        left = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (settled[i])
                continue;
            reader->slots[i] = reads[1][i];
            settled[i] = is_same_call(&reads[0][i], &reads[1][i]) &&
                         is_same_call(&reads[1][i], &reads[2][i]);
            reader->slots[i].signature = settled[i] ? reads[0][i].signature : 0;
            left += !settled[i];
        }
    }
    return 0;
}

/* Opens what holds the trace. Returns a descriptor, or -1 and err. */
static int open_file(int dirfd, const char *name, const struct trace_part *part, int64_t *size,
                     struct error *err)
{
    struct error problem;
    if (!part || !part->container)
        return regular_file_open(dirfd, name, size, err);
    int fd = regular_file_open(part->dirfd, part->container, size, &problem);
    if (fd < 0)
        return error_set(err, "%s: in %s", name, problem.text);
    if (part->offset > (uint64_t)*size || part->size > (uint64_t)*size - part->offset) {
        close(fd);
        return error_set(err, "%s: %s is shorter than before", name, part->container);
    }
    return fd;
}

int trace_reader_open(struct trace_reader **result, int dirfd, const char *name, struct error *err)
{
    return trace_reader_open_part(result, dirfd, name, NULL, err);
}

int trace_reader_open_part(struct trace_reader **result, int dirfd, const char *name,
                           const struct trace_part *part, struct error *err)
{
    int64_t size;
    int fd = open_file(dirfd, name, part, &size, err);
    if (fd < 0)
        return -1;
    struct trace_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        close(fd);
        return error_set(err, "%s: out of memory", name);
    }
    reader->fd = fd;
    reader->size = (uint64_t)size;
    if (part && part->container) {
        reader->is_part = true;
        reader->start = part->offset;
        reader->size = part->size;
    }
    strncpy(reader->name, name, sizeof reader->name - 1);

    ssize_t n = read_at(reader, &reader->header, sizeof reader->header, 0);
    if (n < 0) {
        error_set(err, "%s: cannot read: %s", name, strerror(errno));
        goto fail;
    }
    if (check_header(reader, n, err) < 0 || read_state(reader, err) < 0 ||
        read_slots(reader, err) < 0)
        goto fail;
    reader->next_window = reader->header.window_offset;
    *result = reader;
    return 0;

fail:
    trace_reader_close(reader);
    return -1;
}

static void forget_streams(struct trace_reader *reader)
{
    for (size_t i = 0; i < reader->stream_count; i++) {
        free(reader->streams[i].signatures);
        free(reader->streams[i].operations);
    }
    reader->stream_count = 0;
}

void trace_reader_close(struct trace_reader *reader)
{
    if (!reader)
        return;
    forget_streams(reader);
    free(reader->streams);
    free(reader->buffer);
    free(reader->runs);
    free(reader->indices);
    free(reader->polled);
    close(reader->fd);
    free(reader);
}

void trace_reader_rewind(struct trace_reader *reader)
{
    forget_streams(reader);
    reader->next_window = reader->header.window_offset;
    reader->cursor = reader->end = NULL;
    reader->end_checked = false;
}

const struct trace_header *trace_reader_header(const struct trace_reader *reader)
{
    return &reader->header;
}

const struct trace_state *trace_reader_state(const struct trace_reader *reader)
{
    return &reader->state;
}

const struct trace_slot *trace_reader_slots(const struct trace_reader *reader)
{
    return reader->slots;
}

uint32_t trace_reader_stream_count(const struct trace_reader *reader)
{
    return (uint32_t)reader->stream_count;
}

uint64_t trace_reader_bytes(const struct trace_reader *reader)
{
    return reader->bytes_read;
}

const struct trace_signature *trace_reader_signature(const struct trace_reader *reader,
                                                     uint32_t stream, uint32_t id)
{
    if (stream >= reader->stream_count || id >= reader->streams[stream].signature_count)
        return NULL;
    return &reader->streams[stream].signatures[id].is;
}

/* What stands in place of a root; -1 also where the signature is not known. */
static int32_t no_root(const struct trace_reader *reader, uint32_t stream, uint32_t id)
{
    return trace_reader_signature(reader, stream, id)
               ? reader->streams[stream].signatures[id].no_root
               : -1;
}

int32_t trace_reader_received(const struct trace_reader *reader, uint32_t stream, uint32_t id)
{
    const struct trace_signature *signature = trace_reader_signature(reader, stream, id);
    return signature && signature->origin != ORIGIN_NONE ? no_root(reader, stream, id) : -1;
}

int32_t trace_reader_source(const struct trace_reader *reader, uint32_t stream, uint32_t id)
{
    const struct trace_signature *signature = trace_reader_signature(reader, stream, id);
    return signature && signature->origin == ORIGIN_NONE ? no_root(reader, stream, id) : PEER_NONE;
}

const struct trace_operation *trace_reader_operation(const struct trace_reader *reader,
                                                     uint32_t stream, uint32_t id)
{
    if (stream >= reader->stream_count || id >= reader->streams[stream].operation_count)
        return NULL;
    return &reader->streams[stream].operations[id];
}

const char *trace_reader_origin(const struct trace_reader *reader, uint32_t stream,
                                const struct trace_signature *signature)
{
    if (signature->origin == ORIGIN_NONE)
        return NULL;
    if (signature->origin == ORIGIN_MIXED)
        return "mixed";
    const struct trace_operation *operation =
        signature->origin == ORIGIN_UNKNOWN
            ? NULL
            : trace_reader_operation(reader, stream, signature->origin - 1);
    return operation ? operation->name : "unknown";
}

static bool name_is_good(const unsigned char *name, size_t length)
{
    if (length == 0 || length > TRACE_NAME_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        bool good = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') ||
                    name[i] == '_';
        if (!good)
            return false;
    }
    return true;
}

bool trace_reader_is_name(const char *name, size_t size)
{
    size_t length = strnlen(name, size);
    return length < size && name_is_good((const unsigned char *)name, length);
}

static uint64_t statistics_offset(const struct trace_reader *reader, size_t member, size_t size,
                                  uint32_t number)
{
    return reader->header.statistics_offset + member + (uint64_t)number * size;
}

uint32_t trace_reader_unrecorded_count(struct trace_reader *reader)
{
    const uint32_t most = sizeof((struct trace_statistics *)0)->counted / sizeof(struct trace_counted);
    uint32_t count = 0;
    if (read_at(reader, &count, sizeof count,
                statistics_offset(reader, offsetof(struct trace_statistics, counted_count), 0, 0)) !=
        sizeof count)
        return 0;
    return count < most ? count : most;
}

static bool read_counted_operation(struct trace_reader *reader, uint32_t number,
                                   struct trace_operation *operation)
{
    struct trace_counted_operation counted;
    if (number >= TRACE_COUNTED_OPERATIONS ||
        read_at(reader, &counted, sizeof counted,
                statistics_offset(reader, offsetof(struct trace_statistics, operations),
                                  sizeof counted, number)) != sizeof counted)
        return false;
    size_t length = strnlen(counted.name, sizeof counted.name);
    if (counted.kind >= KIND_COUNT || !name_is_good((const unsigned char *)counted.name, length))
        return false;
    operation->kind = counted.kind;
    memcpy(operation->name, counted.name, length);
    operation->name[length] = '\0';
    return true;
}

/* Whether the call has a root, and nothing else of a signature in its place. */
static bool has_root(uint64_t origin, const char *operation)
{
    return origin == ORIGIN_NONE && !strstr(operation, "sendrecv");
}

bool trace_reader_unrecorded(struct trace_reader *reader, uint32_t number,
                             struct trace_unrecorded *unrecorded)
{
    struct trace_counted counted;
    if (read_at(reader, &counted, sizeof counted,
                statistics_offset(reader, offsetof(struct trace_statistics, counted),
                                  sizeof counted, number)) != sizeof counted)
        return false;
    *unrecorded = (struct trace_unrecorded){
        .bytes = counted.bytes,
        .peer = counted.peer,
        .root = PEER_NONE,
        .tag = counted.tag,
        .communicator = counted.communicator,
        .count = counted.count,
        .ticks = counted.ticks,
    };
    if (counted.origin == ORIGIN_UNKNOWN || counted.origin == ORIGIN_MIXED)
        strcpy(unrecorded->origin.name, counted.origin == ORIGIN_MIXED ? "mixed" : "unknown");
    else if (counted.origin != ORIGIN_NONE &&
             !read_counted_operation(reader, counted.origin - 1, &unrecorded->origin))
        return false;
    if (!read_counted_operation(reader, counted.operation, &unrecorded->operation))
        return false;
    if (has_root(counted.origin, unrecorded->operation.name))
        unrecorded->root = counted.root;
    return counted.count > 0 && counted.count <= INT64_MAX && counted.ticks <= INT64_MAX;
}

/* Ends the current window and its stream because of what is at p. */
static int damaged(struct trace_reader *reader, const unsigned char *p, const char *reason,
                   struct error *err)
{
    uint64_t offset = reader->window_offset + (uint64_t)(p - reader->buffer);
    reader->cursor = NULL;
    reader->streams[reader->window.stream].damaged = true;
    return error_set(err, "%s: offset %llu: %s", reader->name, (unsigned long long)offset, reason);
}

/* The stream called number, made if it is the next one; NULL if that cannot be. */
static struct stream *stream_for(struct trace_reader *reader, uint32_t number)
{
    if (number >= STREAMS_MAX)
        return NULL;
    while (number >= reader->stream_count) {
        if (!grow(&reader->streams, &reader->stream_room, reader->stream_count,
                  sizeof *reader->streams))
            return NULL;
        reader->streams[reader->stream_count++] = (struct stream){0};
    }
    return &reader->streams[number];
}

/* The window's records end where its header says, or, while it is being filled, at a zero tag. */
static int load_window(struct trace_reader *reader, struct error *err)
{
    struct trace_window *window = &reader->window;
    uint64_t offset = reader->window_offset;

    size_t size = window->used ? window->used : window->size;
    if (size > reader->size - offset)
        size = (size_t)(reader->size - offset);
    if (size > reader->buffer_room) {
        unsigned char *buffer = realloc(reader->buffer, size);
        if (!buffer)
            return error_set(err, "%s: out of memory", reader->name);
        reader->buffer = buffer;
        reader->buffer_room = size;
    }
    ssize_t n = read_at(reader, reader->buffer, size, offset);
    if (n < (ssize_t)sizeof *window)
        return error_set(err, "%s: offset %llu: cannot read a window", reader->name,
                         (unsigned long long)offset);
    reader->cursor = reader->buffer + sizeof *window;
    reader->end = reader->buffer + n;
    return 0;
}

/* Behind the last window: 0, or once -1 and err where a closed trace has lost its end. */
static int check_end(struct trace_reader *reader, struct error *err)
{
    const struct trace_state *state = &reader->state;
    bool cut = state->phase == PHASE_CLOSED && reader->size < state->closed_size;
    if (!cut || reader->end_checked)
        return 0;
    reader->end_checked = true;
    return error_set(err, "%s: cut off at %llu of %llu bytes", reader->name,
                     (unsigned long long)reader->size, (unsigned long long)state->closed_size);
}

/* Where what follows a window or an area begins. */
static uint64_t behind(uint64_t offset, uint32_t size)
{
    return offset + (size + (uint64_t)TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
}

/* Reads the header of the file's next window. 1: there it is; 0: none; -1: err. */
static int next_header(struct trace_reader *reader, struct error *err)
{
    struct trace_window *window = &reader->window;

    for (;;) {
        uint64_t offset = reader->window_offset = reader->next_window;
        if (offset > reader->size || reader->size - offset < sizeof *window)
            return check_end(reader, err);
        if (read_at(reader, window, sizeof *window, offset) != (ssize_t)sizeof *window)
            return check_end(reader, err);
        if (window->size == 0) /* reserved, never begun: nothing is behind it */
            return check_end(reader, err);
        if (window->size < sizeof *window || window->size > TRACE_WINDOW_MAX ||
            window->used > window->size || (window->used && window->used < sizeof *window)) {
            reader->next_window = reader->size;
            return error_set(err, "%s: offset %llu: a window of %u bytes", reader->name,
                             (unsigned long long)offset, window->size);
        }
        reader->next_window = behind(offset, window->size);
        if (window->magic == TRACE_WINDOW_MAGIC)
            return 1;
        if (window->magic == TRACE_AREA_MAGIC)
            continue;
        if (window->magic != 0) /* else taken, but killed before its first record */
            return error_set(err, "%s: offset %llu: not a window", reader->name,
                             (unsigned long long)offset);
    }
}

bool trace_reader_area(struct trace_reader *reader, uint64_t *offset, struct trace_area *area)
{
    uint64_t at = *offset ? behind(*offset, area->size) : reader->header.window_offset;
    for (;; at = behind(at, area->size)) {
        if (at >= reader->size || read_at(reader, area, sizeof *area, at) != sizeof *area ||
            area->size < sizeof(struct trace_window) || area->size > TRACE_WINDOW_MAX)
            return false;
        if (area->magic == TRACE_AREA_MAGIC && area->size >= sizeof *area &&
            (uint64_t)area->entry_count * area->entry_size <= area->size - sizeof *area)
            break;
    }
    *offset = at;
    return true;
}

size_t trace_reader_read(struct trace_reader *reader, void *data, size_t size, uint64_t offset)
{
    ssize_t n = offset <= INT64_MAX ? read_at(reader, data, size, offset) : 0;
    return n > 0 ? (size_t)n : 0;
}

/* Goes to the next window that can be read. 1: there it is; 0: none; -1: err. */
static int open_window(struct trace_reader *reader, struct error *err)
{
    struct trace_window *window = &reader->window;
    int status;

    while ((status = next_header(reader, err)) > 0) {
        unsigned long long offset = reader->window_offset;
        struct stream *stream = stream_for(reader, window->stream);
        if (!stream)
            return error_set(err, "%s: offset %llu: a window of stream %u", reader->name, offset,
                             window->stream);
        if (stream->damaged)
            continue;
        if (window->sequence != stream->windows) {
            stream->damaged = true;
            return error_set(err, "%s: offset %llu: window %u of stream %u where %u was expected",
                             reader->name, offset, window->sequence, window->stream,
                             stream->windows);
        }
        if (load_window(reader, err) < 0) {
            stream->damaged = true;
            return -1;
        }
        stream->windows++;
        stream->previous_end = window->first_ticks;
        return 1;
    }
    return status;
}

static bool get_signed(const unsigned char **p, const unsigned char *end, int64_t low, int64_t high,
                       int64_t *value)
{
    uint64_t raw;
    *p = varint_get(*p, end, &raw);
    if (!*p)
        return false;
    *value = zigzag_decode(raw);
    return *value >= low && *value <= high;
}

static bool get_unsigned(const unsigned char **p, const unsigned char *end, uint64_t high,
                         uint64_t *value)
{
    *p = varint_get(*p, end, value);
    return *p && *value <= high;
}

static bool read_operation(struct stream *stream, const unsigned char *p, const unsigned char *end)
{
    uint64_t kind;
    if (!get_unsigned(&p, end, UINT32_MAX, &kind) || !name_is_good(p, (size_t)(end - p)) ||
        !grow(&stream->operations, &stream->operation_room, stream->operation_count,
              sizeof *stream->operations))
        return false;
    struct trace_operation *operation = &stream->operations[stream->operation_count++];
    *operation =
        (struct trace_operation){.kind = kind < KIND_COUNT ? (enum mpi_kind)kind : KIND_OTHER};
    memcpy(operation->name, p, (size_t)(end - p));
    return true;
}

static bool read_signature(struct stream *stream, const unsigned char *p, const unsigned char *end)
{
    uint64_t operation, origin;
    int64_t bytes, peer, root, tag, communicator;
    bool good = get_unsigned(&p, end, UINT32_MAX, &operation) &&
                get_unsigned(&p, end, UINT32_MAX, &origin) &&
                get_signed(&p, end, -1, INT64_MAX, &bytes) &&
                get_signed(&p, end, INT32_MIN, INT32_MAX, &peer) &&
                get_signed(&p, end, INT32_MIN, INT32_MAX, &root) &&
                get_signed(&p, end, INT32_MIN, INT32_MAX, &tag) &&
                get_signed(&p, end, INT32_MIN, INT32_MAX, &communicator);
    if (!good || operation >= stream->operation_count)
        return false;
    if (origin != ORIGIN_NONE && origin < ORIGIN_MIXED && origin > stream->operation_count)
        return false;
    if (!grow(&stream->signatures, &stream->signature_room, stream->signature_count,
              sizeof *stream->signatures))
        return false;
    bool is_root = has_root(origin, stream->operations[operation].name);
    stream->signatures[stream->signature_count++] = (struct known_signature){
        .is =
            {
                .operation = (uint32_t)operation,
                .origin = (uint32_t)origin,
                .bytes = bytes,
                .peer = (int32_t)peer,
                .root = is_root ? (int32_t)root : PEER_NONE,
                .tag = (int32_t)tag,
                .communicator = (int32_t)communicator,
            },
        .no_root = is_root ? -1 : (int32_t)root,
    };
    return true;
}

static bool read_communicator(struct trace_reader *reader, const unsigned char *p,
                              const unsigned char *end, struct trace_communicator *c)
{
    uint64_t id, kind, rank, size, count;
    int64_t parent;
    if (!(get_unsigned(&p, end, INT32_MAX, &id) && get_unsigned(&p, end, UINT32_MAX, &kind) &&
          get_signed(&p, end, -1, INT32_MAX, &parent) &&
          get_unsigned(&p, end, MEMBERS_MAX, &rank) && get_unsigned(&p, end, MEMBERS_MAX, &size) &&
          get_unsigned(&p, end, UINT64_MAX, &c->key) &&
          get_unsigned(&p, end, UINT64_MAX, &c->handle) &&
          get_unsigned(&p, end, UINT32_MAX, &count)))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t first, members;
        int64_t stride;
        if (!(get_unsigned(&p, end, MEMBERS_MAX, &first) &&
              get_unsigned(&p, end, MEMBERS_MAX, &members) &&
              get_signed(&p, end, INT32_MIN, INT32_MAX, &stride)))
            return false;
        if (!grow(&reader->runs, &reader->run_room, i, sizeof *reader->runs))
            return false;
        reader->runs[i] =
            (struct trace_rank_run){(uint32_t)first, (uint32_t)members, (int32_t)stride};
    }
    c->id = (uint32_t)id;
    c->kind = (uint32_t)kind;
    c->parent = (int32_t)parent;
    c->rank = (uint32_t)rank;
    c->size = (uint32_t)size;
    c->run_count = (uint32_t)count;
    c->runs = reader->runs;
    return true;
}

static bool read_completion(struct trace_reader *reader, const unsigned char *p,
                            const unsigned char *end, struct trace_record *record)
{
    size_t count = 0;
    while (p < end) {
        uint64_t index;
        if (!get_unsigned(&p, end, INT32_MAX, &index) ||
            !grow(&reader->indices, &reader->index_room, count, sizeof *reader->indices))
            return false;
        reader->indices[count++] = (uint32_t)index;
    }
    record->completion.indices = reader->indices;
    record->completion.count = count;
    return true;
}

static bool read_message(const unsigned char *p, const unsigned char *end,
                         struct trace_message *message)
{
    uint64_t index;
    if (!get_signed(&p, end, INT32_MIN, INT32_MAX, &message->peer) ||
        !get_signed(&p, end, INT32_MIN, INT32_MAX, &message->tag) ||
        !get_signed(&p, end, -1, INT64_MAX, &message->bytes))
        return false;
    message->index = -1;
    if (p == end)
        return true;
    if (!get_unsigned(&p, end, INT32_MAX, &index))
        return false;
    message->index = (int64_t)index;
    return true;
}

static bool read_name(struct trace_reader *reader, const unsigned char *p, const unsigned char *end,
                      struct trace_record *record)
{
    uint64_t id;
    if (!get_unsigned(&p, end, INT32_MAX, &id) || end - p > TRACE_NAME_MAX)
        return false;
    size_t length = (size_t)(end - p);
    for (size_t i = 0; i < length; i++)
        reader->given_name[i] = p[i] < ' ' || p[i] == 0x7f ? '?' : (char)p[i];
    reader->given_name[length] = '\0';
    record->name.communicator = (uint32_t)id;
    record->name.text = reader->given_name;
    return true;
}

static bool read_failed(const unsigned char *p, const unsigned char *end,
                        struct trace_record *record)
{
    uint64_t error_class;
    if (!get_unsigned(&p, end, UINT32_MAX, &error_class))
        return false;
    record->error_class = (int32_t)error_class;
    return true;
}

static bool read_pause(const unsigned char *p, const unsigned char *end,
                       struct trace_record *record)
{
    uint64_t paused;
    if (!get_unsigned(&p, end, 1, &paused) ||
        !get_unsigned(&p, end, INT64_MAX, &record->pause.ticks))
        return false;
    record->pause.paused = paused;
    return true;
}

/* Reads a control record's payload. 1: *record; 0: nothing for the caller; -1: damaged. */
static int read_control(struct trace_reader *reader, uint64_t tag, const unsigned char *p,
                        const unsigned char *end, struct trace_record *record)
{
    struct stream *stream = &reader->streams[reader->window.stream];
    uint64_t back;

    switch (tag) {
    case TRACE_TAG_OPERATION:
        return read_operation(stream, p, end) ? 0 : -1;
    case TRACE_TAG_SIGNATURE:
        record->type = RECORD_SIGNATURE;
        record->signature_id = (uint32_t)stream->signature_count;
        return read_signature(stream, p, end) ? 1 : -1;
    case TRACE_TAG_COMMUNICATOR:
        record->type = RECORD_COMMUNICATOR;
        return read_communicator(reader, p, end, &record->communicator) ? 1 : -1;
    case TRACE_TAG_BACK:
        if (!get_unsigned(&p, end, stream->previous_end, &back))
            return -1;
        stream->previous_end -= back;
        return 0;
    case TRACE_TAG_RESOLVE:
    case TRACE_TAG_SENDING:
    case TRACE_TAG_RECEIVING:
        record->type = tag == TRACE_TAG_RESOLVE   ? RECORD_RESOLVE
                       : tag == TRACE_TAG_SENDING ? RECORD_SENDING
                                                  : RECORD_RECEIVING;
        return read_message(p, end, &record->message) ? 1 : -1;
    case TRACE_TAG_SYNC:
        if ((size_t)(end - p) < sizeof record->sync)
            return -1;
        record->type = RECORD_SYNC;
        memcpy(&record->sync, p, sizeof record->sync);
        return 1;
    case TRACE_TAG_COMPLETION:
        record->type = RECORD_COMPLETION;
        return read_completion(reader, p, end, record) ? 1 : -1;
    case TRACE_TAG_NAME:
        record->type = RECORD_NAME;
        return read_name(reader, p, end, record) ? 1 : -1;
    case TRACE_TAG_FAILED:
        record->type = RECORD_FAILED;
        return read_failed(p, end, record) ? 1 : -1;
    case TRACE_TAG_PAUSE:
        record->type = RECORD_PAUSE;
        return read_pause(p, end, record) ? 1 : -1;
    case TRACE_TAG_POLLS: /* not behind the first poll's event, where read_polls takes them */
    case TRACE_TAG_POLLED:
        return -1;
    default:
        return 0; /* from a newer minor version */
    }
}

static bool is_signature(const struct trace_reader *reader, uint64_t id)
{
    if (reader->reading == READ_EVENTS)
        return id < UINT32_MAX;
    return id < reader->streams[reader->window.stream].signature_count;
}

/* Reads what follows an event's tag. */
static bool read_event(struct trace_reader *reader, uint64_t tag, const unsigned char **p,
                       struct trace_event *event)
{
    struct stream *stream = &reader->streams[reader->window.stream];
    uint64_t gap, duration, id = tag - TRACE_TAG_EVENT;

    *p = varint_get(*p, reader->end, &gap);
    if (!*p)
        return false;
    *p = varint_get(*p, reader->end, &duration);
    if (!*p || !is_signature(reader, id))
        return false;
    if (__builtin_add_overflow(stream->previous_end, gap, &event->start) ||
        __builtin_add_overflow(event->start, duration, &event->end) || event->end > INT64_MAX)
        return false;
    event->signature = (uint32_t)id;
    stream->previous_end = event->end;
    return true;
}

/* Whether the record at p has this tag, one of a single byte. */
static inline bool is_tag(const struct trace_reader *reader, const unsigned char *p,
                          enum trace_tag tag)
{
    return p < reader->end && *p == (unsigned char)varint_word(tag, 0);
}

/* Takes the record at *p if it has this tag, and the beginning of its payload. 1: *p is behind it;
 * 0: something else is there; -1: damaged. */
static int take_record(const struct trace_reader *reader, enum trace_tag tag,
                       const unsigned char **p, void *payload, size_t payload_size)
{
    uint64_t size;
    if (!is_tag(reader, *p, tag))
        return 0;
    const unsigned char *q = varint_get(*p + 1, reader->end, &size);
    if (!q || size > (uint64_t)(reader->end - q) || size < payload_size)
        return -1;
    memcpy(payload, q, payload_size);
    *p = q + size;
    return 1;
}

/* Whether what has this id can be in a run: whoever counts polls goes by their kind. */
static bool is_poll(const struct trace_reader *reader, uint32_t id)
{
    if (!is_signature(reader, id) || reader->reading == READ_EVENTS)
        return is_signature(reader, id);
    const struct trace_signature *signature =
        trace_reader_signature(reader, reader->window.stream, id);
    const struct trace_operation *operation =
        signature ? trace_reader_operation(reader, reader->window.stream, signature->operation)
                  : NULL;
    return operation && operation->kind == KIND_POLL;
}

/* Adds to the run being read. left: what the sums of count and of busy may still grow by. */
static bool add_polled(struct trace_reader *reader, struct trace_poll_run *run,
                       const struct trace_polled *polled, uint64_t *counts_left,
                       uint64_t *busy_left)
{
    if (!is_poll(reader, polled->signature) || polled->count > *counts_left ||
        polled->busy > *busy_left ||
        !grow(&reader->polled, &reader->polled_room, run->count, sizeof *reader->polled))
        return false;
    *counts_left -= polled->count;
    *busy_left -= polled->busy;
    reader->polled[run->count++] = *polled;
    return true;
}

/* Reads the rest of the run of polls whose first one's event is in record. */
static bool read_polls(struct trace_reader *reader, const unsigned char **p,
                       struct trace_record *record)
{
    struct stream *stream = &reader->streams[reader->window.stream];
    struct trace_poll_run run = {.event = record->event, .first = record->event.signature};
    struct trace_polls polls;
    struct trace_polled polled;
    uint64_t counts_left = INT64_MAX, busy_left = INT64_MAX - run.event.start;

    int status = take_record(reader, TRACE_TAG_POLLS, p, &polls, sizeof polls);
    if (status <= 0 || !is_poll(reader, polls.signature) || polls.end > INT64_MAX)
        return false;
    while ((status = take_record(reader, TRACE_TAG_POLLED, p, &polled, sizeof polled)) > 0) {
        if (!add_polled(reader, &run, &polled, &counts_left, &busy_left))
            return false;
    }
    if (status < 0)
        return false;
    /* Killed, or read, before the first of them was there. */
    polled = (struct trace_polled){
        .count = 1, .busy = run.event.end - run.event.start, .signature = run.first};
    if (run.count == 0 && !add_polled(reader, &run, &polled, &counts_left, &busy_left))
        return false;
    /* A number that was read while it changed can be anything. */
    if (polls.end > run.event.end)
        run.event.end = polls.end;
    run.event.signature = polls.signature;
    run.polled = reader->polled;
    stream->previous_end = run.event.end;
    record->type = RECORD_POLLS;
    record->polls = run;
    return true;
}

/* Reads the event, or the run of polls, whose tag is at the cursor and ends at p. */
static int next_event(struct trace_reader *reader, uint64_t tag, const unsigned char *p,
                      struct trace_record *record, struct error *err)
{
    const unsigned char *at = reader->cursor;
    record->type = RECORD_EVENT;
    if (!read_event(reader, tag, &p, &record->event))
        return damaged(reader, at, "not an event", err);
    if (is_tag(reader, p, TRACE_TAG_POLLS) && !read_polls(reader, &p, record))
        return damaged(reader, at, "not a run of polls", err);
    reader->cursor = p;
    return 1;
}

/* Bytes of the varint at p, which has room for any. */
static inline size_t varint_length(const unsigned char *p)
{
    return *p ? (size_t)__builtin_ctz(*p) + 1 : VARINT_MAX;
}

/* Moves the cursor over the events it is at, up to the last ones before the window's end. */
static void pass_events(struct trace_reader *reader)
{
    const unsigned char *p = reader->cursor, *end = reader->end;
    while (end - p > TRACE_RECORD_MAX && *p != 0) {
        uint64_t tag;
        const unsigned char *q = varint_get(p, end, &tag);
        if (!q || tag < TRACE_TAG_EVENT)
            break;
        q += varint_length(q);
        p = q + varint_length(q);
    }
    reader->cursor = p;
}

/* Whether control records of this tag matter to the way of reading. */
static bool is_wanted(const struct trace_reader *reader, uint64_t tag)
{
    switch (tag) {
    case TRACE_TAG_BACK:
        return reader->reading != READ_DEFINITIONS;
    case TRACE_TAG_PAUSE:
        return true;
    case TRACE_TAG_RESOLVE:
    case TRACE_TAG_SENDING:
    case TRACE_TAG_RECEIVING:
    case TRACE_TAG_COMPLETION:
    case TRACE_TAG_FAILED:
    case TRACE_TAG_POLLS:
    case TRACE_TAG_POLLED:
        return reader->reading == READ_ALL;
    default:
        return reader->reading != READ_EVENTS;
    }
}

/* Reads the next record of the current window. 1: *record; 0: its end; -1: damaged, err. */
static int next_record(struct trace_reader *reader, struct trace_record *record, struct error *err)
{
    for (;;) {
        if (reader->reading == READ_DEFINITIONS)
            pass_events(reader);
        const unsigned char *at = reader->cursor, *p = at;
        if (at >= reader->end || *at == 0) {
            if (at >= reader->end && reader->window.used > (size_t)(at - reader->buffer))
                return damaged(reader, at, "the window is cut off", err);
            reader->cursor = NULL;
            return 0;
        }
        uint64_t tag, size;
        p = varint_get(p, reader->end, &tag);
        if (!p)
            return damaged(reader, at, "a record is cut off", err);
        if (tag >= TRACE_TAG_EVENT && reader->reading != READ_DEFINITIONS)
            return next_event(reader, tag, p, record, err);
        p = varint_get(p, reader->end, &size);
        if (tag >= TRACE_TAG_EVENT) {
            reader->cursor = p ? varint_get(p, reader->end, &size) : NULL;
            if (!reader->cursor)
                return damaged(reader, at, "not an event", err);
            continue;
        }
        if (!p || size > (uint64_t)(reader->end - p))
            return damaged(reader, at, "a record is cut off", err);
        int status =
            is_wanted(reader, tag) ? read_control(reader, tag, p, p + size, record) : 0;
        if (status < 0)
            return damaged(reader, at, "a record with impossible contents", err);
        reader->cursor = p + size;
        if (status > 0)
            return 1;
    }
}

int trace_reader_next(struct trace_reader *reader, struct trace_record *record, struct error *err)
{
    for (;;) {
        if (reader->cursor) {
            record->stream = reader->window.stream;
            int status = next_record(reader, record, err);
            if (status != 0)
                return status;
            continue;
        }
        int status = open_window(reader, err);
        if (status > 0) {
            record->type = RECORD_WINDOW;
            record->stream = reader->window.stream;
            record->window = &reader->window;
        }
        return status;
    }
}

/* The varint of so many bytes, at most 8, at the beginning of word. */
static inline uint64_t varint_value(uint64_t word, unsigned bytes)
{
    static const uint64_t masks[] = {
        0,           0xff,           0xffff,           0xffffff,  0xffffffff,
        0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX,
    };
    return (word & masks[bytes]) >> bytes;
}

/* Reads the three varints of an event at p, which has room for them. Returns its end; NULL if they
 * are no event, or a long one. What the next event waits for is where this one ends: that is found
 * in one word, and nothing else stands in the way of it, not even what the branches ask for. */
static inline const unsigned char *get_event(const unsigned char *p, uint64_t *tag, uint64_t *gap,
                                             uint64_t *duration)
{
    uint64_t word, last;
    memcpy(&word, p, sizeof word);
    /* A short tag and two varints of two bytes, as calls in a loop have them: where that is the
     * rule, the processor need not wait for lengths at all. */
    if ((word & 0x03000301) == 0x02000201) {
        *tag = (word & 0xff) >> 1;
        *gap = word >> 10 & 0x3fff;
        *duration = word >> 26 & 0x3fff;
        return p + 5;
    }
    /* Nearly every tag is of one byte, so the processor goes on before it knows. */
    unsigned tag_more = 0;
    if (__builtin_expect(!(word & 1), 0)) {
        if (!(word & 0xff))
            return NULL;
        tag_more = (unsigned)__builtin_ctzll(word);
    }
    uint64_t behind_tag = word >> 8 >> 8 * tag_more;
    if (!(behind_tag & 0xff))
        return NULL;
    unsigned gap_more = (unsigned)__builtin_ctzll(behind_tag);
    uint64_t behind_gap = behind_tag >> 8 >> 8 * gap_more;
    if (!(behind_gap & 0xff)) /* or it is not in the word */
        return NULL;
    unsigned duration_more = (unsigned)__builtin_ctzll(behind_gap);
    const unsigned char *at = p + tag_more + 2 + gap_more;
    memcpy(&last, at, sizeof last);
    *tag = varint_value(word, tag_more + 1);
    *gap = varint_value(behind_tag, gap_more + 1);
    *duration = varint_value(last, duration_more + 1);
    return at + 1 + duration_more;
}

/* What is rare, damaged or near the window's end is left to trace_reader_next. */
size_t trace_reader_events(struct trace_reader *reader, struct trace_event *events, size_t room,
                           uint32_t *number)
{
    if (!reader->cursor || reader->reading != READ_ALL)
        return 0;
    struct stream *stream = &reader->streams[reader->window.stream];
    const unsigned char *p = reader->cursor, *before = p, *end = reader->end;
    uint64_t previous = stream->previous_end, gap_before = 0;
    uint64_t signatures = stream->signature_count;
    size_t count = 0;
    *number = reader->window.stream;
    if (previous > INT64_MAX) /* no event is that late */
        return 0;
    while (count < room && end - p > 4 * VARINT_MAX) {
        uint64_t tag, gap, duration;
        const unsigned char *q = get_event(p, &tag, &gap, &duration);
        if (!q || tag - TRACE_TAG_EVENT >= signatures)
            break;
        /* No sum overflows: previous is below 2^63, the others are below 2^56. */
        uint64_t start = previous + gap;
        if (start + duration > INT64_MAX)
            break;
        events[count++] = (struct trace_event){.signature = (uint32_t)(tag - TRACE_TAG_EVENT),
                                               .start = start,
                                               .end = start + duration};
        gap_before = gap;
        previous = start + duration;
        before = p;
        p = q;
    }
    if (count > 0 && is_tag(reader, p, TRACE_TAG_POLLS)) { /* the last one belongs to a run */
        count--;
        p = before;
        previous = events[count].start - gap_before;
    }
    reader->cursor = p;
    stream->previous_end = previous;
    return count;
}

void trace_reader_pass_events(struct trace_reader *reader)
{
    reader->reading = READ_DEFINITIONS;
}

/* --- how a stream ends ------------------------------------------------------------------------ */

/* Where the windows of a stream begin. */
struct window_list {
    uint64_t *offsets;
    size_t count, room;
};

static bool list_windows(struct trace_reader *reader, uint32_t stream, struct window_list *list)
{
    int status;
    trace_reader_rewind(reader);
    while ((status = next_header(reader, NULL)) != 0) {
        if (status < 0 || reader->window.stream != stream)
            continue;
        if (!grow(&list->offsets, &list->room, list->count, sizeof *list->offsets))
            return false;
        list->offsets[list->count++] = reader->window_offset;
    }
    return true;
}

static uint64_t count_polls(const struct trace_record *record)
{
    uint64_t count = 0;
    if (record->type != RECORD_POLLS)
        return 1;
    for (size_t i = 0; i < record->polls.count; i++)
        count += record->polls.polled[i].count;
    return count;
}

static void add_count(struct trace_ending *ending, uint64_t count)
{
    if (__builtin_add_overflow(ending->count, count, &ending->count))
        ending->count = UINT64_MAX;
}

/* Adds a record to the ending of what came before it; false if that is over with it. */
static bool follow(struct trace_ending *ending, const struct trace_record *record)
{
    if (record->type == RECORD_PAUSE) {
        *ending = (struct trace_ending){.is_pause = record->pause.paused,
                                        .start = record->pause.ticks,
                                        .end = record->pause.ticks};
        return false;
    }
    bool is_run = record->type == RECORD_POLLS;
    const struct trace_event *event = is_run ? &record->polls.event : &record->event;
    bool goes_on = ending->count > 0 && ending->signature == event->signature;
    if (!goes_on)
        *ending = (struct trace_ending){.signature = event->signature, .start = event->start};
    add_count(ending, count_polls(record));
    ending->is_run = is_run;
    /* A call around another one of its kind begins before that and comes after it. */
    if (event->start < ending->start)
        ending->start = event->start;
    if (event->end > ending->end)
        ending->end = event->end;
    return goes_on;
}

/* Reads a window of the stream: how it ends, and whether that is all there is in it. False: nothing
 * is in it that can be read. */
static bool read_ending(struct trace_reader *reader, uint64_t offset, uint32_t number,
                        struct trace_ending *ending, bool *is_all)
{
    struct trace_record record = {.stream = number};
    bool found = false;
    reader->next_window = offset;
    struct stream *stream = stream_for(reader, number);
    if (!stream || next_header(reader, NULL) <= 0 || reader->window.stream != number ||
        load_window(reader, NULL) < 0)
        return false;
    stream->previous_end = reader->window.first_ticks;
    *is_all = true;
    while (next_record(reader, &record, NULL) > 0) {
        if (!follow(ending, &record) && found)
            *is_all = false;
        found = true;
    }
    return found;
}

bool trace_reader_ending(struct trace_reader *reader, uint32_t stream, struct trace_ending *ending)
{
    struct window_list windows = {0};
    enum reading reading = reader->reading;
    bool found = false, goes_on = list_windows(reader, stream, &windows);
    reader->reading = READ_EVENTS;
    for (size_t i = windows.count; goes_on && i > 0 && windows.count - i < ENDING_WINDOWS; i--) {
        struct trace_ending before = {0};
        bool is_all = false;
        if (!read_ending(reader, windows.offsets[i - 1], stream, &before, &is_all))
            continue; /* the last one may hold no event yet */
        if (found && (before.count == 0 || before.signature != ending->signature))
            break;
        if (found) {
            ending->start = before.start < ending->start ? before.start : ending->start;
            add_count(ending, before.count);
        } else {
            *ending = before;
        }
        found = true;
        goes_on = is_all && ending->is_run;
    }
    free(windows.offsets);
    reader->reading = reading;
    trace_reader_rewind(reader);
    return found;
}
