/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups of a profile file that are our own, and its table of threads. */
#include <stdlib.h>

#include "schema/profile_writer_parts.h"

static int write_table(const struct profile_writer *writer, const char *path,
                       const struct profile_column *plan, size_t columns, const void *rows,
                       size_t count, struct error *err)
{
    return profile_table_write(&writer->file, path, plan, columns, rows, count, err);
}

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
    static const struct profile_column plan[] = {
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
    static const struct profile_column plan[] = {
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
    static const struct profile_column handle_plan[] = {
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
    static const struct profile_column plan[] = {
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


static void pick_thread_cpu(const void *rows, size_t row, void *value)
{
    (void)rows;
    (void)row;
    *(int64_t *)value = -1; /* unknown */
}

static void pick_thread_name(const void *rows, size_t row, void *value)
{
    *(const char **)value =
        ((const struct profile_thread *)rows)[row].index == 0 ? "main" : "thread";
}

int profile_writer_threads(struct profile_writer *writer, const struct profile_thread *threads,
                           size_t count, struct error *err)
{
    static const struct profile_column plan[] = {
        {"ranks", U32, pick_thread_rank},     {"index", I64, pick_thread_index},
        {"ident", I64, pick_thread_id},       {"native_id", I64, pick_thread_id},
        {"start_ns", I64, pick_thread_start}, {"end_ns", I64, pick_thread_end},
        {"cpu_ns", I64, pick_thread_cpu},   {"name", TEXT, pick_thread_name},
    };
    if (write_table(writer, "/thread_table", plan, COUNT_OF(plan), threads, count, err) < 0)
        return -1;
    /* One byte per thread is no column of the plan: none of the threads is a Python daemon. */
    int8_t *daemon = calloc(count ? count : 1, sizeof(*daemon));
    hid_t group = H5Gopen2(writer->file.id, "/thread_table", H5P_DEFAULT);
    int status = daemon && group >= 0
                     ? profile_column_write(&writer->file, group, "daemon", H5T_NATIVE_INT8, count,
                                            daemon, err)
                     : profile_file_fail(&writer->file, "/thread_table", err);
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
    const struct profile_column plan[] = {
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
    static const struct profile_column plan[] = {
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
    static const struct profile_column plan[] = {
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
    static const struct profile_column plan[] = {
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
