/* SPDX-License-Identifier: BSD-3-Clause */
/* The merge of one world: its traces into one profile file. */
#define _GNU_SOURCE
#include "merge/world.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "merge/duration.h"
#include "merge/fold.h"
#include "merge/folding.h"
#include "merge/last_calls.h"
#include "merge/likwid.h"
#include "merge/metadata.h"
#include "merge/progress.h"
#include "merge/publish.h"
#include "merge/timeline.h"
#include "merge/unrecorded.h"
#include "merge/workers.h"

enum {
    MISSING_ROWS_MAX = 1 << 16, /* rows of /scope_profile/ranks for ranks without a trace */
    TRAFFIC_SHARE = 128, /* of the memory, how much stands for a time of messages: 16 bytes */
    THREAD_MEMORY = 32 << 20, /* less of it for each thread, and there are fewer of them */
    TRAFFIC_TIMES_LEAST = 1024,
    EVENTS_SHARE = 4, /* of the memory, for events that wait to be compressed */
};

struct merge {
    const struct run *run;
    const struct run_world *world;
    struct losses *losses;
    struct world_result *result;
    struct error *err;
    bool is_strict;
    struct profile_form form;
    uint64_t most_bytes;
    unsigned likwid_seconds;
    bool is_over;
    unsigned threads;
    uint64_t memory;      /* that the merge may take */
    uint64_t ranks_bytes; /* that it takes for what the first pass learnt */
    size_t traffic_times; /* kept of each rank */

    struct rank *ranks; /* one for each trace, by number */
    size_t rank_count, usable;
    struct vocabulary vocabulary;
    struct timeline timeline;
    struct fold fold;
    struct progress progress;
};

static int no_memory(const struct merge *merge)
{
    return error_set(merge->err, "out of memory");
}

/* --- first pass --------------------------------------------------------------------------------
 */

/* The word between a call and the clause that tells how the rank ended in it. */
static const char *when(const struct rank *rank)
{
    if (rank->end.of != END_OF_RANK)
        return "when ";
    return WIFSIGNALED(rank->end.status) ? "when it was " : "when it ";
}

/* "; outstanding: irecv from 1 (tag 7)"; "" where nothing is told. To be freed; NULL if memory is
 * out. */
static char *describe_outstanding(const struct rank *rank)
{
    char *text;
    bool has_some = rank->outstanding_text && rank->outstanding_text[0];
    int length = asprintf(&text, "%s%s", has_some ? "; outstanding: " : "",
                          has_some ? rank->outstanding_text : "");
    return length < 0 ? NULL : text;
}

/* "in mpi:recv from 1 (tag 7) for 31.2 s when it was killed by signal 11 (SIGSEGV), 45.0 s after
 * the start", if the end is known and no normal one. To be freed; NULL if not, or no memory. */
static char *describe_end(const struct rank *rank, const char *place)
{
    char clause[RANK_END_TEXT], time[DURATION_SIZE], *text;
    if (rank->end.of == END_UNSEEN || rank_end_is_normal(&rank->end, rank->state_page.phase))
        return NULL;
    rank_end_clause(&rank->end, rank->state_page.phase, clause);
    int length = asprintf(&text, "%s%s%s%s, %s after the start", place, *place ? " " : "",
                          *place ? when(rank) : "", clause, duration_print(rank->end.ns, time));
    return length < 0 ? NULL : text;
}

/* A rank without MPI_Finalize: how it ended; or else how far its trace goes, and how long others
 * lived after that. */
static void tell_cut_off(const struct merge *merge, const struct rank *rank, const char *place,
                         const char *end, const char *outstanding)
{
    char time[DURATION_SIZE];
    size_t hint = 0;
    uint32_t number = rank->header.rank;
    int64_t last_ns = rank_ns(rank, rank->last_ticks, &hint);
    int64_t left_ns = merge->timeline.end_ns - last_ns;
    bool is_in = rank->in_flight[0] != '\0', is_alone = !is_in || left_ns < 1000000;
    if (end)
        losses_add(merge->losses, "rank %" PRIu32 ": %s%s", number, end, outstanding);
    else
        losses_add(merge->losses,
                   "rank %" PRIu32
                   ": trace ends at %.3f s without MPI_Finalize%s%s, no exit record%s%s%s",
                   number, 1e-9 * (double)last_ns, is_in ? ", rank was " : "",
                   is_in ? place : "", is_alone ? "" : "; other ranks go on for ",
                   is_alone ? "" : duration_print(left_ns, time), outstanding);
}

static void tell_loss(const struct merge *merge, const struct rank *rank)
{
    const char *world = merge->world->name;
    uint32_t number = rank->header.rank;
    char unrecorded[UNRECORDED_TEXT];
    char *known = rank_is_usable(rank) ? last_calls_place(rank) : NULL;
    const char *place = known ? known : "";
    char *end = describe_end(rank, place);
    char *requests = describe_outstanding(rank);
    const char *separator = end ? "; " : "", *told = end ? end : "";
    const char *outstanding = requests ? requests : "";
    switch (rank->state) {
    case RANK_COMPLETE:
    case RANK_MISSING:
        break;
    case RANK_UNREADABLE:
        losses_add(merge->losses, "%s/%s", world, rank->problem.text);
        break;
    case RANK_DAMAGED:
        losses_add(merge->losses,
                   "rank %" PRIu32 ": %s/%s: merged without what follows there%s%s%s",
                   number, world, rank->problem.text, separator, told, outstanding);
        break;
    case RANK_STOPPED:
        unrecorded_tell(rank, unrecorded);
        losses_add(merge->losses, "rank %" PRIu32 ": %s%s%s%s", number, unrecorded, separator, told,
                   outstanding);
        break;
    case RANK_CUT_OFF:
        tell_cut_off(merge, rank, place, end, outstanding);
    }
    free(known);
    free(end);
    free(requests);
}

struct host_search {
    const struct run_world *world;
    char key[sizeof((struct trace_header *)0)->host_key]; /* of some trace */
    atomic_bool differs;                                  /* that of another one */
};

static int compare_host(void *context, size_t number, struct error *err)
{
    struct host_search *search = context;
    struct trace_reader *reader;
    (void)err;
    if (atomic_load(&search->differs) || run_world_open(search->world, number, &reader, NULL) < 0)
        return 0;
    if (strcmp(search->key, trace_reader_header(reader)->host_key) != 0)
        atomic_store(&search->differs, true);
    trace_reader_close(reader);
    return 0;
}

/* Whether the world's traces are of several hosts. Those that cannot be opened are of none. */
static bool has_several_hosts(const struct run_world *world, unsigned threads)
{
    struct host_search search = {.world = world};
    const struct workers workers = {
        .threads = threads, .context = &search, .work = compare_host};
    struct trace_reader *reader = NULL;
    struct error err;
    for (size_t i = 0; !reader && i < world->file_count; i++)
        run_world_open(world, i, &reader, NULL);
    if (!reader)
        return false;
    strcpy(search.key, trace_reader_header(reader)->host_key);
    trace_reader_close(reader);
    return workers_run(&workers, world->file_count, &err) == 0 && atomic_load(&search.differs);
}

/* How many times of messages of each rank are kept to align the hosts' clocks. */
static size_t traffic_times(const struct merge *merge)
{
    size_t share = merge->memory / TRAFFIC_SHARE / (merge->world->file_count + 1);
    if (merge->timeline.clock != TIMELINE_MESSAGES ||
        !has_several_hosts(merge->world, merge->threads))
        return 0;
    return share > TRAFFIC_TIMES_LEAST ? share : TRAFFIC_TIMES_LEAST;
}

static int scan_one(void *context, size_t number, struct error *err)
{
    const struct merge *merge = context;
    struct rank *rank = &merge->ranks[number];
    rank->file = strdup(merge->world->files[number]);
    rank->job = job_record_get(&merge->run->job, "job");
    rank->part = merge->world->parts ? &merge->world->parts[number] : NULL;
    if (!rank->file)
        return error_set(err, "out of memory");
    return rank_scan(rank, merge->world->fd, merge->traffic_times, merge->memory / 2, err);
}

static int join_one(void *context, size_t number, struct error *err)
{
    struct merge *merge = context;
    struct rank *rank = &merge->ranks[number];
    progress_rank(&merge->progress, rank->events);
    progress_advance(&merge->progress, rank->bytes);
    merge->usable += rank_is_usable(rank);
    if (rank_join(rank, &merge->vocabulary, err) < 0)
        return -1;
    merge->ranks_bytes += rank_memory(rank);
    if (merge->ranks_bytes + communicators_memory(&merge->vocabulary.communicators) >
        merge->memory / 2)
        return error_set(err, "%s: what its ranks called needs more memory than --memory= allows: "
                              "give more", merge->run->path);
    return 0;
}

static int scan_all(struct merge *merge)
{
    const struct workers workers = {
        .threads = merge->threads, .context = merge, .work = scan_one, .join = join_one};
    size_t count = merge->world->file_count;
    progress_phase(&merge->progress, "reading", merge->world->bytes, 1);
    merge->traffic_times = traffic_times(merge);
    merge->ranks = calloc(count + 1, sizeof(*merge->ranks));
    if (!merge->ranks)
        return no_memory(merge);
    merge->rank_count = count;
    return workers_run(&workers, count, merge->err);
}

/* An end is put on the timeline, so that follows after the hosts are on one. */
static void settle_ends(struct merge *merge)
{
    for (size_t i = 0; i < merge->rank_count; i++) {
        struct rank *rank = &merge->ranks[i];
        size_t hint = 0;
        if (!rank_is_usable(rank)) {
            rank->end = (struct rank_end){.of = END_UNSEEN, .status = -1, .ns = -1};
            strcpy(rank->end_text, "unknown: unreadable trace");
            continue;
        }
        rank->end = exits_find(&merge->run->exits, &rank->header);
        rank_end_place(&rank->end,
                       timeline_offset(&merge->timeline, rank, rank->end.monotonic_ns),
                       merge->timeline.epoch_ns, rank_ns(rank, rank->last_ticks, &hint));
        rank_end_text(&rank->end, rank->state_page.phase, rank->end_text);
    }
}

/* Where ranks were is told with their ends, and with the job-wide numbers of communicators. */
static int settle_last_calls(struct merge *merge)
{
    for (size_t i = 0; i < merge->rank_count; i++) {
        struct rank *rank = &merge->ranks[i];
        rank->in_flight =
            rank_is_usable(rank) ? last_calls_text(rank, &merge->vocabulary, true) : strdup("");
        outstanding_settle(rank->outstanding, &merge->vocabulary.communicators, rank->header.rank);
        bool is_told = last_calls_tell_requests(rank, &merge->vocabulary);
        rank->outstanding_text = outstanding_text(is_told ? NULL : rank->outstanding);
        if (!rank->in_flight || !rank->outstanding_text)
            return no_memory(merge);
    }
    return 0;
}

/* --- what is told of ranks ---------------------------------------------------------------------
 */

/* The ranks from first on and below end have no trace. How many there are is what a trace claims:
 * of millions only as many are looked at as are told. */
static void tell_missing(struct merge *merge, uint64_t first, uint64_t end)
{
    merge->result->states[RANK_MISSING] += end - first;
    for (int shown = 0; first < end && shown < LOSSES_SHOWN; first++, shown++)
        losses_add(merge->losses, "rank %" PRIu64 ": no trace in %s/%s", first, merge->run->path,
                   merge->world->name);
    merge->losses->count += end - first;
}

static void tell_losses(struct merge *merge)
{
    struct world_result *result = merge->result;
    uint64_t expected = 0;
    for (size_t i = 0; i < merge->rank_count; i++) {
        const struct rank *rank = &merge->ranks[i];
        result->states[rank->state]++;
        tell_loss(merge, rank);
        if (rank_is_usable(rank) && rank->header.world_size > result->world_size)
            result->world_size = rank->header.world_size;
    }
    for (size_t i = 0; i < merge->rank_count; i++) {
        uint32_t number = rank_number(&merge->ranks[i]);
        uint64_t end = number < result->world_size ? number : result->world_size;
        if (expected < end)
            tell_missing(merge, expected, end);
        expected = (uint64_t)number + 1 > expected ? (uint64_t)number + 1 : expected;
    }
    if (expected < result->world_size)
        tell_missing(merge, expected, result->world_size);
    if (merge->run->job_problem.text[0])
        losses_add(merge->losses, "%s: what is known of the job will be missing",
                   merge->run->job_problem.text);
    if (merge->run->exits.problem_count > 0)
        losses_add(merge->losses, "%s: how some ranks ended may be missing",
                   merge->run->exits.problem.text);
}

static void describe_rank(const struct rank *rank, uint32_t number, struct profile_rank *row)
{
    size_t hint = 0;
    bool usable = rank_is_usable(rank);
    *row = (struct profile_rank){
        .rank = number,
        .state = rank_state_word(rank->state),
        .host = rank->header.host,
        .node = rank->header.node,
        .pid = usable ? rank->header.pid : -1,
        .threads = (uint32_t)rank->thread_count,
        .events = usable ? rank->events : 0,
        .dropped = rank->dropped,
        .trace_bytes = rank->bytes,
        .last_ns = usable ? rank_ns(rank, rank->last_ticks, &hint) : -1,
        .end = rank->end_text,
        .end_status = rank->end.status,
        .end_ns = rank->end.ns,
        .in_flight = rank->in_flight,
        .outstanding = rank->outstanding_text,
        .clock_offset_ns = usable ? rank->offset_ns : 0,
    };
}

static void describe_missing(uint32_t number, struct profile_rank *row)
{
    *row = (struct profile_rank){
        .rank = number,
        .state = rank_state_word(RANK_MISSING),
        .pid = -1,
        .last_ns = -1,
        .end = "unknown: no trace",
        .end_status = -1,
        .end_ns = -1,
        .in_flight = "",
        .outstanding = "",
    };
}

static void sum_ends(struct world_result *result, const struct profile_rank *rows, size_t count)
{
    struct rank_groups groups = {.count = 0};
    for (size_t i = 0; i < count; i++)
        rank_groups_add(&groups, rows[i].rank, rows[i].end);
    rank_groups_print(&groups, result->ends);
}

/* Where the ranks were that did not come to the end of MPI_Finalize. */
static int sum_last_calls(struct merge *merge)
{
    struct rank_groups groups = {.count = 0};
    for (size_t i = 0; i < merge->rank_count; i++) {
        const struct rank *rank = &merge->ranks[i];
        if (!rank_is_usable(rank) || rank->state_page.phase == PHASE_CLOSED)
            continue;
        char *text = last_calls_text(rank, &merge->vocabulary, false);
        if (!text)
            return no_memory(merge);
        const char *elsewhere =
            rank_is_buffered(rank) ? "not known: their traces were not mapped" : "outside MPI";
        rank_groups_add(&groups, rank->header.rank, *text ? text : elsewhere);
        free(text);
    }
    rank_groups_print(&groups, merge->result->in_flight);
    return 0;
}

/* One row for every rank of the world; missing ones while they are few enough to list. */
static int write_ranks(const struct merge *merge, struct profile_writer *writer)
{
    uint64_t missing = merge->result->states[RANK_MISSING];
    missing = missing < MISSING_ROWS_MAX ? missing : MISSING_ROWS_MAX;
    struct profile_rank *rows = calloc(merge->rank_count + missing, sizeof(*rows));
    if (!rows)
        return no_memory(merge);
    size_t count = 0;
    uint64_t expected = 0;
    for (size_t i = 0; i < merge->rank_count; i++) {
        uint32_t number = rank_number(&merge->ranks[i]);
        for (; expected < number && missing > 0; expected++, missing--)
            describe_missing((uint32_t)expected, &rows[count++]);
        describe_rank(&merge->ranks[i], number, &rows[count++]);
        expected = (uint64_t)number + 1;
    }
    for (; missing > 0; missing--)
        describe_missing((uint32_t)expected++, &rows[count++]);
    sum_ends(merge->result, rows, count);
    int status = profile_writer_ranks(writer, rows, count, merge->err);
    free(rows);
    return status;
}

static int write_threads(const struct merge *merge, struct profile_writer *writer)
{
    size_t count = 0, hint = 0;
    if (!merge->fold.lanes)
        return 0;
    for (size_t i = 0; i < merge->rank_count; i++)
        count += merge->ranks[i].thread_count;
    struct profile_thread *rows = calloc(count + merge->rank_count, sizeof(*rows));
    if (!rows)
        return no_memory(merge);
    count = 0;
    for (size_t i = 0; i < merge->rank_count; i++) {
        const struct rank *rank = &merge->ranks[i];
        for (size_t j = 0; rank_is_usable(rank) && j < rank->thread_count; j++) {
            const struct thread *thread = &rank->threads[j];
            uint64_t first = thread->events ? thread->first_ticks : rank->first_ticks;
            uint64_t last = thread->events ? thread->last_ticks : rank->last_ticks;
            rows[count++] = (struct profile_thread){
                .rank = rank->header.rank,
                .index = (uint32_t)j,
                .thread_id = thread->thread_id,
                .start_ns = rank_ns(rank, first, &hint),
                .end_ns = rank_ns(rank, last, &hint),
            };
        }
    }
    int status = profile_writer_threads(writer, rows, count, merge->err);
    free(rows);
    return status;
}

static int write_pauses(const struct merge *merge, struct profile_writer *writer)
{
    size_t count = 0;
    for (size_t i = 0; i < merge->rank_count; i++)
        count += merge->ranks[i].pause_count;
    if (count == 0)
        return 0;
    struct profile_pause *rows = calloc(count, sizeof(*rows));
    if (!rows)
        return no_memory(merge);
    count = 0;
    for (size_t i = 0; i < merge->rank_count; i++) {
        const struct rank *rank = &merge->ranks[i];
        for (size_t j = 0; j < rank->pause_count; j++)
            rows[count++] = rank->pauses[j];
    }
    int status = profile_writer_pauses(writer, rows, count, merge->err);
    free(rows);
    return status;
}

/* The rows of a rank, and one more for what they leave out; how many. */
static size_t describe_requests(const struct rank *rank, struct profile_outstanding *rows)
{
    const struct outstanding *outstanding = rank->outstanding;
    size_t count = 0;
    for (size_t i = 0; outstanding && i < outstanding->count; i++) {
        const struct outstanding_row *row = &outstanding->rows[i];
        rows[count++] = (struct profile_outstanding){
            .rank = rank->header.rank,
            .operation = row->is.operation.name,
            .bytes = row->is.bytes,
            .peer = row->is.peer,
            .tag = row->is.tag,
            .communicator = row->communicator,
            .count = row->is.count,
            .is_waited = row->is.is_waited,
            .has_completed = row->is.has_completed,
        };
    }
    if (outstanding && (outstanding->others > 0 || outstanding->is_incomplete))
        rows[count++] = (struct profile_outstanding){.rank = rank->header.rank,
                                                     .operation = "others",
                                                     .bytes = -1,
                                                     .peer = PEER_NONE,
                                                     .tag = -1,
                                                     .communicator = -1,
                                                     .count = outstanding->others};
    return count;
}

static int write_outstanding(const struct merge *merge, struct profile_writer *writer)
{
    size_t room = 0, count = 0;
    for (size_t i = 0; i < merge->rank_count; i++) {
        const struct outstanding *outstanding = merge->ranks[i].outstanding;
        room += outstanding ? outstanding->count + 1 : 0;
    }
    if (room == 0)
        return 0;
    struct profile_outstanding *rows = calloc(room, sizeof(*rows));
    if (!rows)
        return no_memory(merge);
    for (size_t i = 0; i < merge->rank_count; i++)
        count += describe_requests(&merge->ranks[i], &rows[count]);
    int status = profile_writer_outstanding(writer, rows, count, merge->err);
    free(rows);
    return status;
}

static int compare_communicators(const void *left, const void *right)
{
    int64_t a = ((const struct profile_communicator *)left)->id;
    int64_t b = ((const struct profile_communicator *)right)->id;
    return a < b ? -1 : a > b;
}

static void describe_communicator(const struct communicator *communicator,
                                  struct profile_communicator *row)
{
    bool is_self = communicator->key == COMMUNICATOR_SELF;
    *row = (struct profile_communicator){
        .id = communicator->ambiguous ? COMMUNICATOR_UNKNOWN : communicator->id,
        .key = communicator->recorded_key,
        .kind = communicator->ambiguous                    ? "ambiguous"
                : communicator->kind == COMMUNICATOR_INTER ? "inter"
                                                           : "intra",
        .parent = communicator->parent,
        .name = communicator_name(communicator),
        .size = communicator->local.size,
        .members = is_self ? "" : communicator->local.members,
        .remote_size = communicator->remote.size,
        .remote_members = communicator->remote.members,
    };
}

static int write_communicators(const struct merge *merge, struct profile_writer *writer)
{
    const struct communicators *from = &merge->vocabulary.communicators;
    struct profile_communicator *rows = calloc(from->count + 1, sizeof(*rows));
    struct profile_handle *handles = calloc(from->definition_count + 1, sizeof(*handles));
    int status = rows && handles ? 0 : no_memory(merge);
    for (size_t i = 0; status == 0 && i < from->count; i++)
        describe_communicator(&from->list[i], &rows[i]);
    for (size_t i = 0; status == 0 && i < from->definition_count; i++) {
        const struct definition *definition = &from->definitions[i];
        handles[i] = (struct profile_handle){
            .id = communicators_id(from, definition->rank, definition->local_id),
            .rank = definition->rank,
            .local_id = definition->local_id,
            .local_rank = definition->local_rank,
            .handle = definition->handle,
        };
    }
    if (status == 0) {
        qsort(rows, from->count, sizeof(*rows), compare_communicators);
        status = profile_writer_communicators(writer, rows, from->count, handles,
                                              from->definition_count, merge->err);
    }
    free(rows);
    free(handles);
    return status;
}

/* A rank whose trace cannot be read shares its host with nobody: it is not known. */
static void describe_counted(const void *context, size_t index, uint32_t *number, int *host)
{
    const struct merge *merge = context;
    const struct rank *rank = &merge->ranks[index];
    *number = rank_number(rank);
    *host = rank_is_usable(rank) ? rank->host : -1 - (int)index;
}

/* The hardware counters of those ranks that have any, or should have. */
static int write_likwid(const struct merge *merge, struct profile_writer *writer)
{
    const char *job = job_record_get(&merge->run->job, "job");
    struct rank_groups missing = {.count = 0};
    struct likwid_reader reader = {.left_ms = (int64_t)merge->likwid_seconds * 1000,
                                   .run = merge->run->fd,
                                   .over = merge->is_over && job ? job : ""};
    const struct likwid_input input = {.dirfd = merge->world->fd,
                                       .rank_count = merge->rank_count,
                                       .describe = describe_counted,
                                       .context = merge,
                                       .reader = &reader};
    if (likwid_write(&input, writer, &missing, merge->err) < 0)
        return -1;
    rank_groups_print(&missing, merge->result->likwid);
    strcpy(merge->result->not_read_back, reader.failure.text);
    return 0;
}

/* --- the file ----------------------------------------------------------------------------------
 */

static int64_t sum_pauses(const struct merge *merge)
{
    int64_t sum = 0;
    for (size_t i = 0; i < merge->rank_count; i++)
        sum = profile_add(sum, merge->ranks[i].paused_ns);
    return sum;
}

static int write_metadata(const struct merge *merge, struct profile_writer *writer)
{
    struct metadata metadata = {
        .run = merge->run,
        .world = merge->world,
        .ranks = merge->ranks,
        .rank_count = merge->rank_count,
        .world_size = merge->result->world_size,
        .missing = merge->result->states[RANK_MISSING],
        .paused_ns = sum_pauses(merge),
        .finalize_ns = merge->timeline.end_ns,
        .epoch_ns = merge->timeline.epoch_ns,
        .ends = merge->result->ends,
        .labels = labels_word(merge->fold.labels),
        .has_handles = merge->fold.has_handles,
        .has_no_events = merge->form.is_aggregate,
    };
    return metadata_write(&metadata, writer, merge->err);
}

static int write_profile(struct merge *merge, struct profile_writer *writer)
{
    if (write_ranks(merge, writer) < 0 ||
        write_metadata(merge, writer) < 0 || write_communicators(merge, writer) < 0 ||
        write_pauses(merge, writer) < 0 || write_likwid(merge, writer) < 0 || write_outstanding(merge, writer) < 0 ||
        timeline_write(&merge->timeline, merge->ranks, merge->rank_count, writer, merge->err) < 0)
        return -1;
    return write_threads(merge, writer);
}

/* Of polls that found nothing there are fewer events than calls, of calls without room none. */
static void count_calls(struct merge *merge)
{
    for (size_t i = 0; i < merge->rank_count; i++) {
        const struct rank *rank = &merge->ranks[i];
        merge->result->calls += rank->unrecorded ? rank->unrecorded->total : 0;
        for (size_t j = 0; rank_is_usable(rank) && j < rank->thread_count; j++) {
            const struct thread *thread = &rank->threads[j];
            for (size_t k = 0; k < thread->call_count; k++) {
                const struct call *call = &thread->calls[k];
                merge->result->calls += call->kind == KIND_POLL ? call->polls : call->count;
            }
        }
    }
}

/* Writes the temporary file: closed and on disk, or no file at all. */
static int write_file(struct merge *merge, const char *path)
{
    struct folding folding = {
        .fold = &merge->fold,
        .dirfd = merge->world->fd,
        .path = path,
        .form = merge->form,
        .most_bytes = merge->most_bytes,
        .losses = merge->losses,
        .progress = &merge->progress,
    };
    if (folding_run(&folding, merge->err) < 0)
        return -1;
    merge->form = folding.form;
    if (write_profile(merge, folding.writer) == 0)
        return profile_writer_close(folding.writer, merge->err);
    profile_writer_discard(folding.writer);
    return -1;
}

static void release(struct merge *merge)
{
    progress_clear(&merge->progress);
    for (size_t i = 0; merge->ranks && i < merge->rank_count; i++)
        rank_release(&merge->ranks[i]);
    free(merge->ranks);
    names_release(&merge->vocabulary.operations);
    communicators_release(&merge->vocabulary.communicators);
    timeline_release(&merge->timeline);
    fold_release(&merge->fold);
}

/* Everything but the publication of the file. */
static enum world_status merge_into(struct merge *merge, const char *path)
{
    if (scan_all(merge) < 0)
        return WORLD_FAILED;
    if (!merge->usable) {
        error_set(merge->err, "%s: no usable trace: %s", merge->run->path,
                  merge->ranks[0].problem.text);
        return WORLD_NOTHING;
    }
    progress_clear(&merge->progress);
    if (communicators_settle(&merge->vocabulary.communicators) < 0) {
        no_memory(merge);
        return WORLD_FAILED;
    }
    if (timeline_settle(&merge->timeline, merge->ranks, merge->rank_count,
                        &merge->vocabulary.communicators, merge->err) < 0)
        return WORLD_FAILED;
    timeline_text(&merge->timeline, merge->result->clock);
    settle_ends(merge);
    if (settle_last_calls(merge) < 0 || sum_last_calls(merge) < 0)
        return WORLD_FAILED;
    tell_losses(merge);
    merge->fold.ranks = merge->ranks;
    merge->fold.rank_count = merge->rank_count;
    merge->fold.vocabulary = &merge->vocabulary;
    if (merge->is_strict && merge->losses->count > 0)
        return WORLD_NOTHING;
    if (fold_plan(&merge->fold, merge->err) < 0 || write_file(merge, path) < 0)
        return WORLD_FAILED;
    merge->result->labels = merge->fold.labels;
    merge->result->has_no_events = merge->form.is_aggregate;
    count_calls(merge);
    return merge->losses->count > 0 ? WORLD_LOSSES : WORLD_COMPLETE;
}

static enum world_status refuse(const struct merge *merge)
{
    error_set(merge->err, "%s/%s: not everything is there, and without that no file was wanted",
              merge->run->path, merge->world->name);
    return WORLD_NOTHING;
}

enum world_status world_merge(const struct run *run, const struct run_world *world,
                              const char *path, const struct world_options *options,
                              struct losses *losses, struct world_result *result, struct error *err)
{
    uint64_t memory = options->memory ? options->memory : WORLD_MEMORY;
    uint64_t most = memory / THREAD_MEMORY > 1 ? memory / THREAD_MEMORY : 1;
    unsigned threads = options->threads == 0     ? 1
                       : options->threads > most ? (unsigned)most
                                                 : options->threads;
    struct merge merge = {.run = run,
                          .world = world,
                          .losses = losses,
                          .result = result,
                          .err = err,
                          .is_strict = options->is_strict,
                          .threads = threads,
                          .memory = memory,
                          .form = {.schema = options->is_old_schema ? PROFILE_SCHEMA_OLD
                                                                    : PROFILE_SCHEMA,
                                   .compress = options->compress,
                                   .memory = memory / EVENTS_SHARE},
                          .most_bytes = options->most_bytes,
                          .likwid_seconds = options->likwid_seconds,
                          .is_over = options->is_over,
                          .fold = {.labels = options->labels,
                                   .threads = threads,
                                   .memory = memory,
                                   .is_absolute = options->is_old_schema,
                                   .has_handles = options->has_handles},
                          .timeline = {.clock = options->clock}};
    *result = (struct world_result){0};
    progress_begin(&merge.progress, options->show_progress, world->file_count);
    struct publication publication;
    if (publish_begin(&publication, path, options->overwrite, err) < 0)
        return WORLD_FAILED;
    enum world_status status = merge_into(&merge, publication.temporary);
    if (losses->count > 0 && options->is_strict && status != WORLD_FAILED)
        status = refuse(&merge);
    release(&merge);
    if (status == WORLD_NOTHING || status == WORLD_FAILED)
        publish_abandon(&publication);
    else if (publish_commit(&publication, err) < 0)
        status = WORLD_FAILED;
    return status;
}
