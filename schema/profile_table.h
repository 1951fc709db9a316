/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of a profile file: groups of columns, each a dataset of one dimension; and attributes.
 *
 * All functions that return int return 0, or -1 and err.
 */
#ifndef SCOPE_PROFILE_TABLE_H
#define SCOPE_PROFILE_TABLE_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"

/* What is written to. */
struct profile_file {
    hid_t id;
    hid_t text; /* variable-length UTF-8: the only kind of string the package compares rightly */
    char *path; /* for messages */
};

/* Picks the value of a column out of an array of structures. */
typedef void (*profile_pick)(const void *rows, size_t row, void *value);

struct profile_column {
    const char *name;
    enum { U32, I32, U64, I64, TEXT } type;
    profile_pick pick;
};

/* Defines pick_NAME: member FIELD of struct STRUCTURE as TYPE. */
#define PICK(name, structure, type, field)                                                         \
    static void pick_##name(const void *rows, size_t row, void *value)                             \
    {                                                                                              \
        *(type *)value = ((const structure *)rows)[row].field;                                     \
    }

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* Says that HDF5, or what errno tells of, kept us from writing what. Returns -1. */
int profile_file_fail(const struct profile_file *file, const char *what, struct error *err);

int profile_attribute_scalar(const struct profile_file *file, hid_t object, const char *name,
                             hid_t type, const void *data, struct error *err);
/* A long text is cut at 60000 bytes. */
int profile_attribute_text(const struct profile_file *file, hid_t object, const char *name,
                           const char *value, struct error *err);
/* A list is cut where it would no longer fit an attribute. */
int profile_attribute_list(const struct profile_file *file, hid_t object, const char *name,
                           const char *const *values, size_t count, struct error *err);

/* Opens the group called path, making it (and those above it) if needed. Negative: it failed. */
hid_t profile_group_make(const struct profile_file *file, const char *path);

/* Makes a one-dimensional dataset whose bytes have their place in the file at once and are not
 * written twice. Negative: it failed. */
hid_t profile_column_make(hid_t group, const char *name, hid_t type, uint64_t count);
int profile_column_write(const struct profile_file *file, hid_t group, const char *name,
                         hid_t type, size_t count, const void *data, struct error *err);
int profile_column_pick(const struct profile_file *file, hid_t group, const char *name, hid_t type,
                        const void *rows, size_t count, profile_pick pick, struct error *err);

/* Writes columns into a group. */
int profile_table_fill(const struct profile_file *file, hid_t group,
                       const struct profile_column *plan, size_t columns, const void *rows,
                       size_t count, struct error *err);
/* Makes the group at path and writes columns into it. */
int profile_table_write(const struct profile_file *file, const char *path,
                        const struct profile_column *plan, size_t columns, const void *rows,
                        size_t count, struct error *err);

#endif
