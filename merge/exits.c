/* SPDX-License-Identifier: BSD-3-Clause */
/* The exit records of a run, and which of them is a rank's. */
#define _GNU_SOURCE
#include "merge/exits.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schema/exit_record.h"

int exits_is_name(const char *name)
{
    size_t length = strlen(EXIT_RECORD_PREFIX);
    return strncmp(name, EXIT_RECORD_PREFIX, length) == 0 && name[length] != '\0';
}

/* --- reading -----------------------------------------------------------------------------------
 */

/* Adds a copy of text to a list that grows by powers of two. */
static int add_text(char ***list, size_t *count, const char *text)
{
    if ((*count & (*count - 1)) == 0) {
        char **more = realloc(*list, (*count ? 2 * *count : 1) * sizeof(*more));
        if (!more)
            return -1;
        *list = more;
    }
    char *copy = strdup(text);
    if (!copy)
        return -1;
    (*list)[(*count)++] = copy;
    return 0;
}

static int make_room(struct exits *exits)
{
    if (exits->count < exits->room)
        return 0;
    size_t room = exits->room ? 2 * exits->room : 64;
    struct exit_entry *more = realloc(exits->entries, room * sizeof(*more));
    if (!more)
        return -1;
    exits->entries = more;
    exits->room = room;
    return 0;
}

/* The lines of one file are of one host, but for a hostile one. */
static int take_record(void *data, const struct exit_record *record)
{
    struct exits *exits = data;
    if (exits->count == EXITS_MAX)
        return 0;
    bool is_known =
        exits->host_count > 0 && strcmp(exits->hosts[exits->host_count - 1], record->host) == 0;
    if (make_room(exits) < 0 ||
        (!is_known && add_text(&exits->hosts, &exits->host_count, record->host) < 0))
        return -1;
    exits->entries[exits->count++] = (struct exit_entry){
        .node = (uint32_t)(exits->node_count - 1),
        .host = (uint32_t)(exits->host_count - 1),
        .local = record->local,
        .pid = record->pid,
        .status = record->status,
        .task = record->task,
        .realtime_ns = record->realtime_ns,
        .monotonic_ns = record->monotonic_ns,
    };
    return 0;
}

static void add_problem(struct exits *exits, const struct error *problem)
{
    if (exits->problem_count++ == 0)
        exits->problem = *problem;
}

void exits_add_job_end(struct exits *exits, int dirfd)
{
    struct error problem;
    if (job_end_read(dirfd, &exits->job, &problem) < 0)
        add_problem(exits, &problem);
}

int exits_add_file(struct exits *exits, int dirfd, const char *name)
{
    struct error problem;
    if (add_text(&exits->nodes, &exits->node_count, name + strlen(EXIT_RECORD_PREFIX)) < 0)
        return -1;
    int status = exit_record_read(dirfd, name, take_record, exits, &problem);
    if (status > 0)
        add_problem(exits, &problem);
    return status < 0 ? -1 : 0;
}

/* --- finding -----------------------------------------------------------------------------------
 */

/* What is looked for: a node, and a process id or a local id on it. */
struct key {
    const char *node;
    int32_t number;
};

static int compare_keys(const struct key *a, const struct key *b)
{
    int order = strcmp(a->node, b->node);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

static struct key pid_key(const struct exits *exits, const struct exit_entry *entry)
{
    return (struct key){exits->nodes[entry->node], entry->pid};
}

static struct key local_key(const struct exits *exits, const struct exit_entry *entry)
{
    return (struct key){exits->nodes[entry->node], entry->local};
}

static int compare_pids(const void *left, const void *right, void *exits)
{
    struct key a = pid_key(exits, *(const struct exit_entry *const *)left);
    struct key b = pid_key(exits, *(const struct exit_entry *const *)right);
    return compare_keys(&a, &b);
}

static int compare_locals(const void *left, const void *right, void *exits)
{
    struct key a = local_key(exits, *(const struct exit_entry *const *)left);
    struct key b = local_key(exits, *(const struct exit_entry *const *)right);
    return compare_keys(&a, &b);
}

int exits_settle(struct exits *exits)
{
    size_t launchers = 0;
    exits->by_pid = malloc((exits->count + 1) * sizeof(struct exit_entry *));
    exits->by_local = malloc((exits->count + 1) * sizeof(struct exit_entry *));
    if (!exits->by_pid || !exits->by_local)
        return -1;
    for (size_t i = 0; i < exits->count; i++) {
        exits->by_pid[i] = exits->by_local[i] = &exits->entries[i];
        if (exits->entries[i].task < 0 && launchers++ == 0)
            exits->launcher = &exits->entries[i];
    }
    if (launchers > 1)
        exits->launcher = NULL;
    qsort_r(exits->by_pid, exits->count, sizeof(*exits->by_pid), compare_pids, exits);
    qsort_r(exits->by_local, exits->count, sizeof(*exits->by_local), compare_locals, exits);
    return 0;
}

/* The first place in list, sorted by key_of, whose key is not less than key. */
static size_t lower_bound(const struct exits *exits, const struct exit_entry *const *list,
                          struct key (*key_of)(const struct exits *, const struct exit_entry *),
                          const struct key *key)
{
    size_t low = 0, high = exits->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct key here = key_of(exits, list[middle]);
        if (compare_keys(&here, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_host(const struct exits *exits, const struct exit_entry *entry,
                    const struct trace_header *header)
{
    return strcmp(exits->hosts[entry->host], header->host_key) == 0;
}

/* A process id alone proves nothing: the record has to be of the same host, or else of the task
 * with the same local id on that node of Slurm's (a container may have a host name of its own). */
static const struct exit_entry *find_own(const struct exits *exits,
                                         const struct trace_header *header, const char *node)
{
    struct key key = {node, header->pid};
    for (size_t i = lower_bound(exits, exits->by_pid, pid_key, &key); i < exits->count; i++) {
        const struct exit_entry *entry = exits->by_pid[i];
        struct key here = pid_key(exits, entry);
        if (compare_keys(&here, &key) != 0)
            return NULL;
        if (entry->task >= 0 ? entry->local == header->local_rank : is_host(exits, entry, header))
            return entry;
    }
    return NULL;
}

/* Components of a heterogeneous step that share a node have the same local ids: then it is the one
 * with the rank's number, if any. */
static const struct exit_entry *find_task(const struct exits *exits,
                                          const struct trace_header *header)
{
    struct key key = {header->node, header->local_rank};
    const struct exit_entry *found = NULL;
    size_t candidates = 0;
    if (header->local_rank < 0)
        return NULL;
    for (size_t i = lower_bound(exits, exits->by_local, local_key, &key); i < exits->count; i++) {
        const struct exit_entry *entry = exits->by_local[i];
        struct key here = local_key(exits, entry);
        if (compare_keys(&here, &key) != 0)
            break;
        if (entry->task == (int64_t)header->rank)
            return entry;
        found = entry;
        candidates++;
    }
    return candidates == 1 ? found : NULL;
}

struct rank_end exits_find(const struct exits *exits, const struct trace_header *header)
{
    enum rank_end_of of = END_OF_RANK;
    const struct exit_entry *entry = find_own(exits, header, header->node);
    if (!entry)
        entry = find_own(exits, header, header->host);
    if (!entry) {
        of = END_OF_TASK;
        entry = find_task(exits, header);
    }
    if (!entry) {
        of = END_OF_LAUNCHER;
        entry = exits->launcher;
    }
    if (!entry)
        return (struct rank_end){.of = END_UNSEEN, .status = -1, .ns = -1};
    struct rank_end end = {
        .of = of,
        .status = entry->status,
        .has_rank_clock = is_host(exits, entry, header),
        .realtime_ns = entry->realtime_ns,
        .monotonic_ns = entry->monotonic_ns,
        .ns = -1,
    };
    rank_end_explain(&end, &exits->job);
    return end;
}

void exits_release(struct exits *exits)
{
    for (size_t i = 0; i < exits->node_count; i++)
        free(exits->nodes[i]);
    for (size_t i = 0; i < exits->host_count; i++)
        free(exits->hosts[i]);
    free(exits->nodes);
    free(exits->hosts);
    free(exits->entries);
    free(exits->by_pid);
    free(exits->by_local);
    *exits = (struct exits){0};
}
