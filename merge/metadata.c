/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes of /metadata: what tells this run from others a year later. */
#include "merge/metadata.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/names.h"

/* Keys of the job record and what they are called in the file. What is not listed and does not
 * begin with SLURM is left out: the record may grow. */
static const struct {
    const char *key, *name;
} renamed[] = {
    {"command", "command_line"},
    {"what", "scope_profile_what"},
    {"user", "user"},
    {"hostname", "hostname"},
    {"working_directory", "working_directory"},
    {"timestamp", "timestamp"},
    {"job", "scope_profile_job"},
    {"restart", "scope_profile_restart"},
};

static const struct rank *first_usable(const struct metadata *metadata)
{
    for (size_t i = 0; i < metadata->rank_count; i++) {
        if (rank_is_usable(&metadata->ranks[i]))
            return &metadata->ranks[i];
    }
    return NULL;
}

static int write_job(const struct metadata *metadata, struct profile_writer *writer,
                     struct error *err)
{
    const struct job_record *job = &metadata->run->job;
    for (size_t i = 0; i < sizeof(renamed) / sizeof(*renamed); i++) {
        if (profile_writer_set_text(writer, renamed[i].name, job_record_get(job, renamed[i].key),
                                    err) < 0)
            return -1;
    }
    for (size_t i = 0; i < job->count; i++) {
        const struct job_field *field = &job->fields[i];
        if (strncmp(field->key, "SLURM", 5) == 0 &&
            profile_writer_set_text(writer, field->key, field->value, err) < 0)
            return -1;
    }
    return 0;
}

/* Hosts are told apart by their key: on some clusters every host is called localhost. */
static int count_hosts(const struct metadata *metadata, size_t *count)
{
    struct names keys = {0};
    int status = 0;
    for (size_t i = 0; status == 0 && i < metadata->rank_count; i++) {
        if (rank_is_usable(&metadata->ranks[i]) &&
            names_intern(&keys, metadata->ranks[i].header.host_key) < 0)
            status = -1;
    }
    *count = keys.count;
    names_release(&keys);
    return status;
}

/* The number of nodes the job record tells, else that of hosts with a trace. */
static int write_nodes(const struct metadata *metadata, struct profile_writer *writer,
                       struct error *err)
{
    const char *told = job_record_get(&metadata->run->job, "node_count");
    long long nodes = told ? atoll(told) : 0;
    size_t hosts;
    if (count_hosts(metadata, &hosts) < 0)
        return error_set(err, "out of memory");
    return profile_writer_set_number(writer, "num_nodes", nodes > 0 ? nodes : (int64_t)hosts, err);
}

/* The host of every rank, in the order of ranks; "" where it is not known. */
static int write_hosts(const struct metadata *metadata, struct profile_writer *writer,
                       struct error *err)
{
    const char **hosts = calloc(metadata->rank_count + 1, sizeof(*hosts));
    if (!hosts)
        return error_set(err, "out of memory");
    size_t count = 0;
    for (size_t i = 0; i < metadata->rank_count; i++)
        hosts[count++] = metadata->ranks[i].header.host;
    int status = profile_writer_set_list(writer, "scope_profile_rank_hosts", hosts, count, err);
    free(hosts);
    return status;
}

static int write_mpi(const struct metadata *metadata, struct profile_writer *writer,
                     struct error *err)
{
    const struct rank *rank = first_usable(metadata);
    const char *version = job_record_get(&metadata->run->job, "mpi_version");
    if (rank && rank->header.mpi_version[0])
        version = rank->header.mpi_version; /* of this world: a run may mix them */
    if (profile_writer_set_text(writer, "mpi_library_version", version, err) < 0)
        return -1;
    if (!rank)
        return 0;
    if (!job_record_get(&metadata->run->job, "job") &&
        profile_writer_set_text(writer, "scope_profile_job", rank->header.job, err) < 0)
        return -1;
    return profile_writer_set_text(writer, "scope_profile_world", rank->header.world, err);
}

static int write_health(const struct metadata *metadata, struct profile_writer *writer,
                        struct error *err)
{
    uint64_t counts[RANK_MISSING + 1] = {0}, dropped = 0;
    for (size_t i = 0; i < metadata->rank_count; i++) {
        counts[metadata->ranks[i].state]++;
        dropped = rank_add_dropped(dropped, metadata->ranks[i].dropped);
    }
    counts[RANK_MISSING] = metadata->missing;
    static const struct {
        enum rank_state state;
        const char *name;
    } states[] = {
        {RANK_COMPLETE, "scope_profile_ranks_complete"},
        {RANK_CUT_OFF, "scope_profile_ranks_cut_off"},
        {RANK_STOPPED, "scope_profile_ranks_stopped"},
        {RANK_DAMAGED, "scope_profile_ranks_damaged"},
        {RANK_UNREADABLE, "scope_profile_ranks_unreadable"},
        {RANK_MISSING, "scope_profile_ranks_missing"},
    };
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        if (profile_writer_set_number(writer, states[i].name, (int64_t)counts[states[i].state],
                                      err) < 0)
            return -1;
    }
    if (profile_writer_set_text(writer, "scope_profile_ends", metadata->ends, err) < 0)
        return -1;
    if (metadata->paused_ns != 0 &&
        profile_writer_set_number(writer, "scope_profile_paused_ns", metadata->paused_ns, err) < 0)
        return -1;
    return profile_writer_set_number(writer, "scope_profile_events_dropped", (int64_t)dropped, err);
}

static int write_timeline(const struct metadata *metadata, struct profile_writer *writer,
                          struct error *err)
{
    if (profile_writer_set_number(writer, "mpi_size", (int64_t)metadata->world_size, err) < 0 ||
        profile_writer_set_number(writer, "start_time_ns", 0, err) < 0 ||
        profile_writer_set_number(writer, "finalize_time_ns", metadata->finalize_ns, err) < 0 ||
        profile_writer_set_number(writer, "scope_profile_epoch_ns", metadata->epoch_ns, err) < 0)
        return -1;
    if (profile_writer_set_text(writer, "scope_profile_labels", metadata->labels, err) < 0 ||
        profile_writer_set_text(writer, "scope_profile_comm",
                                metadata->has_handles ? "handle" : NULL, err) < 0)
        return -1;
    return profile_writer_set_text(writer, "scope_profile_events",
                                   metadata->has_no_events ? "left out" : NULL, err);
}

int metadata_write(const struct metadata *metadata, struct profile_writer *writer,
                   struct error *err)
{
    if (write_timeline(metadata, writer, err) < 0 || write_job(metadata, writer, err) < 0 ||
        write_nodes(metadata, writer, err) < 0 || write_hosts(metadata, writer, err) < 0 ||
        write_mpi(metadata, writer, err) < 0 || write_health(metadata, writer, err) < 0)
        return -1;
    return profile_writer_set_text(writer, "scope_profile_version", PACKAGE_VERSION, err);
}
