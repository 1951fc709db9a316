/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a profile file: HDF5 in schema 3 of the Python package scope-profiler. */
#include "schema/profile_writer.h"

#include <errno.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SCHEMA_VERSION = 3,
    TEXT_MAX = 60000, /* the package cuts its own metadata there too; an attribute ends at 64 KiB */
    LIST_MAX = 4000,  /* 16 bytes in the attribute for each string of a list */
};

enum column { COLUMN_STARTS, COLUMN_DURATIONS, COLUMN_LANES, COLUMNS };

struct profile_writer {
    hid_t file;
    hid_t metadata;
    hid_t text; /* variable-length UTF-8: the only kind of string the package compares rightly */
    int fd;     /* of HDF5's own; events are written past the library */
    uint64_t events;
    uint64_t offsets[COLUMNS]; /* of the columns in the file; 0: no such column */
    char *path;
};

/* As the package declares it; the reader finds members by name. */
struct statistics {
    int64_t total, minimum, maximum, first, last, start_minimum, end_maximum;
    uint64_t gpu_count;
    int64_t gpu_total;
    double mean, m2;
};

/* --- text ------------------------------------------------------------------------------------ */

/* The length of the well-formed UTF-8 sequence at p (before end), or 0. */
static size_t utf8_sequence(const unsigned char *p, const unsigned char *end)
{
    size_t length = *p < 0x80   ? 1
                    : *p < 0xc2 ? 0
                    : *p < 0xe0 ? 2
                    : *p < 0xf0 ? 3
                    : *p < 0xf5 ? 4
                                : 0;
    if (length == 0 || length > (size_t)(end - p))
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    /* Overlong forms, surrogates, and what lies above U+10FFFF. */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return length;
}

/* A copy of text as UTF-8, at most TEXT_MAX bytes. NULL: no memory. */
static char *utf8_copy(const char *text)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + strlen(text);
    size_t size = (size_t)(end - p) < TEXT_MAX ? (size_t)(end - p) : TEXT_MAX;
    char *copy = malloc(size + 1);
    if (!copy)
        return NULL;
    size_t length = 0;
    while (p < end) {
        size_t step = utf8_sequence(p, end);
        if (length + (step ? step : 1) > size)
            break;
        if (step) {
            memcpy(copy + length, p, step);
            length += step;
            p += step;
        } else {
            copy[length++] = '?';
            p++;
        }
    }
    copy[length] = '\0';
    return copy;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++)
        free(texts[i]);
    free(texts);
}

/* --- attributes and columns --------------------------------------------------------------------
 */

static int fail(const struct profile_writer *writer, const char *what, struct error *err)
{
    return error_set(err, "%s: HDF5 cannot write %s%s%s", writer->path, what, errno ? ": " : "",
                     errno ? strerror(errno) : "");
}

static int write_attribute(const struct profile_writer *writer, hid_t object, const char *name,
                           hid_t type, hid_t space, const void *data, struct error *err)
{
    errno = 0;
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0)
        return fail(writer, name, err);
    herr_t status = H5Awrite(attribute, type, data);
    if (H5Aclose(attribute) < 0 || status < 0)
        return fail(writer, name, err);
    return 0;
}

static int write_scalar(const struct profile_writer *writer, hid_t object, const char *name,
                        hid_t type, const void *data, struct error *err)
{
    hid_t space = H5Screate(H5S_SCALAR);
    int status = write_attribute(writer, object, name, type, space, data, err);
    H5Sclose(space);
    return status;
}

/* Makes a one-dimensional dataset whose bytes have their place in the file at once and are not
 * written twice. */
static hid_t make_column(hid_t group, const char *name, hid_t type, uint64_t count)
{
    hsize_t size = count;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(properties, H5D_CONTIGUOUS);
    H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
    H5Pset_obj_track_times(properties, 0); /* the same traces make the same bytes */
    H5Pset_fill_time(properties,
                     H5Tis_variable_str(type) > 0 ? H5D_FILL_TIME_IFSET : H5D_FILL_TIME_NEVER);
    hid_t column = H5Dcreate2(group, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    H5Sclose(space);
    return column;
}

static int write_column(const struct profile_writer *writer, hid_t group, const char *name,
                        hid_t type, size_t count, const void *data, struct error *err)
{
    errno = 0;
    hid_t column = make_column(group, name, type, count);
    if (column < 0)
        return fail(writer, name, err);
    herr_t status = count == 0 ? 0 : H5Dwrite(column, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    if (H5Dclose(column) < 0 || status < 0)
        return fail(writer, name, err);
    return 0;
}

/* Values of a column are picked out of an array of structures. */
typedef void (*pick_function)(const void *rows, size_t row, void *value);

static int write_picked(const struct profile_writer *writer, hid_t group, const char *name,
                        hid_t type, const void *rows, size_t count, pick_function pick,
                        struct error *err)
{
    size_t size = H5Tget_size(type);
    char *values = calloc(count ? count : 1, size);
    if (!values)
        return error_set(err, "%s: no memory for %zu rows", writer->path, count);
    for (size_t i = 0; i < count; i++)
        pick(rows, i, values + i * size);
    int status = write_column(writer, group, name, type, count, values, err);
    free(values);
    return status;
}

static int write_texts(const struct profile_writer *writer, hid_t group, const char *name,
                       const void *rows, size_t count, pick_function pick, struct error *err)
{
    char **texts = calloc(count ? count : 1, sizeof(*texts));
    int status = texts ? 0 : -1;
    for (size_t i = 0; status == 0 && i < count; i++) {
        const char *text = NULL;
        pick(rows, i, &text);
        texts[i] = utf8_copy(text ? text : "");
        status = texts[i] ? 0 : -1;
    }
    if (status < 0)
        error_set(err, "%s: no memory for %zu rows", writer->path, count);
    else
        status = write_column(writer, group, name, writer->text, count, texts, err);
    free_texts(texts, count);
    return status;
}

/* Defines pick_NAME: member FIELD of struct STRUCT as TYPE. */
#define PICK(name, structure, type, field)                                                         \
    static void pick_##name(const void *rows, size_t row, void *value)                             \
    {                                                                                              \
        *(type *)value = ((const structure *)rows)[row].field;                                     \
    }

struct column_plan {
    const char *name;
    enum { U32, I32, U64, I64, TEXT } type;
    pick_function pick;
};

static hid_t memory_type(const struct profile_writer *writer, int type)
{
    return type == U32   ? H5T_NATIVE_UINT32
           : type == I32 ? H5T_NATIVE_INT32
           : type == U64 ? H5T_NATIVE_UINT64
           : type == I64 ? H5T_NATIVE_INT64
                         : writer->text;
}

static int write_plan(const struct profile_writer *writer, hid_t group,
                      const struct column_plan *plan, size_t columns, const void *rows,
                      size_t count, struct error *err)
{
    for (size_t i = 0; i < columns; i++) {
        int status =
            plan[i].type == TEXT
                ? write_texts(writer, group, plan[i].name, rows, count, plan[i].pick, err)
                : write_picked(writer, group, plan[i].name, memory_type(writer, plan[i].type), rows,
                               count, plan[i].pick, err);
        if (status < 0)
            return -1;
    }
    return 0;
}

/* Opens the group called path, making it (and those above it) if needed. */
static hid_t make_group(const struct profile_writer *writer, const char *path)
{
    hid_t properties = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(properties, 1);
    hid_t group = H5Gcreate2(writer->file, path, properties, H5P_DEFAULT, H5P_DEFAULT);
    H5Pclose(properties);
    return group;
}

static int write_table(const struct profile_writer *writer, const char *path,
                       const struct column_plan *plan, size_t columns, const void *rows,
                       size_t count, struct error *err)
{
    errno = 0;
    hid_t group = make_group(writer, path);
    if (group < 0)
        return fail(writer, path, err);
    int status = write_plan(writer, group, plan, columns, rows, count, err);
    if (H5Gclose(group) < 0 && status == 0)
        status = fail(writer, path, err);
    return status;
}

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* --- the file ----------------------------------------------------------------------------------
 */

static hid_t create_file(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_sec2(access); /* events are written through its descriptor */
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 11, 0))
    H5Pset_file_locking(access, 0, 1); /* nobody else knows the file yet; NFS may have no locks */
#endif
    hid_t file = H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, access);
    H5Pclose(access);
    return file;
}

static int file_descriptor(hid_t file)
{
    void *handle = NULL;
    if (H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 || !handle)
        return -1;
    return *(int *)handle;
}

static int write_root(struct profile_writer *writer, struct error *err)
{
    const int64_t version = SCHEMA_VERSION;
    const char *layout = "columnar";
    if (write_scalar(writer, writer->file, "scope_profiler_schema", H5T_NATIVE_INT64, &version,
                     err) < 0)
        return -1;
    return write_scalar(writer, writer->file, "storage_layout", writer->text, &layout, err);
}

int profile_writer_create(struct profile_writer **result, const char *path, struct error *err)
{
    H5dont_atexit(); /* after a write error HDF5 1.10 crashes in its own cleanup at exit */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* we tell the user ourselves */
    struct profile_writer *writer = calloc(1, sizeof(*writer));
    char *name = strdup(path);
    if (!writer || !name) {
        free(writer);
        free(name);
        return error_set(err, "%s: no memory", path);
    }
    writer->path = name;
    writer->metadata = writer->text = -1;
    errno = 0;
    writer->file = create_file(path);
    if (writer->file < 0) {
        error_set(err, "cannot create %s: %s", path, errno ? strerror(errno) : "HDF5 refuses");
        goto failed;
    }
    writer->text = H5Tcopy(H5T_C_S1);
    H5Tset_size(writer->text, H5T_VARIABLE);
    H5Tset_cset(writer->text, H5T_CSET_UTF8);
    writer->fd = file_descriptor(writer->file);
    writer->metadata = make_group(writer, "/metadata");
    if (writer->fd < 0 || writer->metadata < 0) {
        fail(writer, "metadata", err);
        goto failed;
    }
    if (write_root(writer, err) < 0)
        goto failed;
    *result = writer;
    return 0;
failed:
    profile_writer_discard(writer);
    return -1;
}

int profile_writer_set_text(struct profile_writer *writer, const char *name, const char *value,
                            struct error *err)
{
    if (!value)
        return 0;
    char *copy = utf8_copy(value);
    if (!copy)
        return error_set(err, "%s: no memory", writer->path);
    int status = write_scalar(writer, writer->metadata, name, writer->text, &copy, err);
    free(copy);
    return status;
}

int profile_writer_set_number(struct profile_writer *writer, const char *name, int64_t value,
                              struct error *err)
{
    return write_scalar(writer, writer->metadata, name, H5T_NATIVE_INT64, &value, err);
}

int profile_writer_set_list(struct profile_writer *writer, const char *name,
                            const char *const *values, size_t count, struct error *err)
{
    hsize_t size = count < LIST_MAX ? count : LIST_MAX;
    char **texts = calloc(size ? size : 1, sizeof(*texts));
    int status = texts ? 0 : -1;
    for (size_t i = 0; status == 0 && i < size; i++) {
        texts[i] = utf8_copy(values[i]);
        status = texts[i] ? 0 : -1;
    }
    if (status == 0) {
        hid_t space = H5Screate_simple(1, &size, NULL);
        status = write_attribute(writer, writer->metadata, name, writer->text, space, texts, err);
        H5Sclose(space);
    } else {
        error_set(err, "%s: no memory for %zu texts", writer->path, count);
    }
    free_texts(texts, size);
    return status;
}

/* --- events ------------------------------------------------------------------------------------
 */

static int reserve_column(struct profile_writer *writer, hid_t group, const char *name,
                          enum column number, struct error *err)
{
    errno = 0;
    hid_t column = make_column(group, name, H5T_NATIVE_INT64, writer->events);
    if (column < 0)
        return fail(writer, name, err);
    haddr_t offset = writer->events ? H5Dget_offset(column) : 0;
    H5Dclose(column);
    if (offset == HADDR_UNDEF)
        return error_set(err, "%s: HDF5 gave /events/%s no place in the file", writer->path, name);
    writer->offsets[number] = offset;
    return 0;
}

int profile_writer_reserve(struct profile_writer *writer, uint64_t events, bool lanes,
                           struct error *err)
{
    if (events > INT64_MAX / sizeof(int64_t) / COLUMNS)
        return error_set(err, "%s: too many events for one file", writer->path);
    writer->events = events;
    errno = 0;
    hid_t group = make_group(writer, "/events");
    if (group < 0)
        return fail(writer, "/events", err);
    int status = reserve_column(writer, group, "start_deltas", COLUMN_STARTS, err);
    if (status == 0)
        status = reserve_column(writer, group, "durations", COLUMN_DURATIONS, err);
    if (status == 0 && lanes)
        status = reserve_column(writer, group, "thread_ids", COLUMN_LANES, err);
    H5Gclose(group);
    return status;
}

static int put_slice(const struct profile_writer *writer, enum column column, uint64_t first,
                     size_t count, const int64_t *values, struct error *err)
{
    const char *data = (const char *)values;
    size_t left = count * sizeof(*values);
    off_t offset = (off_t)(writer->offsets[column] + first * sizeof(*values));
    while (left > 0) {
        ssize_t written = pwrite(writer->fd, data, left, offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return error_set(err, "%s: cannot write: %s", writer->path,
                             strerror(written < 0 ? errno : ENOSPC));
        data += written;
        offset += written;
        left -= (size_t)written;
    }
    return 0;
}

static int get_slice(const struct profile_writer *writer, enum column column, uint64_t first,
                     size_t count, int64_t *values, struct error *err)
{
    char *data = (char *)values;
    size_t left = count * sizeof(*values);
    off_t offset = (off_t)(writer->offsets[column] + first * sizeof(*values));
    while (left > 0) {
        ssize_t got = pread(writer->fd, data, left, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return error_set(err, "%s: cannot read back: %s", writer->path,
                             got < 0 ? strerror(errno) : "the file ends");
        data += got;
        offset += got;
        left -= (size_t)got;
    }
    return 0;
}

static int check_slice(const struct profile_writer *writer, uint64_t first, size_t count,
                       struct error *err)
{
    if (first > writer->events || count > writer->events - first)
        return error_set(err, "%s: events %llu to %llu lie outside the %llu reserved", writer->path,
                         (unsigned long long)first, (unsigned long long)first + count,
                         (unsigned long long)writer->events);
    return 0;
}

int profile_writer_put(struct profile_writer *writer, uint64_t first, size_t count,
                       const int64_t *starts, const int64_t *durations, const int64_t *lanes,
                       struct error *err)
{
    if (check_slice(writer, first, count, err) < 0 ||
        put_slice(writer, COLUMN_STARTS, first, count, starts, err) < 0 ||
        put_slice(writer, COLUMN_DURATIONS, first, count, durations, err) < 0)
        return -1;
    return writer->offsets[COLUMN_LANES] == 0
               ? 0
               : put_slice(writer, COLUMN_LANES, first, count, lanes, err);
}

int profile_writer_get(struct profile_writer *writer, uint64_t first, size_t count, int64_t *starts,
                       int64_t *durations, int64_t *lanes, struct error *err)
{
    if (check_slice(writer, first, count, err) < 0 ||
        get_slice(writer, COLUMN_STARTS, first, count, starts, err) < 0 ||
        get_slice(writer, COLUMN_DURATIONS, first, count, durations, err) < 0)
        return -1;
    return writer->offsets[COLUMN_LANES] == 0
               ? 0
               : get_slice(writer, COLUMN_LANES, first, count, lanes, err);
}

/* --- the index ---------------------------------------------------------------------------------
 */

PICK(region, struct profile_row, uint32_t, region)
PICK(row_rank, struct profile_row, uint32_t, rank)
PICK(first, struct profile_row, uint64_t, first)
PICK(count, struct profile_row, uint64_t, count)
PICK(exclusive, struct profile_row, int64_t, exclusive)

static void pick_unknown_line(const void *rows, size_t row, void *value)
{
    (void)rows;
    (void)row;
    *(int64_t *)value = -1;
}

static void pick_unknown_text(const void *rows, size_t row, void *value)
{
    (void)rows;
    (void)row;
    *(const char **)value = "";
}

static void pick_tags(const void *rows, size_t row, void *value)
{
    const char *tags = ((const struct profile_row *)rows)[row].tags;
    *(const char **)value = tags ? tags : "[]";
}

static void pick_name(const void *rows, size_t row, void *value)
{
    *(const char **)value = ((const char *const *)rows)[row];
}

static void pick_statistics(const void *rows, size_t row, void *value)
{
    const struct profile_row *from = (const struct profile_row *)rows + row;
    *(struct statistics *)value = (struct statistics){
        .total = from->total,
        .minimum = from->minimum,
        .maximum = from->maximum,
        .first = from->first_duration,
        .last = from->last_duration,
        .start_minimum = from->earliest_start,
        .end_maximum = from->latest_end,
        .mean = from->mean,
        .m2 = from->m2,
    };
}

static hid_t statistics_type(void)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct statistics));
#define MEMBER(name, kind) H5Tinsert(type, #name, offsetof(struct statistics, name), kind)
    MEMBER(total, H5T_NATIVE_INT64);
    MEMBER(minimum, H5T_NATIVE_INT64);
    MEMBER(maximum, H5T_NATIVE_INT64);
    MEMBER(first, H5T_NATIVE_INT64);
    MEMBER(last, H5T_NATIVE_INT64);
    MEMBER(start_minimum, H5T_NATIVE_INT64);
    MEMBER(end_maximum, H5T_NATIVE_INT64);
    MEMBER(gpu_count, H5T_NATIVE_UINT64);
    MEMBER(gpu_total, H5T_NATIVE_INT64);
    MEMBER(mean, H5T_NATIVE_DOUBLE);
    MEMBER(m2, H5T_NATIVE_DOUBLE);
#undef MEMBER
    return type;
}

static int write_statistics(const struct profile_writer *writer, hid_t group,
                            const struct profile_row *rows, size_t count, struct error *err)
{
    hid_t type = statistics_type();
    int status =
        write_picked(writer, group, "summary_statistics", type, rows, count, pick_statistics, err);
    H5Tclose(type);
    return status;
}

int profile_writer_index(struct profile_writer *writer, const char *const *names, size_t name_count,
                         const struct profile_row *rows, size_t row_count, struct error *err)
{
    static const struct column_plan name_plan[] = {{"names", TEXT, pick_name}};
    static const struct column_plan row_plan[] = {
        {"region_ids", U32, pick_region},          {"ranks", U32, pick_row_rank},
        {"event_offsets", U64, pick_first},        {"event_counts", U64, pick_count},
        {"source_lines", I64, pick_unknown_line},  {"source_files", TEXT, pick_unknown_text},
        {"source_texts", TEXT, pick_unknown_text}, {"tags", TEXT, pick_tags},
        {"exclusive_totals", I64, pick_exclusive},
    };
    if (write_table(writer, "/region_table", name_plan, COUNT_OF(name_plan), names, name_count,
                    err) < 0)
        return -1;
    errno = 0;
    hid_t group = make_group(writer, "/rank_region_index");
    if (group < 0)
        return fail(writer, "/rank_region_index", err);
    int status = write_plan(writer, group, row_plan, COUNT_OF(row_plan), rows, row_count, err);
    if (status == 0)
        status = write_statistics(writer, group, rows, row_count, err);
    H5Gclose(group);
    return status;
}

/* --- our own groups ----------------------------------------------------------------------------
 */

PICK(rank_rank, struct profile_rank, uint32_t, rank)
PICK(rank_state, struct profile_rank, const char *, state)
PICK(rank_host, struct profile_rank, const char *, host)
PICK(rank_node, struct profile_rank, const char *, node)
PICK(rank_pid, struct profile_rank, int32_t, pid)
PICK(rank_threads, struct profile_rank, uint32_t, threads)
PICK(rank_events, struct profile_rank, uint64_t, events)
PICK(rank_dropped, struct profile_rank, uint64_t, dropped)
PICK(rank_bytes, struct profile_rank, uint64_t, trace_bytes)
PICK(rank_last, struct profile_rank, int64_t, last_ns)
PICK(rank_end, struct profile_rank, const char *, end)
PICK(rank_end_status, struct profile_rank, int32_t, end_status)
PICK(rank_end_ns, struct profile_rank, int64_t, end_ns)
PICK(rank_in_flight, struct profile_rank, const char *, in_flight)
PICK(rank_outstanding, struct profile_rank, const char *, outstanding)
PICK(rank_offset, struct profile_rank, int64_t, clock_offset_ns)

int profile_writer_ranks(struct profile_writer *writer, const struct profile_rank *ranks,
                         size_t count, struct error *err)
{
    static const struct column_plan plan[] = {
        {"rank", U32, pick_rank_rank},
        {"state", TEXT, pick_rank_state},
        {"host", TEXT, pick_rank_host},
        {"node", TEXT, pick_rank_node},
        {"pid", I32, pick_rank_pid},
        {"threads", U32, pick_rank_threads},
        {"events", U64, pick_rank_events},
        {"dropped", U64, pick_rank_dropped},
        {"trace_bytes", U64, pick_rank_bytes},
        {"last_ns", I64, pick_rank_last},
        {"end", TEXT, pick_rank_end},
        {"end_status", I32, pick_rank_end_status},
        {"end_ns", I64, pick_rank_end_ns},
        {"in_flight", TEXT, pick_rank_in_flight},
        {"outstanding", TEXT, pick_rank_outstanding},
        {"clock_offset_ns", I64, pick_rank_offset},
    };
    return write_table(writer, "/scope_profile/ranks", plan, COUNT_OF(plan), ranks, count, err);
}

PICK(comm_id, struct profile_communicator, int64_t, id)
PICK(comm_key, struct profile_communicator, uint64_t, key)
PICK(comm_kind, struct profile_communicator, const char *, kind)
PICK(comm_parent, struct profile_communicator, int64_t, parent)
PICK(comm_size, struct profile_communicator, uint32_t, size)
PICK(comm_members, struct profile_communicator, const char *, members)
PICK(comm_name, struct profile_communicator, const char *, name)
PICK(comm_remote_size, struct profile_communicator, uint32_t, remote_size)
PICK(comm_remote_members, struct profile_communicator, const char *, remote_members)
PICK(handle_id, struct profile_handle, int64_t, id)
PICK(handle_rank, struct profile_handle, uint32_t, rank)
PICK(handle_local_id, struct profile_handle, uint32_t, local_id)
PICK(handle_local_rank, struct profile_handle, uint32_t, local_rank)
PICK(handle_handle, struct profile_handle, uint64_t, handle)

int profile_writer_communicators(struct profile_writer *writer,
                                 const struct profile_communicator *communicators, size_t count,
                                 const struct profile_handle *handles, size_t handle_count,
                                 struct error *err)
{
    static const struct column_plan plan[] = {
        {"id", I64, pick_comm_id},
        {"key", U64, pick_comm_key},
        {"kind", TEXT, pick_comm_kind},
        {"parent", I64, pick_comm_parent},
        {"name", TEXT, pick_comm_name},
        {"size", U32, pick_comm_size},
        {"members", TEXT, pick_comm_members},
        {"remote_size", U32, pick_comm_remote_size},
        {"remote_members", TEXT, pick_comm_remote_members},
    };
    static const struct column_plan handle_plan[] = {
        {"id", I64, pick_handle_id},
        {"rank", U32, pick_handle_rank},
        {"local_id", U32, pick_handle_local_id},
        {"local_rank", U32, pick_handle_local_rank},
        {"handle", U64, pick_handle_handle},
    };
    if (write_table(writer, "/scope_profile/communicators", plan, COUNT_OF(plan), communicators,
                    count, err) < 0)
        return -1;
    return write_table(writer, "/scope_profile/communicator_handles", handle_plan,
                       COUNT_OF(handle_plan), handles, handle_count, err);
}

PICK(host_name, struct profile_host, const char *, name)
PICK(host_ranks, struct profile_host, uint32_t, ranks)
PICK(host_offset, struct profile_host, int64_t, offset_ns)
PICK(host_first, struct profile_host, int64_t, first_correction_ns)
PICK(host_last, struct profile_host, int64_t, last_correction_ns)
PICK(host_half_width, struct profile_host, int64_t, half_width_ns)
PICK(host_messages, struct profile_host, uint64_t, messages)

int profile_writer_hosts(struct profile_writer *writer, const struct profile_host *hosts,
                         size_t count, struct error *err)
{
    static const struct column_plan plan[] = {
        {"name", TEXT, pick_host_name},
        {"ranks", U32, pick_host_ranks},
        {"offset_ns", I64, pick_host_offset},
        {"first_correction_ns", I64, pick_host_first},
        {"last_correction_ns", I64, pick_host_last},
        {"half_width_ns", I64, pick_host_half_width},
        {"messages", U64, pick_host_messages},
    };
    return write_table(writer, "/scope_profile/hosts", plan, COUNT_OF(plan), hosts, count, err);
}

PICK(thread_rank, struct profile_thread, uint32_t, rank)
PICK(thread_index, struct profile_thread, int64_t, index)
PICK(thread_id, struct profile_thread, int64_t, thread_id)
PICK(thread_start, struct profile_thread, int64_t, start_ns)
PICK(thread_end, struct profile_thread, int64_t, end_ns)

static void pick_thread_name(const void *rows, size_t row, void *value)
{
    *(const char **)value =
        ((const struct profile_thread *)rows)[row].index == 0 ? "main" : "thread";
}

int profile_writer_threads(struct profile_writer *writer, const struct profile_thread *threads,
                           size_t count, struct error *err)
{
    static const struct column_plan plan[] = {
        {"ranks", U32, pick_thread_rank},     {"index", I64, pick_thread_index},
        {"ident", I64, pick_thread_id},       {"native_id", I64, pick_thread_id},
        {"start_ns", I64, pick_thread_start}, {"end_ns", I64, pick_thread_end},
        {"cpu_ns", I64, pick_unknown_line},   {"name", TEXT, pick_thread_name},
    };
    if (write_table(writer, "/thread_table", plan, COUNT_OF(plan), threads, count, err) < 0)
        return -1;
    /* One byte per thread is no column of the plan: none of the threads is a Python daemon. */
    int8_t *daemon = calloc(count ? count : 1, sizeof(*daemon));
    hid_t group = H5Gopen2(writer->file, "/thread_table", H5P_DEFAULT);
    int status = daemon && group >= 0
                     ? write_column(writer, group, "daemon", H5T_NATIVE_INT8, count, daemon, err)
                     : fail(writer, "/thread_table", err);
    if (group >= 0)
        H5Gclose(group);
    free(daemon);
    return status;
}

PICK(counted_rank, struct profile_counted, uint32_t, rank)
PICK(counted_region, struct profile_counted, const char *, region)
PICK(counted_count, struct profile_counted, uint64_t, count)
PICK(counted_ns, struct profile_counted, int64_t, ns)

/* Writes a table of counted calls, whose column of times is called `times`. */
static int write_counted(const struct profile_writer *writer, const char *path, const char *times,
                         const struct profile_counted *rows, size_t count, struct error *err)
{
    const struct column_plan plan[] = {
        {"ranks", U32, pick_counted_rank},
        {"regions", TEXT, pick_counted_region},
        {"counts", U64, pick_counted_count},
        {times, I64, pick_counted_ns},
    };
    return write_table(writer, path, plan, COUNT_OF(plan), rows, count, err);
}

int profile_writer_polls(struct profile_writer *writer, const struct profile_counted *polls,
                         size_t count, struct error *err)
{
    return write_counted(writer, "/scope_profile/polls", "busy_ns", polls, count, err);
}

int profile_writer_unrecorded(struct profile_writer *writer, const struct profile_counted *calls,
                              size_t count, struct error *err)
{
    return write_counted(writer, "/scope_profile/unrecorded", "total_ns", calls, count, err);
}

PICK(failed_rank, struct profile_failed, uint32_t, rank)
PICK(failed_region, struct profile_failed, const char *, region)
PICK(failed_class, struct profile_failed, int32_t, error_class)
PICK(failed_count, struct profile_failed, uint64_t, count)

int profile_writer_failed(struct profile_writer *writer, const struct profile_failed *failed,
                          size_t count, struct error *err)
{
    static const struct column_plan plan[] = {
        {"ranks", U32, pick_failed_rank},
        {"regions", TEXT, pick_failed_region},
        {"error_classes", I32, pick_failed_class},
        {"counts", U64, pick_failed_count},
    };
    return write_table(writer, "/scope_profile/failed", plan, COUNT_OF(plan), failed, count, err);
}

PICK(pause_rank, struct profile_pause, uint32_t, rank)
PICK(pause_start, struct profile_pause, int64_t, start_ns)
PICK(pause_duration, struct profile_pause, int64_t, duration_ns)

int profile_writer_pauses(struct profile_writer *writer, const struct profile_pause *pauses,
                          size_t count, struct error *err)
{
    static const struct column_plan plan[] = {
        {"ranks", U32, pick_pause_rank},
        {"start_ns", I64, pick_pause_start},
        {"duration_ns", I64, pick_pause_duration},
    };
    return write_table(writer, "/scope_profile/pauses", plan, COUNT_OF(plan), pauses, count, err);
}

PICK(outstanding_rank, struct profile_outstanding, uint32_t, rank)
PICK(outstanding_operation, struct profile_outstanding, const char *, operation)
PICK(outstanding_bytes, struct profile_outstanding, int64_t, bytes)
PICK(outstanding_peer, struct profile_outstanding, int32_t, peer)
PICK(outstanding_tag, struct profile_outstanding, int32_t, tag)
PICK(outstanding_communicator, struct profile_outstanding, int64_t, communicator)
PICK(outstanding_count, struct profile_outstanding, uint64_t, count)
PICK(outstanding_waited, struct profile_outstanding, uint32_t, is_waited)
PICK(outstanding_completed, struct profile_outstanding, uint32_t, has_completed)

int profile_writer_outstanding(struct profile_writer *writer,
                               const struct profile_outstanding *outstanding, size_t count,
                               struct error *err)
{
    static const struct column_plan plan[] = {
        {"ranks", U32, pick_outstanding_rank},
        {"operations", TEXT, pick_outstanding_operation},
        {"bytes", I64, pick_outstanding_bytes},
        {"peers", I32, pick_outstanding_peer},
        {"tags", I32, pick_outstanding_tag},
        {"comms", I64, pick_outstanding_communicator},
        {"counts", U64, pick_outstanding_count},
        {"waited", U32, pick_outstanding_waited},
        {"completed", U32, pick_outstanding_completed},
    };
    return write_table(writer, "/scope_profile/outstanding", plan, COUNT_OF(plan), outstanding,
                       count, err);
}

/* --- the end -----------------------------------------------------------------------------------
 */

/* Closes everything; the first failure is in err. */
static int release(struct profile_writer *writer, struct error *err)
{
    int status = 0;
    errno = 0;
    if (writer->metadata >= 0)
        H5Gclose(writer->metadata);
    if (writer->text >= 0)
        H5Tclose(writer->text);
    /* With no object left open the descriptor is closed here too: it is duplicated for fsync. */
    int fd = writer->file >= 0 ? dup(writer->fd) : -1;
    if (writer->file >= 0 && H5Fclose(writer->file) < 0)
        status = fail(writer, "the end of the file", err);
    else if (err && (fd < 0 || fsync(fd) < 0))
        status = error_set(err, "%s: cannot sync: %s", writer->path, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(writer->path);
    free(writer);
    return status;
}

int profile_writer_close(struct profile_writer *writer, struct error *err)
{
    struct error unseen;
    return release(writer, err ? err : &unseen);
}

void profile_writer_discard(struct profile_writer *writer)
{
    release(writer, NULL);
}
