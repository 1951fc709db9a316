/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as JSON, for programs. */
#include "report/json.h"

#include <json.h>

/* json-c takes ownership of the value; a NULL value is JSON's null. */
static void set(struct json_object *object, const char *key, struct json_object *value)
{
    json_object_object_add(object, key, value);
}

static struct json_object *share(double part, double whole)
{
    double value = summary_share(part, whole);
    return value < 0 ? NULL : json_object_new_double(value);
}

/* A JSON number of json-c is an int64_t. */
static struct json_object *count(uint64_t number)
{
    return json_object_new_int64(number < INT64_MAX ? (int64_t)number : INT64_MAX);
}

static struct json_object *time_ns(double ns)
{
    return json_object_new_int64((int64_t)(ns < 9.2e18 ? ns : 9.2e18));
}

static struct json_object *metadata_object(const struct profile *profile)
{
    struct json_object *object = json_object_new_object();
    for (size_t i = 0; i < profile->attribute_count; i++) {
        const struct profile_attribute *attribute = &profile->attributes[i];
        set(object, attribute->name,
            attribute->is_number ? json_object_new_int64(attribute->number)
                                 : json_object_new_string(attribute->text));
    }
    return object;
}

static struct json_object *ranks_array(const struct summary *summary)
{
    struct json_object *array = json_object_new_array();
    for (size_t i = 0; i < summary->rank_count; i++) {
        const struct summary_rank *rank = &summary->ranks[i];
        struct json_object *object = json_object_new_object();
        set(object, "rank", json_object_new_int64(rank->rank));
        set(object, "mpi_calls", count(rank->mpi_calls));
        set(object, "unrecorded", count(rank->unrecorded));
        set(object, "session_ns", rank->session > 0 ? time_ns(rank->session) : NULL);
        set(object, "mpi_ns", time_ns(rank->mpi));
        set(object, "mpi_share", share(rank->mpi, rank->session));
        json_object_array_add(array, object);
    }
    return array;
}

static struct json_object *regions_array(const struct summary *summary, size_t top)
{
    struct json_object *array = json_object_new_array();
    for (size_t i = 0; i < summary->region_count && (top == 0 || i < top); i++) {
        const struct summary_region *region = &summary->regions[i];
        struct json_object *object = json_object_new_object();
        set(object, "name", json_object_new_string(region->name));
        set(object, "calls", count(region->calls));
        set(object, "ranks", count(region->ranks));
        set(object, "total_ns", time_ns(region->total));
        set(object, "exclusive_ns", time_ns(region->exclusive));
        set(object, "mean_ns", json_object_new_double(region->total / (double)region->calls));
        set(object, "min_ns", json_object_new_int64(region->minimum));
        set(object, "max_ns", json_object_new_int64(region->maximum));
        set(object, "share", share(region->total, summary->session));
        json_object_array_add(array, object);
    }
    return array;
}

/* Calls that were counted beside the events, by MPI function; the name of their time. */
static struct json_object *counts_array(const struct functions *functions, const char *time)
{
    struct json_object *array = json_object_new_array();
    for (size_t i = 0; i < functions->count; i++) {
        struct json_object *object = json_object_new_object();
        set(object, "function", json_object_new_string(functions->list[i].name));
        set(object, "calls", count(functions->list[i].count));
        set(object, time, time_ns(functions->list[i].time));
        json_object_array_add(array, object);
    }
    return array;
}

/* Calls that failed, by MPI function and error class: 0 did not return, -1 not told. */
static struct json_object *failed_array(const struct functions *failed)
{
    struct json_object *array = json_object_new_array();
    for (size_t i = 0; i < failed->count; i++) {
        struct json_object *object = json_object_new_object();
        set(object, "function", json_object_new_string(failed->list[i].name));
        set(object, "error_class", json_object_new_int64(failed->list[i].error_class));
        set(object, "calls", count(failed->list[i].count));
        json_object_array_add(array, object);
    }
    return array;
}

/* How ranks ended; also those of which there is nothing else. */
static struct json_object *ends_array(const struct summary *summary)
{
    struct json_object *array = json_object_new_array();
    for (size_t i = 0; i < summary->end_count; i++) {
        const struct profile_end *end = summary->ends[i];
        struct json_object *object = json_object_new_object();
        set(object, "rank", json_object_new_int64(end->rank));
        set(object, "state", json_object_new_string(end->state));
        set(object, "end", json_object_new_string(end->text));
        set(object, "end_status", end->status < 0 ? NULL : json_object_new_int64(end->status));
        set(object, "end_ns", end->ns < 0 ? NULL : json_object_new_int64(end->ns));
        set(object, "in_flight", json_object_new_string(end->in_flight));
        set(object, "outstanding", json_object_new_string(end->outstanding));
        json_object_array_add(array, object);
    }
    return array;
}

int json_print(FILE *out, const char *path, const struct profile *profile,
               const struct summary *summary, size_t top, struct error *err)
{
    struct json_object *root = json_object_new_object();
    set(root, "file", json_object_new_string(path));
    set(root, "schema", json_object_new_int(profile->schema));
    set(root, "num_ranks", count(profile->ranks));
    set(root, "mpi_calls", count(summary->mpi_calls));
    set(root, "mpi_share", share(summary->mpi, summary->session));
    set(root, "polls", counts_array(&summary->polls, "busy_ns"));
    set(root, "unrecorded", counts_array(&summary->unrecorded, "total_ns"));
    set(root, "failed", failed_array(&summary->failed));
    set(root, "pauses", count(summary->pauses));
    set(root, "paused_ns", time_ns(summary->paused));
    set(root, "metadata", metadata_object(profile));
    set(root, "ends", ends_array(summary));
    set(root, "ranks", ranks_array(summary));
    set(root, "regions", regions_array(summary, top));
    const char *text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
                                                                JSON_C_TO_STRING_NOSLASHESCAPE);
    int status = text ? 0 : error_set(err, "out of memory");
    if (text)
        fprintf(out, "%s\n", text);
    json_object_put(root);
    return status;
}
