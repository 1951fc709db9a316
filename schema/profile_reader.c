/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the summary of a profile file: what its index says, without its events. */
#define _GNU_SOURCE
#include "schema/profile_reader.h"

#include <errno.h>
#include <hdf5.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    SCHEMA_MIN = 2,
    SCHEMA_MAX = 3,
    ROWS_MAX = 1 << 27,
    ATTRIBUTE_MAX = 64 * 1024, /* what an attribute can hold */
    EXPANSION_MAX = 1100,      /* deflate makes at most 1032 bytes of one */
    SLICE = 64 * 1024,         /* events read at once */
    TEXTS_MIN = 1 << 20,       /* bytes of names allowed whatever the size of the file */
};

struct source {
    hid_t file;
    const char *path;
};

static int damaged(const struct source *source, const char *what, const char *why,
                   struct error *err)
{
    return error_set(err, "%s: %s %s", source->path, what, why);
}

/* --- columns -----------------------------------------------------------------------------------
 */

/* Whether path exists and every part of it is a plain link: others can lead to other files. */
static bool path_exists(const struct source *source, const char *path)
{
    char part[64];
    size_t length = strlen(path);
    if (length >= sizeof(part))
        return false;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        H5L_info_t info;
        memcpy(part, path, i);
        part[i] = '\0';
        if (H5Lexists(source->file, part, H5P_DEFAULT) <= 0 ||
            H5Lget_info(source->file, part, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
            return false;
    }
    return true;
}

/* Whether the dataset's bytes are all in this file, so that nothing else gets opened. */
static bool is_stored_here(hid_t dataset)
{
    hid_t properties = H5Dget_create_plist(dataset);
    if (properties < 0)
        return false;
    H5D_layout_t layout = H5Pget_layout(properties);
    bool here = (layout == H5D_CONTIGUOUS && H5Pget_external_count(properties) == 0) ||
                layout == H5D_CHUNKED || layout == H5D_COMPACT;
    H5Pclose(properties);
    return here;
}

/* Number of elements of a one-dimensional dataset, checked against what is stored; -1: damaged. */
static int64_t element_count(hid_t dataset)
{
    hsize_t count = 0;
    hid_t space = H5Dget_space(dataset);
    int dimensions = H5Sget_simple_extent_ndims(space);
    if (dimensions == 1)
        H5Sget_simple_extent_dims(space, &count, NULL);
    H5Sclose(space);
    hid_t type = H5Dget_type(dataset);
    size_t size = H5Tget_size(type);
    H5Tclose(type);
    if (dimensions != 1 || size == 0 || count > INT64_MAX / EXPANSION_MAX)
        return -1;
    return count / EXPANSION_MAX <= H5Dget_storage_size(dataset) / size ? (int64_t)count : -1;
}

static bool type_fits(hid_t dataset, H5T_class_t class)
{
    hid_t type = H5Dget_type(dataset);
    bool fits = H5Tget_class(type) == class;
    H5Tclose(type);
    return fits;
}

/* Opens the column at path; *count elements, of class. Returns it, to be closed, or -1 and err. */
static hid_t open_column(const struct source *source, const char *path, H5T_class_t class,
                         uint64_t *count, struct error *err)
{
    if (!path_exists(source, path))
        return damaged(source, path, "is missing", err);
    hid_t dataset = H5Dopen2(source->file, path, H5P_DEFAULT);
    if (dataset < 0)
        return damaged(source, path, "is no dataset", err);
    int64_t elements = -1;
    if (is_stored_here(dataset) && type_fits(dataset, class))
        elements = element_count(dataset);
    if (elements >= 0) {
        *count = (uint64_t)elements;
        return dataset;
    }
    H5Dclose(dataset);
    return damaged(source, path, "has a wrong type or shape, or is truncated", err);
}

/* Reads the column at path, which must have count elements of class, into new memory. */
static void *read_column(const struct source *source, const char *path, H5T_class_t class,
                         hid_t type, uint64_t count, struct error *err)
{
    uint64_t found;
    hid_t dataset = open_column(source, path, class, &found, err);
    if (dataset < 0)
        return NULL;
    void *values = NULL;
    if (found != count)
        damaged(source, path, "has another number of rows than the index", err);
    else if (!(values = calloc(count ? count : 1, H5Tget_size(type))))
        damaged(source, path, "does not fit the memory", err);
    else if (count && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
        damaged(source, path, "cannot be read", err);
        free(values);
        values = NULL;
    }
    H5Dclose(dataset);
    return values;
}

/* --- texts -------------------------------------------------------------------------------------
 */

/* Memory for texts: many elements may point at one long text, so the sum has a limit. */
static void *limited_alloc(size_t size, void *data)
{
    uint64_t *left = data;
    if (size > *left)
        return NULL;
    *left -= size;
    return malloc(size);
}

static void limited_free(void *memory, void *data)
{
    (void)data;
    free(memory);
}

/* Texts of variable length; HDF5 allocates them with our functions, so they are ours to free. */
static int read_variable(const struct source *source, hid_t dataset, hid_t type, char **texts,
                         size_t count)
{
    hsize_t file_size = 0;
    H5Fget_filesize(source->file, &file_size);
    uint64_t left = TEXTS_MIN + file_size;
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_vlen_mem_manager(transfer, limited_alloc, &left, limited_free, NULL);
    int status = H5Dread(dataset, type, H5S_ALL, H5S_ALL, transfer, texts) < 0 ? -1 : 0;
    H5Pclose(transfer);
    for (size_t i = 0; status == 0 && i < count; i++) {
        if (!texts[i] && !(texts[i] = strdup("")))
            status = -1;
    }
    return status;
}

static int read_fixed(hid_t dataset, hid_t type, char **texts, size_t count)
{
    size_t size = H5Tget_size(type);
    char *raw = calloc(count ? count : 1, size);
    int status = raw && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) >= 0 ? 0 : -1;
    for (size_t i = 0; status == 0 && i < count; i++) {
        texts[i] = strndup(raw + i * size, size);
        if (!texts[i])
            status = -1;
    }
    free(raw);
    return status;
}

/* Reads the texts at path; *texts and the *count of them are to be freed also after a failure. */
static int read_texts(const struct source *source, const char *path, char ***texts, size_t *count,
                      struct error *err)
{
    uint64_t found;
    hid_t dataset = open_column(source, path, H5T_STRING, &found, err);
    if (dataset < 0)
        return -1;
    int status = -1;
    hid_t type = H5Dget_type(dataset);
    if (found <= ROWS_MAX && (*texts = calloc(found ? found : 1, sizeof(char *)))) {
        *count = found;
        if (found == 0)
            status = 0;
        else if (H5Tis_variable_str(type) > 0)
            status = read_variable(source, dataset, type, *texts, found);
        else
            status = read_fixed(dataset, type, *texts, found);
    }
    H5Tclose(type);
    H5Dclose(dataset);
    return status == 0 ? 0 : damaged(source, path, "cannot be read", err);
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++)
        free(texts[i]);
    free(texts);
}

/* --- metadata ----------------------------------------------------------------------------------
 */

static char *attribute_text(hid_t attribute, hid_t type)
{
    char *text = NULL;
    if (H5Tis_variable_str(type) > 0) {
        char *raw = NULL;
        hid_t space = H5Aget_space(attribute);
        if (H5Aread(attribute, type, &raw) >= 0) {
            text = strdup(raw ? raw : "");
            H5Dvlen_reclaim(type, space, H5P_DEFAULT, &raw);
        }
        H5Sclose(space);
        return text;
    }
    size_t size = H5Tget_size(type);
    if (size <= ATTRIBUTE_MAX && (text = calloc(1, size + 1)) &&
        H5Aread(attribute, type, text) < 0) {
        free(text);
        text = NULL;
    }
    return text;
}

static bool is_scalar(hid_t attribute)
{
    hid_t space = H5Aget_space(attribute);
    bool scalar = H5Sget_simple_extent_type(space) == H5S_SCALAR;
    H5Sclose(space);
    return scalar;
}

/* Reads a scalar text or integer; others (lists) are no failure, they are left out. */
static bool read_attribute(hid_t object, const char *name, struct profile_attribute *result)
{
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return false;
    memset(result, 0, sizeof(*result));
    hid_t type = H5Aget_type(attribute);
    H5T_class_t class = H5Tget_class(type);
    if (is_scalar(attribute) && class == H5T_STRING) {
        result->text = attribute_text(attribute, type);
    } else if (is_scalar(attribute) && class == H5T_INTEGER &&
               H5Aread(attribute, H5T_NATIVE_INT64, &result->number) >= 0) {
        result->is_number = true;
        if (asprintf(&result->text, "%" PRId64, result->number) < 0)
            result->text = NULL;
    }
    H5Tclose(type);
    H5Aclose(attribute);
    result->name = result->text ? strdup(name) : NULL;
    if (result->text && !result->name)
        free(result->text);
    return result->name != NULL;
}

static herr_t add_attribute(hid_t object, const char *name, const H5A_info_t *info, void *data)
{
    (void)info;
    struct profile *profile = data;
    struct profile_attribute attribute;
    if (!read_attribute(object, name, &attribute))
        return 0;
    struct profile_attribute *more =
        realloc(profile->attributes, (profile->attribute_count + 1) * sizeof(*more));
    if (!more) {
        free(attribute.name);
        free(attribute.text);
        return -1;
    }
    profile->attributes = more;
    profile->attributes[profile->attribute_count++] = attribute;
    return 0;
}

static int read_metadata(const struct source *source, struct profile *profile, struct error *err)
{
    if (!path_exists(source, "/metadata"))
        return 0;
    hid_t group = H5Gopen2(source->file, "/metadata", H5P_DEFAULT);
    if (group < 0)
        return damaged(source, "/metadata", "is no group", err);
    herr_t status = H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, NULL, add_attribute, profile);
    H5Gclose(group);
    return status < 0 ? damaged(source, "/metadata", "cannot be read", err) : 0;
}

const struct profile_attribute *profile_attribute(const struct profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->attribute_count; i++) {
        if (strcmp(profile->attributes[i].name, name) == 0)
            return &profile->attributes[i];
    }
    return NULL;
}

/* --- tables of numbers -------------------------------------------------------------------------
 */

/* A number column of a table and the place of its values in the structure of a row. */
struct number_plan {
    const char *path;
    size_t offset;
    enum { WIDE, NATURAL, NARROW, NARROW_SIGNED } type; /* 64 bits; these not negative; uint32_t;
                                                           int32_t */
};

/* Where the rows of a table go. */
struct rows {
    void *memory;
    size_t size; /* of a row */
    uint64_t count;
};

static bool put_number(void *place, int64_t value, int type)
{
    if (type == WIDE || (type == NATURAL && value >= 0))
        memcpy(place, &value, sizeof(value));
    else if (type == NARROW && value >= 0 && value <= UINT32_MAX)
        *(uint32_t *)place = (uint32_t)value;
    else if (type == NARROW_SIGNED && value >= INT32_MIN && value <= INT32_MAX)
        *(int32_t *)place = (int32_t)value;
    else
        return false;
    return true;
}

static int read_numbers(const struct source *source, const struct rows *rows,
                        const struct number_plan *plan, struct error *err)
{
    int64_t *values =
        read_column(source, plan->path, H5T_INTEGER, H5T_NATIVE_INT64, rows->count, err);
    if (!values)
        return -1;
    int status = 0;
    for (size_t i = 0; status == 0 && i < rows->count; i++) {
        if (!put_number((char *)rows->memory + i * rows->size + plan->offset, values[i],
                        plan->type))
            status = damaged(source, plan->path, "holds a number out of range", err);
    }
    free(values);
    return status;
}

static int read_plan(const struct source *source, const struct rows *rows,
                     const struct number_plan *plan, size_t columns, struct error *err)
{
    for (size_t i = 0; i < columns; i++) {
        if (read_numbers(source, rows, &plan[i], err) < 0)
            return -1;
    }
    return 0;
}

/* Makes memory for as many rows as the first column has, and reads the columns. rows->memory is to
 * be freed also after a failure. */
static int read_table(const struct source *source, struct rows *rows,
                      const struct number_plan *plan, size_t columns, struct error *err)
{
    hid_t dataset = open_column(source, plan->path, H5T_INTEGER, &rows->count, err);
    if (dataset < 0)
        return -1;
    H5Dclose(dataset);
    if (rows->count > ROWS_MAX ||
        !(rows->memory = calloc(rows->count ? rows->count : 1, rows->size)))
        return damaged(source, plan->path, "does not fit the memory", err);
    return read_plan(source, rows, plan, columns, err);
}

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* --- the index ---------------------------------------------------------------------------------
 */

#define PLACE(field) offsetof(struct profile_row, field)

static struct rows index_rows(const struct profile *profile)
{
    return (struct rows){profile->rows, sizeof(*profile->rows), profile->row_count};
}

/* Checks what later code relies on, and finds the size of the world. */
static int check_rows(const struct source *source, struct profile *profile, struct error *err)
{
    for (size_t i = 0; i < profile->row_count; i++) {
        const struct profile_row *row = &profile->rows[i];
        if (row->region >= profile->name_count)
            return damaged(source, "/rank_region_index", "names a region that is not there", err);
        if (row->rank >= profile->ranks)
            profile->ranks = (uint64_t)row->rank + 1;
    }
    return 0;
}

static int compare_first(const void *left, const void *right)
{
    const struct profile_row *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Rows must have events of their own: else a small file could make us read without end. */
static int check_slices(const struct source *source, struct profile *profile, uint64_t events,
                        struct error *err)
{
    if (profile->row_count > 1)
        qsort(profile->rows, profile->row_count, sizeof(*profile->rows), compare_first);
    uint64_t end = 0;
    for (size_t i = 0; i < profile->row_count; i++) {
        const struct profile_row *row = &profile->rows[i];
        if (row->first < end || row->first > events || row->count > events - row->first)
            return damaged(source, "/rank_region_index", "does not fit the events", err);
        end = row->first + row->count;
    }
    return 0;
}

/* A row without calls says nothing. */
static void drop_empty_rows(struct profile *profile)
{
    size_t kept = 0;
    for (size_t i = 0; i < profile->row_count; i++) {
        if (profile->rows[i].count > 0)
            profile->rows[kept++] = profile->rows[i];
    }
    profile->row_count = kept;
}

/* --- statistics --------------------------------------------------------------------------------
 */

struct statistics {
    int64_t total, minimum, maximum, first, last, start_minimum, end_maximum;
    double mean, m2;
};

static const struct member {
    const char *name;
    size_t offset;
    bool is_real;
} members[] = {
    {"total", offsetof(struct statistics, total), false},
    {"minimum", offsetof(struct statistics, minimum), false},
    {"maximum", offsetof(struct statistics, maximum), false},
    {"first", offsetof(struct statistics, first), false},
    {"last", offsetof(struct statistics, last), false},
    {"start_minimum", offsetof(struct statistics, start_minimum), false},
    {"end_maximum", offsetof(struct statistics, end_maximum), false},
    {"mean", offsetof(struct statistics, mean), true},
    {"m2", offsetof(struct statistics, m2), true},
};

/* Whether the stored compound has member i with a number in it. */
static bool has_member(hid_t stored, size_t i)
{
    int index = H5Tget_member_index(stored, members[i].name);
    if (index < 0)
        return false;
    H5T_class_t class = H5Tget_member_class(stored, (unsigned)index);
    return class == (members[i].is_real ? H5T_FLOAT : H5T_INTEGER);
}

static int read_statistics(const struct source *source, struct profile *profile, struct error *err)
{
    static const char path[] = "/rank_region_index/summary_statistics";
    uint64_t count;
    hid_t dataset = open_column(source, path, H5T_COMPOUND, &count, err);
    if (dataset < 0)
        return -1;
    hid_t stored = H5Dget_type(dataset);
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct statistics));
    bool complete = true;
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        complete = complete && has_member(stored, i);
        H5Tinsert(type, members[i].name, members[i].offset,
                  members[i].is_real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64);
    }
    H5Tclose(stored);
    H5Dclose(dataset);
    struct statistics *values = NULL;
    if (complete)
        values = read_column(source, path, H5T_COMPOUND, type, profile->row_count, err);
    else
        damaged(source, path, "lacks a member", err);
    H5Tclose(type);
    for (size_t i = 0; values && i < profile->row_count; i++) {
        struct profile_row *row = &profile->rows[i];
        row->total = values[i].total;
        row->minimum = values[i].minimum;
        row->maximum = values[i].maximum;
        row->first_duration = values[i].first;
        row->last_duration = values[i].last;
        row->earliest_start = values[i].start_minimum;
        row->latest_end = values[i].end_maximum;
        row->mean = values[i].mean;
        row->m2 = values[i].m2;
    }
    free(values);
    return values ? 0 : -1;
}

/* Files from before the statistics: they are taken from the events. */
struct event_columns {
    hid_t first, second;
    bool are_deltas; /* start deltas and durations, else starts and ends */
    int64_t *firsts, *seconds;
};

static int read_slice(hid_t dataset, uint64_t first, uint64_t count, int64_t *values)
{
    hsize_t start = first, size = count;
    hid_t memory = H5Screate_simple(1, &size, NULL);
    hid_t space = H5Dget_space(dataset);
    herr_t status = H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &size, NULL);
    if (status >= 0)
        status = H5Dread(dataset, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, values);
    H5Sclose(space);
    H5Sclose(memory);
    return status < 0 ? -1 : 0;
}

static int sum_row(const struct event_columns *columns, struct profile_row *row)
{
    int64_t start = 0;
    for (uint64_t done = 0; done < row->count;) {
        uint64_t size = row->count - done < SLICE ? row->count - done : SLICE;
        if (read_slice(columns->first, row->first + done, size, columns->firsts) < 0 ||
            read_slice(columns->second, row->first + done, size, columns->seconds) < 0)
            return -1;
        for (uint64_t i = 0; i < size; i++, done++) {
            int64_t second = columns->seconds[i];
            start =
                columns->are_deltas ? profile_add(start, columns->firsts[i]) : columns->firsts[i];
            profile_row_add(row, done, start,
                            columns->are_deltas ? second
                                                : profile_add(second, (int64_t) - (uint64_t)start));
        }
    }
    return 0;
}

static int sum_events(const struct source *source, struct profile *profile, struct error *err)
{
    struct event_columns columns = {.first = -1, .second = -1};
    uint64_t count = 0, seconds = 0;
    int status = -1;
    columns.are_deltas = path_exists(source, "/events/start_deltas");
    const char *first = columns.are_deltas ? "/events/start_deltas" : "/events/start_times";
    const char *second = columns.are_deltas ? "/events/durations" : "/events/end_times";
    columns.first = open_column(source, first, H5T_INTEGER, &count, err);
    if (columns.first >= 0)
        columns.second = open_column(source, second, H5T_INTEGER, &seconds, err);
    columns.firsts = malloc(SLICE * sizeof(int64_t));
    columns.seconds = malloc(SLICE * sizeof(int64_t));
    if (columns.first < 0 || columns.second < 0)
        goto done;
    if (!columns.firsts || !columns.seconds) {
        damaged(source, "/events", "do not fit the memory", err);
        goto done;
    }
    status = check_slices(source, profile, count < seconds ? count : seconds, err);
    for (size_t i = 0; status == 0 && i < profile->row_count; i++) {
        if (sum_row(&columns, &profile->rows[i]) < 0)
            status = damaged(source, "/events", "cannot be read", err);
    }
done:
    free(columns.firsts);
    free(columns.seconds);
    if (columns.first >= 0)
        H5Dclose(columns.first);
    if (columns.second >= 0)
        H5Dclose(columns.second);
    return status;
}

/* --- layouts -----------------------------------------------------------------------------------
 */

static int read_exclusive(const struct source *source, struct profile *profile, struct error *err)
{
    static const struct number_plan plan = {"/rank_region_index/exclusive_totals", PLACE(exclusive),
                                            WIDE};
    struct rows rows = index_rows(profile);
    for (size_t i = 0; i < profile->row_count; i++)
        profile->rows[i].exclusive = -1;
    return path_exists(source, plan.path) ? read_numbers(source, &rows, &plan, err) : 0;
}

static int read_columnar(const struct source *source, struct profile *profile, struct error *err)
{
    static const struct number_plan plan[] = {
        {"/rank_region_index/event_offsets", PLACE(first), NATURAL},
        {"/rank_region_index/event_counts", PLACE(count), NATURAL},
    };
    struct rows rows = index_rows(profile);
    if (read_plan(source, &rows, plan, COUNT_OF(plan), err) < 0 ||
        read_exclusive(source, profile, err) < 0)
        return -1;
    return path_exists(source, "/rank_region_index/summary_statistics")
               ? read_statistics(source, profile, err)
               : sum_events(source, profile, err);
}

static int read_aggregate(const struct source *source, struct profile *profile, struct error *err)
{
    static const struct number_plan plan[] = {
        {"/rank_region_index/aggregate_counts", PLACE(count), NATURAL},
        {"/rank_region_index/aggregate_totals", PLACE(total), WIDE},
        {"/rank_region_index/aggregate_minimums", PLACE(minimum), WIDE},
        {"/rank_region_index/aggregate_maximums", PLACE(maximum), WIDE},
        {"/rank_region_index/aggregate_exclusives", PLACE(exclusive), WIDE},
    };
    struct rows rows = index_rows(profile);
    if (read_plan(source, &rows, plan, COUNT_OF(plan), err) < 0)
        return -1;
    for (size_t i = 0; i < profile->row_count; i++) {
        struct profile_row *row = &profile->rows[i];
        row->mean = row->count ? (double)row->total / (double)row->count : 0;
    }
    return 0;
}

static int read_index(const struct source *source, struct profile *profile, struct error *err)
{
    static const struct number_plan plan[] = {
        {"/rank_region_index/region_ids", PLACE(region), NARROW},
        {"/rank_region_index/ranks", PLACE(rank), NARROW},
    };
    struct rows rows = {.size = sizeof(*profile->rows)};
    int status = read_table(source, &rows, plan, COUNT_OF(plan), err);
    profile->rows = rows.memory;
    profile->row_count = rows.count;
    return status;
}

static int read_schema(const struct source *source, struct profile *profile, struct error *err)
{
    struct profile_attribute version;
    if (H5Aexists(source->file, "scope_profiler_schema") <= 0)
        return damaged(source, "is no profile of schema 2 or 3", "(no scope_profiler_schema)", err);
    if (!read_attribute(source->file, "scope_profiler_schema", &version))
        return damaged(source, "scope_profiler_schema", "is no number", err);
    int64_t number = version.is_number ? version.number : -1;
    free(version.name);
    free(version.text);
    if (number < SCHEMA_MIN || number > SCHEMA_MAX)
        return error_set(err, "%s: schema %" PRId64 " cannot be read, only %d to %d", source->path,
                         number, SCHEMA_MIN, SCHEMA_MAX);
    profile->schema = (int)number;
    return 0;
}

static bool is_aggregate(const struct source *source)
{
    struct profile_attribute layout;
    if (H5Aexists(source->file, "storage_layout") <= 0 ||
        !read_attribute(source->file, "storage_layout", &layout))
        return false;
    bool aggregate = strcmp(layout.text, "aggregate") == 0;
    free(layout.name);
    free(layout.text);
    return aggregate;
}

/* --- our own tables ----------------------------------------------------------------------------
 */

/* The texts of a table's column, one for each of its rows. */
static int read_column_texts(const struct source *source, const char *path, uint64_t expected,
                             char ***texts, size_t *count, struct error *err)
{
    if (read_texts(source, path, texts, count, err) < 0)
        return -1;
    return *count == expected
               ? 0
               : damaged(source, path, "has another number of rows than its table", err);
}

/* The same of a column that older files do not have. */
static int read_added_texts(const struct source *source, const char *path, uint64_t expected,
                            char ***texts, size_t *count, struct error *err)
{
    return path_exists(source, path) ? read_column_texts(source, path, expected, texts, count, err)
                                     : 0;
}

/* A table of counted calls at path, in three columns of numbers and one of regions. */
static int read_counts(const struct source *source, const char *path,
                       const struct number_plan plan[static 3], const char *regions,
                       struct profile_counts *counts, struct error *err)
{
    struct rows rows = {.size = sizeof(*counts->rows)};
    if (!path_exists(source, path))
        return 0;
    int status = read_table(source, &rows, plan, 3, err);
    counts->rows = rows.memory;
    if (status < 0 ||
        read_column_texts(source, regions, rows.count, &counts->regions, &counts->count, err) < 0)
        return -1;
    for (size_t i = 0; i < counts->count; i++)
        counts->rows[i].region = counts->regions[i];
    return 0;
}

static int read_all_counts(const struct source *source, struct profile *profile, struct error *err)
{
#define FIELD(field) offsetof(struct profile_counted, field)
    static const struct number_plan polls[] = {
        {"/scope_profile/polls/ranks", FIELD(rank), NARROW},
        {"/scope_profile/polls/counts", FIELD(count), NATURAL},
        {"/scope_profile/polls/busy_ns", FIELD(ns), WIDE},
    };
    static const struct number_plan unrecorded[] = {
        {"/scope_profile/unrecorded/ranks", FIELD(rank), NARROW},
        {"/scope_profile/unrecorded/counts", FIELD(count), NATURAL},
        {"/scope_profile/unrecorded/total_ns", FIELD(ns), WIDE},
    };
#undef FIELD
    if (read_counts(source, "/scope_profile/polls", polls, "/scope_profile/polls/regions",
                    &profile->polls, err) < 0)
        return -1;
    return read_counts(source, "/scope_profile/unrecorded", unrecorded,
                       "/scope_profile/unrecorded/regions", &profile->unrecorded, err);
}

static int read_failed(const struct source *source, struct profile *profile, struct error *err)
{
#define FIELD(field) offsetof(struct profile_failed, field)
    static const struct number_plan plan[] = {
        {"/scope_profile/failed/ranks", FIELD(rank), NARROW},
        {"/scope_profile/failed/error_classes", FIELD(error_class), NARROW_SIGNED},
        {"/scope_profile/failed/counts", FIELD(count), NATURAL},
    };
#undef FIELD
    struct rows rows = {.size = sizeof(*profile->failed)};
    if (!path_exists(source, "/scope_profile/failed"))
        return 0;
    int status = read_table(source, &rows, plan, COUNT_OF(plan), err);
    profile->failed = rows.memory;
    if (status < 0 ||
        read_column_texts(source, "/scope_profile/failed/regions", rows.count,
                          &profile->failed_regions, &profile->failed_count, err) < 0)
        return -1;
    for (size_t i = 0; i < profile->failed_count; i++)
        profile->failed[i].region = profile->failed_regions[i];
    return 0;
}

static int read_pauses(const struct source *source, struct profile *profile, struct error *err)
{
#define FIELD(field) offsetof(struct profile_pause, field)
    static const struct number_plan plan[] = {
        {"/scope_profile/pauses/ranks", FIELD(rank), NARROW},
        {"/scope_profile/pauses/start_ns", FIELD(start_ns), WIDE},
        {"/scope_profile/pauses/duration_ns", FIELD(duration_ns), WIDE},
    };
#undef FIELD
    struct rows rows = {.size = sizeof(*profile->pauses)};
    if (!path_exists(source, "/scope_profile/pauses"))
        return 0;
    int status = read_table(source, &rows, plan, COUNT_OF(plan), err);
    profile->pauses = rows.memory;
    profile->pause_count = rows.count;
    return status;
}

static int read_ends(const struct source *source, struct profile *profile, struct error *err)
{
#define FIELD(field) offsetof(struct profile_end, field)
    static const struct number_plan plan[] = {
        {"/scope_profile/ranks/rank", FIELD(rank), NARROW},
        {"/scope_profile/ranks/end_status", FIELD(status), NARROW_SIGNED},
        {"/scope_profile/ranks/end_ns", FIELD(ns), WIDE},
    };
#undef FIELD
    struct rows rows = {.size = sizeof(*profile->ends)};
    if (!path_exists(source, "/scope_profile/ranks/end"))
        return 0;
    int status = read_table(source, &rows, plan, COUNT_OF(plan), err);
    profile->ends = rows.memory;
    if (status < 0 ||
        read_column_texts(source, "/scope_profile/ranks/state", rows.count, &profile->end_states,
                          &profile->state_count, err) < 0 ||
        read_column_texts(source, "/scope_profile/ranks/end", rows.count, &profile->end_texts,
                          &profile->end_count, err) < 0 ||
        read_added_texts(source, "/scope_profile/ranks/in_flight", rows.count, &profile->end_calls,
                         &profile->call_count, err) < 0 ||
        read_added_texts(source, "/scope_profile/ranks/outstanding", rows.count,
                         &profile->end_requests, &profile->request_count, err) < 0)
        return -1;
    for (size_t i = 0; i < profile->end_count; i++) {
        profile->ends[i].state = profile->end_states[i];
        profile->ends[i].text = profile->end_texts[i];
        profile->ends[i].in_flight = profile->end_calls ? profile->end_calls[i] : "";
        profile->ends[i].outstanding = profile->end_requests ? profile->end_requests[i] : "";
    }
    return 0;
}

/* --- the file ----------------------------------------------------------------------------------
 */

static int read_all(const struct source *source, struct profile *profile, struct error *err)
{
    if (read_schema(source, profile, err) < 0 || read_metadata(source, profile, err) < 0 ||
        read_texts(source, "/region_table/names", &profile->names, &profile->name_count, err) < 0 ||
        read_index(source, profile, err) < 0 || read_all_counts(source, profile, err) < 0 ||
        read_failed(source, profile, err) < 0 || read_pauses(source, profile, err) < 0 ||
        read_ends(source, profile, err) < 0)
        return -1;
    int status = is_aggregate(source) ? read_aggregate(source, profile, err)
                                      : read_columnar(source, profile, err);
    if (status < 0)
        return -1;
    const struct profile_attribute *size = profile_attribute(profile, "mpi_size");
    if (size && size->is_number && size->number > 0)
        profile->ranks = (uint64_t)size->number;
    drop_empty_rows(profile);
    return check_rows(source, profile, err);
}

static hid_t open_file(const char *path, struct error *err)
{
    struct stat info;
    if (stat(path, &info) < 0)
        return error_set(err, "cannot open %s: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return error_set(err, "%s is a directory: sp-merge makes a profile file of a run directory",
                         path);
    if (!S_ISREG(info.st_mode)) /* opening a FIFO would wait for a writer */
        return error_set(err, "cannot open %s: not a regular file", path);
    H5dont_atexit(); /* a damaged file must not make it crash in its own cleanup at exit */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* we tell the user ourselves */
    errno = 0;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file >= 0)
        return file;
    return error_set(err, "cannot open %s: %s", path,
                     errno ? strerror(errno) : "not an HDF5 file, or a truncated one");
}

int profile_read(struct profile *profile, const char *path, struct error *err)
{
    memset(profile, 0, sizeof(*profile));
    struct source source = {.path = path, .file = open_file(path, err)};
    if (source.file < 0)
        return -1;
    int status = read_all(&source, profile, err);
    H5Fclose(source.file);
    if (status < 0)
        profile_release(profile);
    return status;
}

static void release_counts(struct profile_counts *counts)
{
    free_texts(counts->regions, counts->count);
    free(counts->rows);
}

void profile_release(struct profile *profile)
{
    free_texts(profile->names, profile->name_count);
    release_counts(&profile->polls);
    release_counts(&profile->unrecorded);
    free_texts(profile->failed_regions, profile->failed_count);
    free_texts(profile->end_states, profile->state_count);
    free_texts(profile->end_texts, profile->end_count);
    free_texts(profile->end_calls, profile->call_count);
    free_texts(profile->end_requests, profile->request_count);
    for (size_t i = 0; i < profile->attribute_count; i++) {
        free(profile->attributes[i].name);
        free(profile->attributes[i].text);
    }
    free(profile->attributes);
    free(profile->rows);
    free(profile->failed);
    free(profile->pauses);
    free(profile->ends);
    memset(profile, 0, sizeof(*profile));
}
