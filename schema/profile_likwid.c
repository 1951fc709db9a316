/* SPDX-License-Identifier: BSD-3-Clause */
/* What LIKWID counted in a rank, as a part of the profile file: /rank<N>/likwid. */
#include "schema/profile_likwid.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/profile_writer_parts.h"

/* All of them are always there: without one the package cannot read the file. */
static int put_dataset(const struct profile_file *file, hid_t group, const char *name, hid_t type,
                       int rank, const hsize_t *size, const void *data, struct error *err)
{
    hid_t space = H5Screate_simple(rank, size, NULL);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(properties, 0); /* the same ranks make the same bytes */
    errno = 0;
    hid_t dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    herr_t status = dataset < 0 ? -1 : 0;
    if (dataset >= 0 && H5Sget_simple_extent_npoints(space) > 0)
        status = H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    if (dataset >= 0 && H5Dclose(dataset) < 0)
        status = -1;
    H5Pclose(properties);
    H5Sclose(space);
    return status < 0 ? profile_file_fail(file, name, err) : 0;
}

static int put_number(const struct profile_file *file, hid_t object, const char *name,
                      int64_t number, struct error *err)
{
    return profile_attribute_scalar(file, object, name, H5T_NATIVE_INT64, &number, err);
}

/* A name that stands for the tag in HDF5, where '/' parts groups and "." is the group itself. The
 * number keeps those apart that are the same then. NULL: no memory. */
static char *group_name(hid_t regions, const char *tag, size_t number)
{
    size_t length = strlen(tag), size = length + 32;
    char *name = malloc(size);
    if (!name)
        return NULL;
    memcpy(name, tag, length + 1);
    for (char *p = name; *p; p++) {
        if (*p == '/')
            *p = '|';
    }
    bool is_plain = *name && strcmp(name, ".") != 0;
    if (!is_plain || H5Lexists(regions, name, H5P_DEFAULT) != 0)
        snprintf(name + length, size - length, "#%zu", number);
    return name;
}

static int fill_region(const struct profile_file *file, hid_t group,
                       const struct profile_likwid_region *region, struct error *err)
{
    const hsize_t threads = region->thread_count;
    const hsize_t events[] = {region->event_count, threads};
    const hsize_t metrics[] = {region->metric_count, threads};
    const struct {
        const char *name;
        hid_t type;
        int rank;
        const hsize_t *size;
        const void *data;
    } datasets[] = {
        {"cpus", H5T_NATIVE_INT64, 1, &threads, region->cpus},
        {"times", H5T_NATIVE_DOUBLE, 1, &threads, region->seconds},
        {"call_counts", H5T_NATIVE_INT64, 1, &threads, region->calls},
        {"events", H5T_NATIVE_DOUBLE, 2, events, region->events},
        {"metrics", H5T_NATIVE_DOUBLE, 2, metrics, region->metrics},
    };
    if (profile_attribute_text(file, group, "tag", region->tag, err) < 0 ||
        put_number(file, group, "group_id", region->group, err) < 0 ||
        profile_attribute_text(file, group, "group_name", region->group_name, err) < 0 ||
        profile_attribute_text(file, group, "source", region->source, err) < 0 ||
        profile_attribute_list(file, group, "event_names", region->event_names,
                               region->event_count, err) < 0 ||
        profile_attribute_list(file, group, "counter_names", region->counter_names,
                               region->counter_name_count, err) < 0 ||
        profile_attribute_list(file, group, "metric_names", region->metric_names,
                               region->metric_count, err) < 0 ||
        (region->owner_count > 0 &&
         profile_attribute_list(file, group, "scope_profile_counted_elsewhere", region->owners,
                                region->owner_count, err) < 0))
        return -1;
    for (size_t i = 0; i < COUNT_OF(datasets); i++) {
        if (put_dataset(file, group, datasets[i].name, datasets[i].type, datasets[i].rank,
                        datasets[i].size, datasets[i].data, err) < 0)
            return -1;
    }
    return 0;
}

static int put_region(const struct profile_file *file, hid_t regions, size_t number,
                      const struct profile_likwid_region *region, struct error *err)
{
    char *name = group_name(regions, region->tag, number);
    if (!name)
        return error_set(err, "%s: no memory", file->path);
    hid_t group = H5Gcreate2(regions, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int status = group < 0 ? profile_file_fail(file, name, err)
                           : fill_region(file, group, region, err);
    if (group >= 0)
        H5Gclose(group);
    free(name);
    return status;
}

static int fill_rank(const struct profile_file *file, hid_t group,
                     const struct profile_likwid *likwid, struct error *err)
{
    for (size_t i = 0; i < likwid->attribute_count; i++) {
        if (profile_attribute_text(file, group, likwid->names[i], likwid->values[i], err) < 0)
            return -1;
    }
    if (put_number(file, group, "num_regions", (int64_t)likwid->region_count, err) < 0)
        return -1;
    hid_t regions = H5Gcreate2(group, "regions", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int status = regions < 0 ? profile_file_fail(file, "regions", err) : 0;
    for (size_t i = 0; status == 0 && i < likwid->region_count; i++)
        status = put_region(file, regions, i, &likwid->regions[i], err);
    if (regions >= 0)
        H5Gclose(regions);
    return status;
}

int profile_writer_likwid(struct profile_writer *writer, const struct profile_likwid *likwid,
                          struct error *err)
{
    char path[64];
    snprintf(path, sizeof(path), "/rank%" PRIu32 "/likwid", likwid->rank);
    errno = 0;
    hid_t group = profile_group_make(&writer->file, path);
    if (group < 0)
        return profile_file_fail(&writer->file, path, err);
    int status = fill_rank(&writer->file, group, likwid, err);
    H5Gclose(group);
    return status;
}
