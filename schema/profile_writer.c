/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a profile file: HDF5 in schema 3 of the Python package scope-profiler, or in schema 2. */
#include "schema/profile_writer.h"

#include <errno.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/profile_writer_parts.h"

/* As the package declares it; the reader finds members by name. */
struct statistics {
    int64_t total, minimum, maximum, first, last, start_minimum, end_maximum;
    uint64_t gpu_count;
    int64_t gpu_total;
    double mean, m2;
};

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
    const int64_t version = writer->form.schema;
    const char *layout = writer->form.is_aggregate ? "aggregate" : "columnar";
    const struct profile_file *file = &writer->file;
    if (profile_attribute_scalar(file, file->id, "scope_profiler_schema", H5T_NATIVE_INT64,
                                 &version, err) < 0)
        return -1;
    return profile_attribute_scalar(file, file->id, "storage_layout", file->text, &layout, err);
}

int profile_writer_create(struct profile_writer **result, const char *path,
                          const struct profile_form *form, struct error *err)
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
    writer->file.path = name;
    writer->metadata = writer->file.text = -1;
    profile_events_begin(&writer->events, &writer->file);
    writer->form = form ? *form : (struct profile_form){.schema = PROFILE_SCHEMA};
    errno = 0;
    writer->file.id = create_file(path);
    if (writer->file.id < 0) {
        error_set(err, "cannot create %s: %s", path, errno ? strerror(errno) : "HDF5 refuses");
        goto failed;
    }
    writer->file.text = H5Tcopy(H5T_C_S1);
    H5Tset_size(writer->file.text, H5T_VARIABLE);
    H5Tset_cset(writer->file.text, H5T_CSET_UTF8);
    writer->events.fd = file_descriptor(writer->file.id);
    writer->metadata = profile_group_make(&writer->file, "/metadata");
    if (writer->events.fd < 0 || writer->metadata < 0) {
        profile_file_fail(&writer->file, "metadata", err);
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
    return value ? profile_attribute_text(&writer->file, writer->metadata, name, value, err) : 0;
}

int profile_writer_set_number(struct profile_writer *writer, const char *name, int64_t value,
                              struct error *err)
{
    return profile_attribute_scalar(&writer->file, writer->metadata, name, H5T_NATIVE_INT64,
                                    &value, err);
}

int profile_writer_set_list(struct profile_writer *writer, const char *name,
                            const char *const *values, size_t count, struct error *err)
{
    return profile_attribute_list(&writer->file, writer->metadata, name, values, count, err);
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

/* What the package reads of a file without events. */
PICK(total, struct profile_row, int64_t, total)
PICK(minimum, struct profile_row, int64_t, minimum)
PICK(maximum, struct profile_row, int64_t, maximum)

static int write_aggregate(const struct profile_file *file, hid_t group,
                           const struct profile_row *rows, size_t count, struct error *err)
{
    static const struct profile_column plan[] = {
        {"region_ids", U32, pick_region},
        {"ranks", U32, pick_row_rank},
        {"aggregate_counts", U64, pick_count},
        {"aggregate_totals", I64, pick_total},
        {"aggregate_minimums", I64, pick_minimum},
        {"aggregate_maximums", I64, pick_maximum},
        {"aggregate_exclusives", I64, pick_exclusive},
    };
    return profile_table_fill(file, group, plan, COUNT_OF(plan), rows, count, err);
}

static int write_rows(const struct profile_file *file, hid_t group, const struct profile_row *rows,
                      size_t count, struct error *err)
{
    static const struct profile_column plan[] = {
        {"region_ids", U32, pick_region},          {"ranks", U32, pick_row_rank},
        {"event_offsets", U64, pick_first},        {"event_counts", U64, pick_count},
        {"source_lines", I64, pick_unknown_line},  {"source_files", TEXT, pick_unknown_text},
        {"source_texts", TEXT, pick_unknown_text}, {"tags", TEXT, pick_tags},
        {"exclusive_totals", I64, pick_exclusive},
    };
    if (profile_table_fill(file, group, plan, COUNT_OF(plan), rows, count, err) < 0)
        return -1;
    hid_t type = statistics_type();
    int status = profile_column_pick(file, group, "summary_statistics", type, rows, count,
                                     pick_statistics, err);
    H5Tclose(type);
    return status;
}

int profile_writer_index(struct profile_writer *writer, const char *const *names, size_t name_count,
                         const struct profile_row *rows, size_t row_count, struct error *err)
{
    static const struct profile_column name_plan[] = {{"names", TEXT, pick_name}};
    const struct profile_file *file = &writer->file;
    if (profile_table_write(file, "/region_table", name_plan, COUNT_OF(name_plan), names,
                            name_count, err) < 0)
        return -1;
    errno = 0;
    hid_t group = profile_group_make(file, "/rank_region_index");
    if (group < 0)
        return profile_file_fail(file, "/rank_region_index", err);
    int status = writer->form.is_aggregate ? write_aggregate(file, group, rows, row_count, err)
                                           : write_rows(file, group, rows, row_count, err);
    H5Gclose(group);
    return status;
}

/* --- the end -----------------------------------------------------------------------------------
 */

/* Closes everything; the first failure is in err. */
static int release(struct profile_writer *writer, struct error *err)
{
    int status = 0;
    errno = 0;
    profile_events_end(&writer->events);
    if (writer->metadata >= 0)
        H5Gclose(writer->metadata);
    if (writer->file.text >= 0)
        H5Tclose(writer->file.text);
    /* With no object left open the descriptor is closed here too: it is duplicated for fsync. */
    int fd = writer->file.id >= 0 ? dup(writer->events.fd) : -1;
    if (writer->file.id >= 0 && H5Fclose(writer->file.id) < 0)
        status = profile_file_fail(&writer->file, "the end of the file", err);
    else if (err && (fd < 0 || fsync(fd) < 0))
        status = error_set(err, "%s: cannot sync: %s", writer->file.path, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(writer->file.path);
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
