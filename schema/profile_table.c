/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of a profile file: groups of columns, each a dataset of one dimension; and attributes. */
#include "schema/profile_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MAX = 60000, /* the package cuts its own metadata there too; an attribute ends at 64 KiB */
    LIST_MAX = 4000,  /* 16 bytes in the attribute for each string of a list */
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
static char *copy_text(const char *text)
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

int profile_file_fail(const struct profile_file *file, const char *what, struct error *err)
{
    return error_set(err, "%s: HDF5 cannot write %s%s%s", file->path, what, errno ? ": " : "",
                     errno ? strerror(errno) : "");
}

static int write_attribute(const struct profile_file *file, hid_t object, const char *name,
                           hid_t type, hid_t space, const void *data, struct error *err)
{
    errno = 0;
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0)
        return profile_file_fail(file, name, err);
    herr_t status = H5Awrite(attribute, type, data);
    if (H5Aclose(attribute) < 0 || status < 0)
        return profile_file_fail(file, name, err);
    return 0;
}

int profile_attribute_scalar(const struct profile_file *file, hid_t object, const char *name,
                             hid_t type, const void *data, struct error *err)
{
    hid_t space = H5Screate(H5S_SCALAR);
    int status = write_attribute(file, object, name, type, space, data, err);
    H5Sclose(space);
    return status;
}

int profile_attribute_text(const struct profile_file *file, hid_t object, const char *name,
                           const char *value, struct error *err)
{
    char *copy = copy_text(value);
    if (!copy)
        return error_set(err, "%s: no memory", file->path);
    int status = profile_attribute_scalar(file, object, name, file->text, &copy, err);
    free(copy);
    return status;
}

int profile_attribute_list(const struct profile_file *file, hid_t object, const char *name,
                           const char *const *values, size_t count, struct error *err)
{
    hsize_t size = count < LIST_MAX ? count : LIST_MAX;
    char **texts = calloc(size ? size : 1, sizeof(*texts));
    int status = texts ? 0 : -1;
    for (size_t i = 0; status == 0 && i < size; i++) {
        texts[i] = copy_text(values[i]);
        status = texts[i] ? 0 : -1;
    }
    if (status == 0) {
        hid_t space = H5Screate_simple(1, &size, NULL);
        status = write_attribute(file, object, name, file->text, space, texts, err);
        H5Sclose(space);
    } else {
        error_set(err, "%s: no memory for %zu texts", file->path, count);
    }
    free_texts(texts, size);
    return status;
}

hid_t profile_column_make(hid_t group, const char *name, hid_t type, uint64_t count)
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

int profile_column_write(const struct profile_file *file, hid_t group, const char *name, hid_t type,
                         size_t count, const void *data, struct error *err)
{
    errno = 0;
    hid_t column = profile_column_make(group, name, type, count);
    if (column < 0)
        return profile_file_fail(file, name, err);
    herr_t status = count == 0 ? 0 : H5Dwrite(column, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    if (H5Dclose(column) < 0 || status < 0)
        return profile_file_fail(file, name, err);
    return 0;
}

int profile_column_pick(const struct profile_file *file, hid_t group, const char *name, hid_t type,
                        const void *rows, size_t count, profile_pick pick, struct error *err)
{
    size_t size = H5Tget_size(type);
    char *values = calloc(count ? count : 1, size);
    if (!values)
        return error_set(err, "%s: no memory for %zu rows", file->path, count);
    for (size_t i = 0; i < count; i++)
        pick(rows, i, values + i * size);
    int status = profile_column_write(file, group, name, type, count, values, err);
    free(values);
    return status;
}

static int write_texts(const struct profile_file *file, hid_t group, const char *name,
                       const void *rows, size_t count, profile_pick pick, struct error *err)
{
    char **texts = calloc(count ? count : 1, sizeof(*texts));
    int status = texts ? 0 : -1;
    for (size_t i = 0; status == 0 && i < count; i++) {
        const char *text = NULL;
        pick(rows, i, &text);
        texts[i] = copy_text(text ? text : "");
        status = texts[i] ? 0 : -1;
    }
    if (status < 0)
        error_set(err, "%s: no memory for %zu rows", file->path, count);
    else
        status = profile_column_write(file, group, name, file->text, count, texts, err);
    free_texts(texts, count);
    return status;
}

/* --- tables ------------------------------------------------------------------------------------
 */

static hid_t memory_type(const struct profile_file *file, int type)
{
    return type == U32   ? H5T_NATIVE_UINT32
           : type == I32 ? H5T_NATIVE_INT32
           : type == U64 ? H5T_NATIVE_UINT64
           : type == I64 ? H5T_NATIVE_INT64
                         : file->text;
}

int profile_table_fill(const struct profile_file *file, hid_t group,
                       const struct profile_column *plan, size_t columns, const void *rows,
                       size_t count, struct error *err)
{
    for (size_t i = 0; i < columns; i++) {
        int status =
            plan[i].type == TEXT
                ? write_texts(file, group, plan[i].name, rows, count, plan[i].pick, err)
                : profile_column_pick(file, group, plan[i].name, memory_type(file, plan[i].type),
                                      rows, count, plan[i].pick, err);
        if (status < 0)
            return -1;
    }
    return 0;
}

hid_t profile_group_make(const struct profile_file *file, const char *path)
{
    hid_t properties = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(properties, 1);
    hid_t group = H5Gcreate2(file->id, path, properties, H5P_DEFAULT, H5P_DEFAULT);
    H5Pclose(properties);
    return group;
}

int profile_table_write(const struct profile_file *file, const char *path,
                        const struct profile_column *plan, size_t columns, const void *rows,
                        size_t count, struct error *err)
{
    errno = 0;
    hid_t group = profile_group_make(file, path);
    if (group < 0)
        return profile_file_fail(file, path, err);
    int status = profile_table_fill(file, group, plan, columns, rows, count, err);
    if (H5Gclose(group) < 0 && status == 0)
        status = profile_file_fail(file, path, err);
    return status;
}
