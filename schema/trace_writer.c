/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes one rank's trace so that it is valid at every instant, also when the rank is killed. */
#define _GNU_SOURCE
#include "schema/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "schema/lock.h"
#include "schema/regular_file.h"
#include "schema/size_limit.h"

enum { FS_EXT4 = 0xef53, FS_XFS = 0x58465342, FS_TMPFS = 0x01021994 };
/* Our descriptors stay out of the way of programs that count on numbers. Every process has room for
 * 64 from its start; in one with threads the kernel takes 10 ms to make more. */
enum { FD_FLOOR = 56 };

/* Pages are made ready by slices: so seldom that of 10,000 calls hardly one meets it, so few that
 * this one does not take long. */
enum { SLICE = 64 * 1024 };
_Static_assert(TRACE_WINDOW_MIN % SLICE == 0, "a window is whole slices");

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; before, pages come as they are touched */
#endif

enum { FD_NONE = -1, FD_LOST = -2 }; /* closed; closed by the program */

enum { CONTROL_MAX = 128 };  /* bytes of the longest payload but those that grow with their input */
enum { RUNS_MAX = 1024 };    /* runs of ranks kept of a communicator: the rest is left out */
enum { INDICES_MAX = 1024 }; /* finished requests kept of one call */

/* Whether a store into reserved space cannot fail. On btrfs it can: also reserved space is copied on
 * write, and where the disk is full then the process gets SIGBUS. */
static bool mapping_is_safe(int fd)
{
    struct statfs fs;
    if (fstatfs(fd, &fs) < 0)
        return false;
    switch ((unsigned long)fs.f_type) {
    case FS_EXT4:
    case FS_XFS:
    case FS_TMPFS:
        return true;
    default:
        return false;
    }
}

/* Here and below, by syscall(2) and not by its own function: those are points at which pthread_cancel
 * ends a thread, which would take our locks with it. */
static int allocate(int fd, int mode, uint64_t offset, uint64_t size)
{
    return (int)syscall(SYS_fallocate, fd, mode, (off_t)offset, (off_t)size);
}

/* Reserves [offset, offset + size) with SIGXFSZ blocked, should the limit change under us.
 * fallocate and not posix_fallocate, which would emulate it by writing. Returns 0 or an errno
 * value. */
static int reserve(int fd, uint64_t offset, uint64_t size)
{
    int error = size_limit_error(offset + size);
    if (error)
        return error;
    sigset_t xfsz, old;
    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &xfsz, &old);
    do {
        error = allocate(fd, 0, offset, size) < 0 ? errno : 0;
    } while (error == EINTR);
    if (error == EFBIG) { /* take the signal that is pending now */
        struct timespec now = {0};
        (void)syscall(SYS_rt_sigtimedwait, &xfsz, NULL, &now, NSIG / 8);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    return error;
}

static int write_at(int fd, const void *data, size_t size, uint64_t offset)
{
    const unsigned char *p = data;
    if (size_limit_error(offset + size))
        return EFBIG;
    while (size > 0) {
        ssize_t n = syscall(SYS_pwrite64, fd, p, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static enum trace_stop stop_reason(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return STOP_NO_SPACE;
    case EFBIG:
        return STOP_FILE_SIZE;
    case ENOMEM:
        return STOP_NO_MEMORY;
    default:
        return STOP_IO;
    }
}

static void stop(struct trace_writer *writer, enum trace_stop reason)
{
    uint32_t none = STOP_NONE;
    __atomic_compare_exchange_n(&writer->state->stopped, &none, reason, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
}

/* The descriptor, or -1 if the trace is closed, or the program has closed the descriptor: its number
 * may be that of a file of the program's by now. */
static int file_of(struct trace_writer *writer)
{
    struct stat is;
    int error = errno, fd = __atomic_load_n(&writer->fd, __ATOMIC_RELAXED);
    if (fd < 0)
        return -1;
    if (regular_file_stat(fd, &is) == 0 && is.st_dev == writer->device &&
        is.st_ino == writer->inode)
        return fd;
    __atomic_store_n(&writer->fd, FD_LOST, __ATOMIC_RELAXED);
    errno = error;
    return -1;
}

/* Memory for size bytes at offset: a mapping of the file, or pages that are written out later. */
static void *window_memory(struct trace_writer *writer, uint64_t offset, size_t size)
{
    int flags = writer->mapped ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, writer->mapped ? file_of(writer) : -1,
                        writer->mapped ? (off_t)offset : 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static uint64_t align(uint64_t offset)
{
    return (offset + TRACE_ALIGN - 1) / TRACE_ALIGN * TRACE_ALIGN;
}

static void fill_header(struct trace_header *header, const struct trace_header *identity)
{
    *header = *identity;
    memset(header->magic, 0, sizeof header->magic);
    header->byte_order = TRACE_BYTE_ORDER;
    header->major = TRACE_MAJOR;
    header->minor = TRACE_MINOR;
    header->header_size = sizeof *header;
    header->state_offset = TRACE_STATE_OFFSET;
    header->slot_offset = TRACE_SLOT_OFFSET;
    header->slot_count = TRACE_SLOTS;
    header->statistics_offset = TRACE_STATISTICS_OFFSET;
    header->window_offset = TRACE_WINDOW_OFFSET;
}

/* Opens the file with a descriptor that is high and closed on exec. */
static int open_high(int dirfd, const char *name)
{
    int fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
    if (high < 0)
        return fd; /* a low limit on descriptors: the one we have serves */
    close(fd);
    return high;
}

int trace_writer_create(struct trace_writer *writer, int dirfd, const char *name,
                        const struct trace_header *identity, uint64_t size_limit,
                        void (*read_clocks)(struct trace_sync *sync), struct error *err)
{
    int error;

    memset(writer, 0, sizeof *writer);
    writer->size_limit = size_limit;
    writer->read_clocks = read_clocks;
    writer->fd = open_high(dirfd, name);
    if (writer->fd < 0) {
        error = errno;
        error_set(err, "cannot create %s: %s", name, strerror(error));
        errno = error;
        return -1;
    }
    struct stat is;
    if (regular_file_stat(writer->fd, &is) < 0) {
        error = errno;
        goto fail;
    }
    writer->device = is.st_dev;
    writer->inode = is.st_ino;
    error = reserve(writer->fd, 0, TRACE_FIXED_SIZE);
    writer->mapped = error == 0 && mapping_is_safe(writer->fd);
    if (error == EOPNOTSUPP || error == ENOSYS)
        error = 0;
    if (error)
        goto fail;
    unsigned char *pages = window_memory(writer, 0, TRACE_FIXED_SIZE);
    if (!pages) {
        error = errno;
        goto fail;
    }
    writer->file_size = TRACE_FIXED_SIZE;
    writer->header = (struct trace_header *)(void *)pages;
    writer->state = (struct trace_state *)(void *)(pages + TRACE_STATE_OFFSET);
    writer->slots = (struct trace_slot *)(void *)(pages + TRACE_SLOT_OFFSET);
    writer->statistics = (struct trace_statistics *)(void *)(pages + TRACE_STATISTICS_OFFSET);
    fill_header(writer->header, identity);
    writer->header->flags = writer->mapped ? 0 : TRACE_BUFFERED;
    writer->state->last_sync = identity->first_sync;
    writer->state->phase = PHASE_OPENED;
    uint64_t magic;
    memcpy(&magic, TRACE_MAGIC, sizeof magic);
    __atomic_store_n((uint64_t *)(void *)writer->header->magic, magic, __ATOMIC_RELEASE);
    if (!writer->mapped) {
        error = write_at(writer->fd, pages, TRACE_FIXED_SIZE, 0); /* and takes the space */
        if (error) {
            munmap(pages, TRACE_FIXED_SIZE);
            goto fail;
        }
    }
    return 0;

fail:
    close(writer->fd);
    writer->fd = FD_NONE;
    unlinkat(dirfd, name, 0); /* ours: O_EXCL made it, and nothing is in it yet */
    error_set(err, "cannot write %s: %s", name, strerror(error));
    errno = error;
    return -1;
}

/* The fixed pages of a trace that is not mapped go out with every window and at the end. */
static void write_pages(struct trace_writer *writer)
{
    if (writer->mapped)
        return;
    size_t size = writer->statistics->counted_count ? TRACE_FIXED_SIZE : TRACE_STATISTICS_OFFSET;
    int error = write_at(file_of(writer), writer->header, size, 0);
    if (error)
        stop(writer, stop_reason(error));
}

void trace_writer_sync(struct trace_writer *writer, const struct trace_sync *sync)
{
    struct trace_state *state = writer->state;
    uint64_t signals = lock_take_hold(&writer->lock);
    __atomic_store_n(&state->sync_sequence, state->sync_sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    state->last_sync = *sync;
    __atomic_store_n(&state->sync_sequence, state->sync_sequence + 1, __ATOMIC_RELEASE);
    lock_give_let(&writer->lock, signals);
}

void trace_writer_initialised(struct trace_writer *writer, uint64_t ticks)
{
    writer->state->init_end = ticks;
    __atomic_store_n(&writer->state->phase, PHASE_INITIALISED, __ATOMIC_RELEASE);
    write_pages(writer);
}

void trace_writer_finalised(struct trace_writer *writer, uint64_t ticks)
{
    writer->state->finalize_start = ticks;
    __atomic_store_n(&writer->state->phase, PHASE_FINALISED, __ATOMIC_RELEASE);
    write_pages(writer);
}

void trace_writer_close(struct trace_writer *writer)
{
    struct trace_sync sync;
    if (writer->fd == FD_NONE)
        return;
    writer->read_clocks(&sync);
    trace_writer_sync(writer, &sync);
    off_t size = lseek(file_of(writer), 0, SEEK_END);
    writer->state->closed_size = size > 0 ? (uint64_t)size : 0;
    __atomic_store_n(&writer->state->phase, PHASE_CLOSED, __ATOMIC_RELEASE);
    write_pages(writer);
    if (writer->statistics->counted_count == 0) /* what was reserved for them goes back */
        (void)allocate(file_of(writer), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                       TRACE_STATISTICS_OFFSET, TRACE_STATISTICS_SIZE);
    uint64_t signals = lock_take_hold(&writer->lock); /* a thread in its last call may be taking space */
    trace_writer_abandon(writer);
    lock_give_let(&writer->lock, signals);
}

void trace_writer_abandon(struct trace_writer *writer)
{
    int fd = file_of(writer);
    if (fd >= 0)
        (void)syscall(SYS_close, fd);
    writer->fd = FD_NONE;
}

/* Puts the caller's own memory, full of zeros, in the place of a mapping of the file. */
static void part(void *mapping, size_t size)
{
    if (mapping)
        (void)mmap(mapping, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

void trace_writer_forked(struct trace_writer *writer, struct trace_stream *stream)
{
    trace_writer_abandon(writer);
    writer->lock = 0; /* a thread that held it is not here */
    if (writer->mapped) {
        part(writer->header, TRACE_FIXED_SIZE);
        part(stream ? stream->window : NULL, stream ? stream->window_size : 0);
        part(stream ? stream->next.memory : NULL, stream ? stream->next.size : 0);
    }
    stop(writer, STOP_IO); /* no further window is taken */
}

/* A slot for a stream, of one that is closed if each has one; NULL: as many are open as there are
 * slots. The lock is held. */
static struct trace_slot *take_slot(struct trace_writer *writer, uint32_t number)
{
    uint32_t i = number;
    if (number >= TRACE_SLOTS) {
        for (i = 0; i < TRACE_SLOTS && !writer->slot_is_free[i]; i++)
            ;
        if (i == TRACE_SLOTS)
            return NULL;
    }
    writer->slot_is_free[i] = false;
    trace_slot_show(&writer->slots[i], 0, 0); /* dropped goes on */
    __atomic_store_n(&writer->slots[i].stream, number + 1, __ATOMIC_RELEASE);
    return &writer->slots[i];
}

void trace_stream_open(struct trace_stream *stream, struct trace_writer *writer, uint64_t ticks)
{
    memset(stream, 0, sizeof *stream);
    stream->writer = writer;
    stream->previous_end = ticks;
    stream->next_size = TRACE_WINDOW_MIN;
    stream->thread_id = (int32_t)syscall(SYS_gettid);
    uint64_t signals = lock_take_hold(&writer->lock);
    stream->number = writer->stream_count++;
    struct trace_slot *slot = take_slot(writer, stream->number);
    lock_give_let(&writer->lock, signals);
    stream->slot = slot ? slot : &stream->no_slot;
}

void trace_stream_flush(struct trace_stream *stream)
{
    struct trace_writer *writer = stream->writer;
    if (writer->mapped || !stream->window)
        return;
    int error = write_at(file_of(writer), stream->window, (size_t)(stream->cursor - stream->window),
                         stream->window_offset);
    if (error)
        stop(writer, stop_reason(error));
    write_pages(writer);
}

static void give_slot(struct trace_stream *stream)
{
    struct trace_writer *writer = stream->writer;
    if (stream->slot == &stream->no_slot)
        return;
    uint64_t signals = lock_take_hold(&writer->lock);
    writer->slot_is_free[stream->slot - writer->slots] = true;
    lock_give_let(&writer->lock, signals);
    stream->slot = &stream->no_slot;
}

/* Makes a hole in the file, which takes no space. The lock is held. */
static void punch(struct trace_writer *writer, uint64_t offset, uint64_t size)
{
    if (allocate(file_of(writer), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size) == 0)
        writer->hole_size += size;
}

/* Gives back a window that was prepared and not needed. Where it is not the file's last, an empty
 * one stays, which takes no space. */
static void drop_next(struct trace_stream *stream)
{
    struct trace_writer *writer = stream->writer;
    struct trace_next *next = &stream->next;
    if (!next->memory)
        return;
    munmap(next->memory, next->size);
    next->memory = NULL;
    uint64_t signals = lock_take_hold(&writer->lock);
    if (next->offset + next->size != writer->file_size)
        punch(writer, next->offset + TRACE_PAGE, next->size - TRACE_PAGE);
    else if (ftruncate(file_of(writer), (off_t)next->offset) == 0)
        writer->file_size = next->offset;
    lock_give_let(&writer->lock, signals);
}

void trace_stream_close(struct trace_stream *stream)
{
    struct trace_writer *writer = stream->writer;
    give_slot(stream);
    if (!stream->window)
        return;
    drop_next(stream);
    struct trace_window *window = (struct trace_window *)(void *)stream->window;
    uint32_t used = (uint32_t)(stream->cursor - stream->window);
    uint32_t size = (uint32_t)align(used);
    window->used = used;
    uint64_t signals = lock_take_hold(&writer->lock);
    bool last = stream->window_offset + stream->window_size == writer->file_size;
    if (last && ftruncate(file_of(writer), (off_t)(stream->window_offset + used)) == 0) {
        window->size = size; /* space behind the records went back */
        writer->file_size = stream->window_offset + size;
    } else {
        uint32_t kept = (used + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
        punch(writer, stream->window_offset + kept, stream->window_size - kept);
    }
    lock_give_let(&writer->lock, signals);
    trace_stream_flush(stream);
    munmap(stream->window, stream->window_size);
    stream->window = NULL;
    stream->cursor = stream->end = stream->limit = NULL;
    stream->run.at = NULL;
}

/* Takes the place behind everything in the file for a window or an area, and its memory. Its size,
 * at the beginning of both, is stored before anything later can be taken: a reader that finds none
 * there has reached the end. The writer's lock is held. */
static unsigned char *take_place(struct trace_writer *writer, uint32_t size, uint64_t *offset,
                                 int *error)
{
    unsigned char *memory = NULL;

    *offset = align(writer->file_size);
    *error = *offset + size - writer->hole_size > writer->size_limit ? E2BIG : 0;
    if (*error == 0 && writer->mapped)
        *error = reserve(file_of(writer), *offset, size);
    if (*error == 0) {
        memory = window_memory(writer, *offset, size);
        *error = memory ? 0 : errno;
    }
    if (!memory)
        return NULL;
    __atomic_store_n((uint32_t *)(void *)memory, size, __ATOMIC_RELEASE);
    /* A window that is written when full takes its space now: what comes later is counted. */
    if (!writer->mapped && (*error = write_at(file_of(writer), memory, size, *offset)) != 0) {
        if (*error != EFBIG) /* nothing was written, and a longer file would raise SIGXFSZ */
            (void)ftruncate(file_of(writer), (off_t)*offset);
        munmap(memory, size);
        return NULL;
    }
    writer->file_size = *offset + size;
    return memory;
}

static unsigned char *take_window(struct trace_stream *stream, uint32_t size, uint64_t *offset,
                                  int *error)
{
    struct trace_writer *writer = stream->writer;
    uint64_t signals = lock_take_hold(&writer->lock);
    unsigned char *memory = take_place(writer, size, offset, error);
    lock_give_let(&writer->lock, signals);
    return memory;
}

void *trace_writer_area(struct trace_writer *writer, const struct trace_area *area)
{
    unsigned char *memory = NULL;
    int saved = errno, error;
    uint64_t offset;

    uint64_t signals = lock_take_hold(&writer->lock);
    if (writer->mapped && file_of(writer) >= 0 &&
        writer->area_size + area->size <= writer->size_limit / 4)
        memory = take_place(writer, area->size, &offset, &error);
    if (memory)
        writer->area_size += area->size;
    else if (area->kind != AREA_COUNTERS)
        __atomic_store_n(&writer->state->hides_requests, 1, __ATOMIC_RELEASE);
    lock_give_let(&writer->lock, signals);
    errno = saved;
    if (!memory)
        return NULL;
    struct trace_area *header = (struct trace_area *)(void *)memory;
    TRACE_STORED();
    header->kind = area->kind;
    header->entry_size = area->entry_size;
    header->entry_count = area->entry_count;
    header->first = area->first;
    TRACE_STORED();
    __atomic_store_n(&header->magic, TRACE_AREA_MAGIC, __ATOMIC_RELEASE);
    TRACE_STORED();
    return memory;
}

static bool has_stopped(const struct trace_writer *writer)
{
    return __atomic_load_n(&writer->state->stopped, __ATOMIC_ACQUIRE) != STOP_NONE;
}

/* The window that was prepared, or a new one for records of need bytes. Returns 0 or an errno
 * value. */
static int next_window(struct trace_stream *stream, size_t need, struct trace_next *next)
{
    int error = 0;
    *next = stream->next;
    stream->next.memory = NULL;
    if (next->memory)
        return 0;
    for (next->size = stream->next_size;; next->size /= 2) {
        next->memory = take_window(stream, next->size, &next->offset, &error);
        if (next->memory || next->size == TRACE_WINDOW_MIN || next->size / 2 < need)
            return error;
    }
}

static void end_window(struct trace_stream *stream)
{
    if (!stream->window)
        return;
    ((struct trace_window *)(void *)stream->window)->used =
        (uint32_t)(stream->cursor - stream->window);
    trace_stream_flush(stream);
    munmap(stream->window, stream->window_size);
}

static void begin_window(struct trace_stream *stream, const struct trace_next *next)
{
    struct trace_writer *writer = stream->writer;
    struct trace_window *window = (struct trace_window *)(void *)next->memory;
    window->stream = stream->number;
    window->sequence = stream->window_count++;
    window->first_ticks = stream->previous_end;
    window->thread_id = stream->thread_id;
    writer->read_clocks(&window->sync);
    trace_writer_sync(writer, &window->sync);
    __atomic_store_n(&window->magic, TRACE_WINDOW_MAGIC, __ATOMIC_RELEASE);
    TRACE_STORED();
    stream->announced = NULL;
    stream->run.at = NULL;
    stream->window = next->memory;
    stream->window_offset = next->offset;
    stream->window_size = next->size;
    stream->next_size = next->size < TRACE_WINDOW_LARGEST ? next->size * 2 : next->size;
    stream->cursor = stream->window + sizeof *window;
    stream->limit = stream->window + next->size - TRACE_RECORD_MAX;
    stream->end = stream->window + SLICE / 2;
}

bool trace_stream_turn(struct trace_stream *stream, size_t need)
{
    struct trace_writer *writer = stream->writer;
    struct trace_next next;

    need += sizeof(struct trace_window) + TRACE_RECORD_MAX;
    if (need > TRACE_WINDOW_MIN)
        return false; /* a record that fits no window; the stream itself goes on */
    if (!has_stopped(writer) || stream->next.memory) {
        int error = next_window(stream, need, &next);
        if (!error) {
            end_window(stream);
            begin_window(stream, &next);
            return true;
        }
        stop(writer, error == E2BIG ? STOP_LIMIT : stop_reason(error));
    }
    stream->end = stream->limit = stream->cursor;
    return false;
}

/* Makes pages ready to be written to, for less than each would cost alone. */
static void populate(unsigned char *memory)
{
    (void)madvise(memory, SLICE, MADV_POPULATE_WRITE);
}

/* The stream has reached the middle of a slice of its window: makes the next slice ready, which may
 * be the first of the next window. That is not prepared before this one is all but full, for a
 * program that makes few calls has no use for it. Without success there is time when it is needed. */
static void prepare(struct trace_stream *stream)
{
    struct trace_next *next = &stream->next;
    unsigned char *next_slice = stream->end + SLICE / 2;
    bool last = next_slice == stream->window + stream->window_size;

    if (!last) {
        populate(next_slice);
    } else if (stream->writer->mapped && !has_stopped(stream->writer)) {
        int error;
        next->size = stream->next_size;
        next->memory = take_window(stream, next->size, &next->offset, &error);
        if (next->memory)
            populate(next->memory);
    }
    stream->end = last ? stream->limit : stream->end + SLICE;
}

/* Makes sure that a record with this payload size can be stored in the window. errno is kept. */
static bool room_for(struct trace_stream *stream, size_t payload)
{
    size_t need = payload + 2 * VARINT_MAX + VARINT_HEADROOM;
    if (stream->cursor + need <= stream->end)
        return true;
    int error = errno;
    uint64_t signals = signals_hold(); /* a handler's call finds one window or the next */
    while (stream->end < stream->limit && stream->cursor + need > stream->end)
        prepare(stream);
    bool room = stream->cursor + need <= stream->end || trace_stream_turn(stream, need);
    signals_let(signals);
    errno = error;
    return room;
}

static void put_control(struct trace_stream *stream, enum trace_tag tag,
                        const unsigned char *payload, size_t size)
{
    unsigned char *p = stream->cursor;
    unsigned char *q = varint_put(p + varint_size(tag), size);
    stream->announced = NULL;
    TRACE_STORED();
    memcpy(q, payload, size);
    memset(q + size, 0, VARINT_HEADROOM); /* what was announced may reach farther than this record */
    TRACE_STORED();
    trace_commit(p, tag);
    stream->cursor = q + size;
}

uint32_t trace_stream_operation(struct trace_stream *stream, enum mpi_kind kind, const char *name)
{
    unsigned char payload[CONTROL_MAX];
    size_t length = strnlen(name, TRACE_NAME_MAX);
    unsigned char *p = varint_put(payload, kind);
    memcpy(p, name, length);
    if (room_for(stream, sizeof payload))
        put_control(stream, TRACE_TAG_OPERATION, payload, (size_t)(p + length - payload));
    return stream->operation_count++;
}

uint32_t trace_stream_signature(struct trace_stream *stream, const struct trace_signature *s)
{
    unsigned char payload[CONTROL_MAX];
    unsigned char *p = varint_put(payload, s->operation);
    p = varint_put(p, s->origin);
    p = varint_put(p, zigzag_encode(s->bytes));
    p = varint_put(p, zigzag_encode(s->peer));
    p = varint_put(p, zigzag_encode(s->root));
    p = varint_put(p, zigzag_encode(s->tag));
    p = varint_put(p, zigzag_encode(s->communicator));
    if (room_for(stream, sizeof payload))
        put_control(stream, TRACE_TAG_SIGNATURE, payload, (size_t)(p - payload));
    return stream->signature_count++;
}

void trace_stream_communicator(struct trace_stream *stream, const struct trace_communicator *c)
{
    unsigned char payload[CONTROL_MAX + RUNS_MAX * 3 * 5];
    uint32_t runs = c->run_count < RUNS_MAX ? c->run_count : RUNS_MAX;
    unsigned char *p = varint_put(payload, c->id);
    p = varint_put(p, c->kind);
    p = varint_put(p, zigzag_encode(c->parent));
    p = varint_put(p, c->rank);
    p = varint_put(p, c->size);
    p = varint_put(p, c->key);
    p = varint_put(p, c->handle);
    p = varint_put(p, runs);
    for (uint32_t i = 0; i < runs; i++) {
        p = varint_put(p, c->runs[i].first);
        p = varint_put(p, c->runs[i].count);
        p = varint_put(p, zigzag_encode(c->runs[i].stride));
    }
    if (room_for(stream, (size_t)(p - payload)))
        put_control(stream, TRACE_TAG_COMMUNICATOR, payload, (size_t)(p - payload));
}

void trace_stream_sync_state(struct trace_stream *stream)
{
    struct trace_sync sync;
    stream->writer->read_clocks(&sync);
    trace_writer_sync(stream->writer, &sync);
    write_pages(stream->writer);
}

void trace_stream_sync(struct trace_stream *stream)
{
    struct trace_sync sync;
    unsigned char payload[sizeof sync];
    stream->writer->read_clocks(&sync);
    trace_writer_sync(stream->writer, &sync);
    write_pages(stream->writer);
    memcpy(payload, &sync, sizeof sync);
    if (room_for(stream, sizeof payload))
        put_control(stream, TRACE_TAG_SYNC, payload, sizeof payload);
}

static void put_message(struct trace_stream *stream, enum trace_tag tag,
                        const struct trace_message *message)
{
    unsigned char payload[CONTROL_MAX];
    unsigned char *p = varint_put(payload, zigzag_encode(message->peer));
    p = varint_put(p, zigzag_encode(message->tag));
    p = varint_put(p, zigzag_encode(message->bytes));
    if (message->index >= 0)
        p = varint_put(p, (uint64_t)message->index);
    if (room_for(stream, sizeof payload))
        put_control(stream, tag, payload, (size_t)(p - payload));
}

void trace_stream_resolve(struct trace_stream *stream, const struct trace_message *message)
{
    put_message(stream, TRACE_TAG_RESOLVE, message);
}

void trace_stream_started(struct trace_stream *stream, bool is_send,
                          const struct trace_message *message)
{
    put_message(stream, is_send ? TRACE_TAG_SENDING : TRACE_TAG_RECEIVING, message);
}

void trace_stream_name(struct trace_stream *stream, uint32_t communicator, const char *name)
{
    unsigned char payload[CONTROL_MAX];
    size_t length = strnlen(name, TRACE_NAME_MAX);
    unsigned char *p = varint_put(payload, communicator);
    memcpy(p, name, length);
    if (room_for(stream, sizeof payload))
        put_control(stream, TRACE_TAG_NAME, payload, (size_t)(p + length - payload));
}

void trace_stream_completion(struct trace_stream *stream, const int *indices, size_t count)
{
    unsigned char payload[INDICES_MAX * 5 + VARINT_HEADROOM];
    unsigned char *p = payload;
    for (size_t i = 0; i < count && i < INDICES_MAX; i++)
        p = varint_put(p, (uint32_t)indices[i]);
    if (room_for(stream, (size_t)(p - payload)))
        put_control(stream, TRACE_TAG_COMPLETION, payload, (size_t)(p - payload));
}

void trace_stream_failed(struct trace_stream *stream, int error_class)
{
    unsigned char payload[CONTROL_MAX];
    unsigned char *p = varint_put(payload, (uint32_t)error_class);
    if (room_for(stream, (size_t)(p - payload)))
        put_control(stream, TRACE_TAG_FAILED, payload, (size_t)(p - payload));
}

void trace_stream_pause(struct trace_stream *stream, bool paused, uint64_t ticks)
{
    unsigned char payload[CONTROL_MAX];
    unsigned char *p = varint_put(payload, paused);
    p = varint_put(p, ticks);
    if (room_for(stream, (size_t)(p - payload)))
        put_control(stream, TRACE_TAG_PAUSE, payload, (size_t)(p - payload));
}

bool trace_stream_event(struct trace_stream *stream, uint32_t signature, uint64_t start,
                        uint64_t end)
{
    unsigned char payload[VARINT_HEADROOM];
    uint64_t tag = (uint64_t)signature + TRACE_TAG_EVENT;

    stream->announced = NULL;
    if (!room_for(stream, VARINT_MAX + TRACE_RECORD_MAX)) {
        stream->slot->dropped++;
        return false;
    }
    if (end < start)
        end = start; /* counters of two processors may differ by a few ticks */
    if (start < stream->previous_end) {
        unsigned char *p = varint_put(payload, stream->previous_end - start);
        put_control(stream, TRACE_TAG_BACK, payload, (size_t)(p - payload));
        stream->previous_end = start;
    }
    unsigned char *p = stream->cursor;
    unsigned char *q = varint_put(p + varint_size(tag), start - stream->previous_end);
    TRACE_STORED();
    q = varint_put(q, end - start);
    TRACE_STORED();
    trace_commit(p, tag);
    stream->cursor = q;
    stream->previous_end = end;
    return true;
}

/* --- runs of polls ---------------------------------------------------------------------------- */

/* One store for each member: a rank may be killed between any two. */
static inline void store_word(unsigned char *p, uint64_t word)
{
    memcpy(p, &word, sizeof word);
    TRACE_STORED();
}

static void count_poll(unsigned char *polled, uint64_t busy)
{
    struct trace_polled old;
    memcpy(&old, polled, sizeof old);
    store_word(polled + offsetof(struct trace_polled, count), old.count + 1);
    store_word(polled + offsetof(struct trace_polled, busy), old.busy + busy);
}

static void end_run(struct trace_stream *stream, uint64_t end)
{
    store_word(stream->run.polls + offsetof(struct trace_polls, end), end);
    stream->previous_end = end;
}

bool trace_run_count(struct trace_stream *stream, uint32_t signature, uint64_t start, uint64_t end)
{
    struct trace_run *run = &stream->run;
    if (!trace_run_goes_on(stream) || !run->polls)
        return false;
    uint32_t i = run->latest;
    for (uint32_t looked = 0; run->of[i].signature != signature; looked++) {
        if (looked == run->count)
            return false;
        i = i + 1 < run->count ? i + 1 : 0;
    }
    run->latest = i;
    stream->announced = NULL; /* its gap counts from an end that is no longer the last */
    end = end < start ? start : end;
    count_poll(run->of[i].polled, end - start);
    end_run(stream, end);
    return true;
}

/* A record that will change, as bytes at the stream's cursor. */
static unsigned char *put_changing(struct trace_stream *stream, enum trace_tag tag,
                                   const void *payload, size_t size)
{
    put_control(stream, tag, payload, size);
    return stream->cursor - size;
}

static void put_polled(struct trace_stream *stream, uint32_t signature, uint64_t count,
                       uint64_t busy)
{
    struct trace_run *run = &stream->run;
    struct trace_polled polled = {.count = count, .busy = busy, .signature = signature};
    run->of[run->count].signature = signature;
    run->of[run->count].polled =
        put_changing(stream, TRACE_TAG_POLLED, &polled, sizeof polled);
    run->latest = run->count++;
}

bool trace_run_join(struct trace_stream *stream, uint32_t signature, uint32_t common,
                    uint64_t start, uint64_t end)
{
    struct trace_run *run = &stream->run;
    if (run->count == TRACE_RUN_SIGNATURES ||
        stream->cursor + 4 * TRACE_RECORD_MAX > stream->limit) /* a run lies in one window */
        return false;
    end = end < start ? start : end;
    if (!run->polls) {
        struct trace_polls polls = {.end = end, .signature = common};
        bool same = run->of[0].signature == signature;
        run->count = 0;
        run->polls = put_changing(stream, TRACE_TAG_POLLS, &polls, sizeof polls);
        put_polled(stream, run->of[0].signature, same ? 2 : 1,
                   run->first_busy + (same ? end - start : 0));
        if (!same)
            put_polled(stream, signature, 1, end - start);
    } else {
        memcpy(run->polls + offsetof(struct trace_polls, signature), &common, sizeof common);
        TRACE_STORED();
        put_polled(stream, signature, 1, end - start);
    }
    end_run(stream, end);
    run->at = stream->cursor;
    return true;
}

bool trace_run_begin(struct trace_stream *stream, uint32_t signature, uint64_t start, uint64_t end)
{
    struct trace_run *run = &stream->run;
    bool written = trace_stream_event(stream, signature, start, end);
    run->at = written ? stream->cursor : NULL;
    run->polls = NULL;
    run->first_busy = end > start ? end - start : 0;
    run->of[0].signature = signature;
    run->latest = 0;
    run->count = 1;
    return written;
}
