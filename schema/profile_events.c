/* SPDX-License-Identifier: BSD-3-Clause */
/* The event columns of a profile file. */
#include "schema/profile_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "schema/profile_writer_parts.h"
#include "schema/whole_io.h"

enum {
    CHUNK_EVENTS = 32 * 1024, /* 256 KiB, of which several fit a reader's cache */
    /* What the package does by itself. */
    AUTO_EVENTS = 1 << 14, /* so many are compressed */
    AUTO_LEVEL = 4,
    DEFLATE_SKIPPED = 1 << 1, /* the second filter; the first is the one that sorts bytes */
};

void profile_events_begin(struct profile_events *events, const struct profile_file *file)
{
    *events = (struct profile_events){
        .file = file, .fd = -1, .chunked = {-1, -1, -1}, .stage = {.fd = -1}};
}

void profile_events_end(struct profile_events *events)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        if (events->chunked[i] >= 0)
            H5Dclose(events->chunked[i]);
    }
    profile_stage_end(&events->stage);
}

/* --- columns -----------------------------------------------------------------------------------
 */

/* A column of chunks that come compressed. */
static hid_t make_chunked(const struct profile_events *events, hid_t group, const char *name)
{
    hsize_t size = events->count, chunk = events->chunk;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, (unsigned)events->level);
    H5Pset_obj_track_times(properties, 0);
    H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
    hid_t column = H5Dcreate2(group, name, H5T_NATIVE_INT64, space, H5P_DEFAULT, properties,
                              H5P_DEFAULT);
    H5Pclose(properties);
    H5Sclose(space);
    return column;
}

static int reserve_column(struct profile_events *events, hid_t group, const char *name,
                          struct error *err)
{
    size_t number = events->columns++;
    errno = 0;
    if (events->level > 0) {
        events->chunked[number] = make_chunked(events, group, name);
        return events->chunked[number] < 0 ? profile_file_fail(events->file, name, err) : 0;
    }
    hid_t column = profile_column_make(group, name, H5T_NATIVE_INT64, events->count);
    if (column < 0)
        return profile_file_fail(events->file, name, err);
    haddr_t offset = events->count ? H5Dget_offset(column) : 0;
    H5Dclose(column);
    if (offset == HADDR_UNDEF)
        return error_set(err, "%s: HDF5 gave /events/%s no place in the file", events->file->path,
                         name);
    events->offsets[number] = offset;
    return 0;
}

static int reserve_columns(struct profile_events *events, hid_t group, int schema, bool lanes,
                           struct error *err)
{
    bool is_old = schema == PROFILE_SCHEMA_OLD;
    if (reserve_column(events, group, is_old ? "start_times" : "start_deltas", err) < 0 ||
        reserve_column(events, group, is_old ? "end_times" : "durations", err) < 0)
        return -1;
    return lanes ? reserve_column(events, group, "thread_ids", err) : 0;
}

int profile_writer_reserve(struct profile_writer *writer, uint64_t count, bool lanes,
                           struct error *err)
{
    struct profile_events *events = &writer->events;
    const struct profile_form *form = &writer->form;
    if (count > INT64_MAX / sizeof(int64_t) / COLUMNS)
        return error_set(err, "%s: too many events for one file", events->file->path);
    events->count = count;
    events->chunk = count < CHUNK_EVENTS ? count : CHUNK_EVENTS;
    events->level = form->compress != PROFILE_COMPRESS_AUTO ? form->compress
                    : count >= AUTO_EVENTS                  ? AUTO_LEVEL
                                                            : 0;
    if (count == 0)
        events->level = 0;
    errno = 0;
    hid_t group = profile_group_make(events->file, "/events");
    if (group < 0)
        return profile_file_fail(events->file, "/events", err);
    int status = reserve_columns(events, group, form->schema, lanes, err);
    H5Gclose(group);
    if (status < 0 || events->level == 0)
        return status;
    uint64_t all = count * events->columns * sizeof(int64_t);
    return profile_stage_begin(&events->stage, events->file->path, events->columns, events->chunk,
                               all < form->memory ? all : form->memory, err);
}

/* --- slices ------------------------------------------------------------------------------------
 */

static off_t place(const struct profile_events *events, size_t column, uint64_t first)
{
    return (off_t)(events->offsets[column] + first * sizeof(int64_t));
}

static int put_slice(const struct profile_events *events, size_t column, uint64_t first,
                     size_t count, const int64_t *values, struct error *err)
{
    if (events->level > 0)
        return profile_stage_put(&events->stage, column, first, count, values, err);
    return whole_write(events->fd, values, count * sizeof(*values),
                       place(events, column, first)) < 0
               ? error_set(err, "%s: cannot write: %s", events->file->path, strerror(errno))
               : 0;
}

static int get_slice(const struct profile_events *events, size_t column, uint64_t first,
                     size_t count, int64_t *values, struct error *err)
{
    if (events->level > 0)
        return profile_stage_get(&events->stage, column, first, count, values, err);
    return whole_read(events->fd, values, count * sizeof(*values),
                      place(events, column, first)) < 0
               ? error_set(err, "%s: cannot read back: %s", events->file->path, strerror(errno))
               : 0;
}

static int check_slice(const struct profile_events *events, uint64_t first, size_t count,
                       struct error *err)
{
    uint64_t low = events->level > 0 ? events->stage.first : 0;
    uint64_t high = events->level > 0 ? events->stage.end : events->count;
    if (events->columns == 0 || first < low || first > high || count > high - first)
        return error_set(err, "%s: events %llu to %llu lie outside the %llu reserved",
                         events->file->path, (unsigned long long)first,
                         (unsigned long long)first + count, (unsigned long long)events->count);
    return 0;
}

int profile_writer_put(struct profile_writer *writer, uint64_t first, size_t count,
                       const int64_t *starts, const int64_t *durations, const int64_t *lanes,
                       struct error *err)
{
    const struct profile_events *events = &writer->events;
    if (check_slice(events, first, count, err) < 0 ||
        put_slice(events, COLUMN_STARTS, first, count, starts, err) < 0 ||
        put_slice(events, COLUMN_DURATIONS, first, count, durations, err) < 0)
        return -1;
    return events->columns <= COLUMN_LANES
               ? 0
               : put_slice(events, COLUMN_LANES, first, count, lanes, err);
}

int profile_writer_get(struct profile_writer *writer, uint64_t first, size_t count, int64_t *starts,
                       int64_t *durations, int64_t *lanes, struct error *err)
{
    const struct profile_events *events = &writer->events;
    if (check_slice(events, first, count, err) < 0 ||
        get_slice(events, COLUMN_STARTS, first, count, starts, err) < 0 ||
        get_slice(events, COLUMN_DURATIONS, first, count, durations, err) < 0)
        return -1;
    return events->columns <= COLUMN_LANES
               ? 0
               : get_slice(events, COLUMN_LANES, first, count, lanes, err);
}

/* --- batches -----------------------------------------------------------------------------------
 */

uint64_t profile_writer_batch_limit(const struct profile_writer *writer)
{
    const struct profile_events *events = &writer->events;
    const struct profile_stage *stage = &events->stage;
    return events->level > 0 ? stage->end - stage->end % stage->chunk + stage->room : UINT64_MAX;
}

int profile_writer_batch(struct profile_writer *writer, uint64_t end, struct error *err)
{
    struct profile_events *events = &writer->events;
    if (events->level == 0)
        return 0;
    if (end < events->stage.end || end > events->count)
        return error_set(err, "%s: a batch that ends at event %llu", events->file->path,
                         (unsigned long long)end);
    return profile_stage_batch(&events->stage, end, err);
}

/* The last one of all is not filled. */
uint64_t profile_writer_chunks(const struct profile_writer *writer)
{
    const struct profile_events *events = &writer->events;
    uint64_t count = events->stage.end - events->stage.first;
    if (events->level == 0)
        return 0;
    return count / events->chunk + (events->stage.end == events->count && count % events->chunk);
}

uint64_t profile_writer_chunk_events(const struct profile_writer *writer)
{
    return writer->events.chunk;
}

/* Puts the lowest bytes of all values first, then the next ones, ... */
static void sort_bytes(const int64_t *values, size_t count, unsigned char *sorted)
{
    for (size_t byte = 0; byte < sizeof(*values); byte++) {
        for (size_t i = 0; i < count; i++)
            sorted[byte * count + i] = (unsigned char)((uint64_t)values[i] >> (8 * byte));
    }
}

/* values: a whole chunk. Both buffers have room for one, and data for what deflate may add. */
static void compress_column(const struct profile_events *events, const int64_t *values,
                            unsigned char *sorted, struct profile_packed_column *packed)
{
    size_t size = events->chunk * sizeof(*values);
    uLongf length = compressBound(size);
    sort_bytes(values, events->chunk, sorted);
    packed->skipped = 0;
    if (compress2(packed->data, &length, sorted, size, events->level) == Z_OK && length < size) {
        packed->size = length;
        return;
    }
    memcpy(packed->data, sorted, size);
    packed->size = size;
    packed->skipped = DEFLATE_SKIPPED;
}

void profile_writer_drop(struct profile_packed *packed)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        free(packed->columns[i].data);
        packed->columns[i].data = NULL;
    }
}

static int pack_columns(const struct profile_events *events, uint64_t first, int64_t *values,
                        unsigned char *sorted, struct profile_packed *packed, struct error *err)
{
    uint64_t left = events->stage.end - first;
    size_t count = (size_t)(left < events->chunk ? left : events->chunk);
    memset(values + count, 0, (events->chunk - count) * sizeof(*values));
    for (size_t i = 0; i < events->columns; i++) {
        struct profile_packed_column *column = &packed->columns[i];
        if (profile_stage_get(&events->stage, i, first, count, values, err) < 0)
            return -1;
        column->data = malloc(compressBound(events->chunk * sizeof(*values)));
        if (!column->data)
            return error_set(err, "%s: no memory to compress events", events->file->path);
        compress_column(events, values, sorted, column);
        void *less = realloc(column->data, column->size);
        column->data = less ? less : column->data;
    }
    return 0;
}

int profile_writer_pack(struct profile_writer *writer, uint64_t chunk,
                        struct profile_packed *packed, struct error *err)
{
    const struct profile_events *events = &writer->events;
    size_t size = events->chunk * sizeof(int64_t);
    int64_t *values = malloc(size);
    unsigned char *sorted = malloc(size);
    *packed = (struct profile_packed){.columns = {{.data = NULL}}};
    int status = values && sorted
                     ? pack_columns(events, events->stage.first + chunk * events->chunk, values,
                                    sorted, packed, err)
                     : error_set(err, "%s: no memory to compress events", events->file->path);
    if (status < 0)
        profile_writer_drop(packed);
    free(values);
    free(sorted);
    return status;
}

int profile_writer_keep(struct profile_writer *writer, uint64_t chunk,
                        struct profile_packed *packed, struct error *err)
{
    struct profile_events *events = &writer->events;
    hsize_t offset = events->stage.first + chunk * events->chunk;
    int status = 0;
    errno = 0;
    for (size_t i = 0; status == 0 && i < events->columns; i++) {
        const struct profile_packed_column *column = &packed->columns[i];
        if (H5Dwrite_chunk(events->chunked[i], H5P_DEFAULT, column->skipped, &offset, column->size,
                           column->data) < 0)
            status = profile_file_fail(events->file, "events", err);
        events->kept_bytes += column->size;
    }
    profile_writer_drop(packed);
    return status;
}

uint64_t profile_writer_event_bytes(const struct profile_writer *writer)
{
    const struct profile_events *events = &writer->events;
    return events->level > 0 ? events->kept_bytes
                             : events->count * events->columns * sizeof(int64_t);
}
