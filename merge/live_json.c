/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks do at this moment, for programs. */
#include "merge/live_json.h"

static const char *const states[] = {
    [LIVE_CALL] = "call",     [LIVE_POLLS] = "polls", [LIVE_OUTSIDE] = "outside",
    [LIVE_PAUSED] = "paused", [LIVE_DEAD] = "dead",   [LIVE_ENDED] = "ended",
    [LIVE_UNREADABLE] = "unreadable",
};

/* json-c takes ownership of the value; a NULL value is JSON's null. */
static void set(struct json_object *object, const char *key, struct json_object *value)
{
    json_object_object_add(object, key, value);
}

static struct json_object *text_or_null(const char *text)
{
    return text ? json_object_new_string(text) : NULL;
}

/* Ages and offsets: what is negative is not known. */
static struct json_object *time_or_null(int64_t ns)
{
    return ns < 0 ? NULL : json_object_new_int64(ns);
}

static struct json_object *list_of(const uint32_t *ranks, size_t count)
{
    struct json_object *array = json_object_new_array();
    for (size_t i = 0; i < count; i++)
        json_object_array_add(array, json_object_new_int64(ranks[i]));
    return array;
}

/* The fields of a region label, and who the peer is in MPI_COMM_WORLD. */
static struct json_object *call_object(const struct flight *flight)
{
    const struct region_label *call = &flight->call;
    char text[FLIGHT_SIZE];
    if (!call->operation)
        return NULL;
    struct json_object *object = json_object_new_object();
    set(object, "text", json_object_new_string(flight_print(flight, text)));
    set(object, "operation", json_object_new_string(call->operation));
    set(object, "kind", json_object_new_string(mpi_kind_word(call->kind)));
    set(object, "request", text_or_null(call->request));
    set(object, "bytes", json_object_new_int64(call->bytes));
    set(object, "peer", json_object_new_int64(call->peer));
    set(object, "root", json_object_new_int64(call->root));
    set(object, "tag", json_object_new_int64(call->tag));
    set(object, "comm", json_object_new_int64(call->communicator));
    set(object, "world_peer", json_object_new_int64(flight->world_peer));
    return object;
}

static struct json_object *group_object(const struct live_group *group)
{
    struct json_object *object = json_object_new_object();
    set(object, "state", json_object_new_string(states[group->state]));
    set(object, "ranks", list_of(group->ranks, group->rank_count));
    set(object, "call", group->state <= LIVE_POLLS ? call_object(&group->call) : NULL);
    set(object, "end", text_or_null(group->end));
    set(object, "age_least_ns", time_or_null(group->age_least));
    set(object, "age_most_ns", time_or_null(group->age_most));
    set(object, "not_in_it", list_of(group->absent, group->absent_count));
    return object;
}

static struct json_object *thread_object(const struct live_thread *thread)
{
    struct json_object *object = json_object_new_object();
    bool is_in = thread->state <= LIVE_POLLS || thread->state == LIVE_DEAD;
    set(object, "thread", json_object_new_int64(thread->number));
    set(object, "state", json_object_new_string(states[thread->state]));
    set(object, "age_ns", time_or_null(thread->age_ns));
    set(object, "call", is_in ? call_object(&thread->call) : NULL);
    set(object, "last_call", is_in ? NULL : call_object(&thread->call));
    set(object, "end", text_or_null(thread->end));
    set(object, "call_ns", thread->state == LIVE_DEAD ? time_or_null(thread->call_ns) : NULL);
    set(object, "polls", json_object_new_int64((int64_t)thread->polls));
    return object;
}

static struct json_object *outstanding_array(const struct outstanding *outstanding)
{
    struct json_object *array = json_object_new_array();
    for (size_t i = 0; i < outstanding->count; i++) {
        const struct outstanding_row *row = &outstanding->rows[i];
        struct json_object *object = json_object_new_object();
        set(object, "operation", json_object_new_string(row->is.operation.name));
        set(object, "bytes", json_object_new_int64(row->is.bytes));
        set(object, "peer", json_object_new_int64(row->is.peer));
        set(object, "tag", json_object_new_int64(row->is.tag));
        set(object, "comm", json_object_new_int64(row->communicator));
        set(object, "world_peer", json_object_new_int64(row->world_peer));
        set(object, "count", json_object_new_int64((int64_t)row->is.count));
        set(object, "waited", json_object_new_boolean(row->is.is_waited));
        set(object, "completed", json_object_new_boolean(row->is.has_completed));
        json_object_array_add(array, object);
    }
    return array;
}

/* Requests that a call waits for, or a dead rank had; null where nothing is known of such. */
static void set_outstanding(struct json_object *object, const struct live_rank *rank)
{
    const struct outstanding *outstanding = rank->outstanding;
    set(object, "outstanding", outstanding ? outstanding_array(outstanding) : NULL);
    set(object, "outstanding_others",
        outstanding ? json_object_new_int64((int64_t)outstanding->others) : NULL);
    set(object, "outstanding_text", text_or_null(outstanding ? rank->outstanding_text : NULL));
}

static struct json_object *rank_object(const struct live_rank *rank)
{
    struct json_object *object = json_object_new_object(), *threads = json_object_new_array();
    for (size_t i = 0; i < rank->thread_count; i++)
        json_object_array_add(threads, thread_object(&rank->threads[i]));
    set(object, "rank", json_object_new_int64(rank->number));
    set(object, "host", json_object_new_string(rank->host));
    set(object, "threads", threads);
    set_outstanding(object, rank);
    set(object, "trace_is_full", json_object_new_boolean(rank->stopped != STOP_NONE));
    set(object, "trace_age_ns", time_or_null(rank->behind_ns));
    set(object, "clock_ahead_ns", json_object_new_int64(rank->ahead_ns));
    set(object, "problem", text_or_null(rank->problem.text[0] ? rank->problem.text : NULL));
    return object;
}

struct json_object *live_json(const char *name, const struct live *live,
                              const struct live_groups *groups, uint64_t limit)
{
    struct json_object *object = json_object_new_object();
    struct json_object *waits = json_object_new_array(), *ranks = json_object_new_array();
    for (size_t i = 0; i < groups->count; i++)
        json_object_array_add(waits, group_object(&groups->list[i]));
    for (size_t i = 0; i < live->rank_count && i < limit; i++)
        json_object_array_add(ranks, rank_object(&live->ranks[i]));
    set(object, "run", json_object_new_string(name));
    set(object, "job", json_object_new_string(live->job));
    set(object, "world", json_object_new_string(live->world));
    set(object, "world_size", json_object_new_int64(live->world_size));
    set(object, "hosts", json_object_new_int64((int64_t)live->host_count));
    set(object, "realtime_ns", json_object_new_int64(live->realtime_ns));
    set(object, "groups", waits);
    set(object, "ranks", ranks);
    return object;
}
