/* SPDX-License-Identifier: BSD-3-Clause */
/* The epilog of a job on one node: merges what the job's steps left, each as its user. */
#define _GNU_SOURCE
#include "merge/epilog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge/system_log.h"
#include "merge/user_child.h"
#include "schema/node_marker.h"
#include "schema/registry.h"
#include "schema/spool_place.h"

enum {
    DETACHED_S = 3600,
    NOTE_MS = 1000,                      /* for telling the user */
    SPARE_MS = 2500,                     /* of the time, for ending a merge and telling of it */
    LISTED_MAX = 2 * REGISTRY_JOB_MAX,   /* several daemons may have added at once */
};

struct epilog {
    int registry;
    uint32_t job, user;
    uint32_t steps[LISTED_MAX];
    int count;
    int64_t begun, deadline, wait_until;
    char node[NODE_MARKER_NAME_SIZE];
    epilog_merge *merge;
    void *merge_data;
};

/* --- what is to be done --------------------------------------------------------------------------
 */

static bool read_number(const char *name, uint32_t *number)
{
    char *end;
    const char *text = getenv(name);
    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return errno == 0 && *end == '\0' && value <= UINT32_MAX;
}

/* The node's name, as Slurm has it. */
static void read_node(struct epilog *epilog)
{
    const char *name = getenv("SLURMD_NODENAME");
    epilog->node[0] = epilog->node[sizeof epilog->node - 1] = '\0';
    if (name)
        snprintf(epilog->node, sizeof epilog->node, "%s", name);
    else
        gethostname(epilog->node, sizeof epilog->node - 1);
}

/* The entry of a step, if it can be believed; else what is wrong is logged. */
static bool read_entry(const struct epilog *epilog, uint32_t step, struct step_record *record)
{
    struct error err;
    if (registry_read(epilog->registry, epilog->job, step, record, &err) < 0) {
        system_log("the registry: %s: not merged", err.text);
        return false;
    }
    if (record->user == epilog->user)
        return true;
    system_log("the registry: %" PRIu32 ".%" PRIu32 ": is not of the job's user: not merged",
               epilog->job, step);
    return false;
}

/* The terms of all entries are those of plugstack.conf; the first one's hold. */
static void settle_terms(const struct epilog *epilog, struct epilog_terms *terms)
{
    struct step_record record;
    *terms = (struct epilog_terms)EPILOG_TERMS_DEFAULT;
    for (int i = 0; i < epilog->count; i++) {
        if (registry_read(epilog->registry, epilog->job, epilog->steps[i], &record, NULL) == 0) {
            *terms = record.terms;
            return;
        }
    }
}

/* --- one step ------------------------------------------------------------------------------------
 */

static int merge_in_child(const void *data)
{
    return epilog_step_merge(data);
}

static int settle_in_child(const void *data)
{
    return epilog_step_settle(data);
}

static int note_in_child(const void *data)
{
    return epilog_step_note(data);
}

static void tell_user(const struct step_record *record, const char *text, pid_t ended)
{
    struct epilog_note note = {.run = record->run,
                               .text = text,
                               .is_mpirun = record->is_mpirun,
                               .merger = ended};
    struct user_child child;
    struct user_ids ids = step_record_ids(record);
    if (user_child_start(&child, &ids, note_in_child, &note) == 0)
        user_child_wait(&child, user_child_now() + NOTE_MS);
}

/* What the child said, line by line. */
static void log_text(const struct step_record *record, char *text)
{
    static const char prefix[] = "scope-profile: ";
    char *rest;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, prefix, strlen(prefix)) == 0)
            line += strlen(prefix);
        system_log("job %" PRIu32 " step %" PRIu32 ": %s", record->job, record->step, line);
    }
}

static struct epilog_step step_of(const struct epilog *epilog, const struct step_record *record)
{
    return (struct epilog_step){.record = record,
                                .node = epilog->node,
                                .begun = epilog->begun,
                                .wait_until = epilog->wait_until,
                                .merge = epilog->merge,
                                .merge_data = epilog->merge_data};
}

/* Returns whether the file system answers. */
static bool settle_step(const struct epilog *epilog, const struct step_record *record)
{
    struct epilog_step step = step_of(epilog, record);
    struct user_child child;
    struct error err;
    struct user_ids ids = step_record_ids(record);
    if (user_child_start(&child, &ids, settle_in_child, &step) < 0)
        return true;
    int status = user_child_wait(&child, epilog->deadline);
    log_text(record, child.text);
    if (record->spool[0] && spool_place_remove(record->spool, &err) < 0)
        system_log("job %" PRIu32 " step %" PRIu32 ": %s", record->job, record->step, err.text);
    return status != -2;
}

/* Returns whether the file system answers. */
static bool merge_step(const struct epilog *epilog, const struct step_record *record)
{
    struct epilog_step step = step_of(epilog, record);
    struct user_child child;
    struct user_ids ids = step_record_ids(record);
    if (user_child_start(&child, &ids, merge_in_child, &step) < 0) {
        system_log("job %" PRIu32 ": no process for the merge: %s", epilog->job, strerror(errno));
        return true;
    }
    int status = user_child_wait(&child, epilog->deadline);
    if (status < 0) {
        size_t room = sizeof child.text - child.length;
        snprintf(child.text + child.length, room,
                 "scope-profile: the merge was ended, for it took too long or was killed: the "
                 "traces stay in %s\n",
                 record->run);
    }
    if ((status == EPILOG_TELL || status == -1) && child.text[0])
        tell_user(record, child.text, status < 0 ? child.pid : 0);
    log_text(record, child.text);
    return status != -2;
}

/* --- all of them ---------------------------------------------------------------------------------
 */

/* Does it for each step, while file systems answer and there is time. Returns how many are left. */
static int for_each_step(const struct epilog *epilog,
                         bool (*act)(const struct epilog *epilog, const struct step_record *record))
{
    struct step_record record;
    int done = 0;
    bool answers = true;
    for (; done < epilog->count && answers && user_child_now() < epilog->deadline; done++) {
        if (read_entry(epilog, epilog->steps[done], &record))
            answers = act(epilog, &record);
    }
    return epilog->count - done;
}

/* Other nodes may wait for this one's part of a step while it waits for theirs of another. */
static void merge_all(const struct epilog *epilog)
{
    for_each_step(epilog, settle_step);
    int left = for_each_step(epilog, merge_step);
    for (int i = 0; i < epilog->count; i++)
        registry_remove(epilog->registry, epilog->job, epilog->steps[i]);
    if (left > 0)
        system_log("job %" PRIu32 ": no time for %d of %d steps: their traces stay", epilog->job,
                   left, epilog->count);
}

/* Lets the caller go on while this process's child merges. Returns whether this is the child. */
static bool detach(void)
{
    pid_t child = fork();
    if (child != 0)
        return child < 0; /* without one it is done here */
    setsid();
    int nothing = open("/dev/null", O_RDWR);
    for (int fd = STDIN_FILENO; nothing >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(nothing, fd);
    return true;
}

static void merge_by_terms(struct epilog *epilog)
{
    struct epilog_terms terms;
    settle_terms(epilog, &terms);
    if (terms.detaches && !detach())
        return;
    int64_t time_ms = 1000 * (int64_t)(terms.detaches ? DETACHED_S : terms.timeout_s);
    int64_t spare_ms = time_ms / 4 < SPARE_MS ? time_ms / 4 : SPARE_MS;
    int64_t wait_ms = 1000 * (int64_t)terms.wait_s, most_ms = 2 * time_ms / 3;
    epilog->begun = user_child_now();
    epilog->deadline = epilog->begun + time_ms - spare_ms;
    epilog->wait_until = epilog->begun + (wait_ms < most_ms ? wait_ms : most_ms);
    merge_all(epilog);
    registry_clean(epilog->registry, REGISTRY_AGE_S);
}

void epilog_run(const char *registry, epilog_merge *merge, void *merge_data)
{
    struct epilog epilog = {.merge = merge, .merge_data = merge_data};
    struct error err;
    if (!read_number("SLURM_JOB_ID", &epilog.job) || !read_number("SLURM_JOB_UID", &epilog.user)) {
        system_log("SLURM_JOB_ID and SLURM_JOB_UID do not tell whose epilog this is");
        return;
    }
    read_node(&epilog);
    epilog.registry = registry_open(registry, false, &err);
    if (epilog.registry < 0) {
        if (errno != ENOENT)
            system_log("%s", err.text);
        return;
    }
    epilog.count = registry_list(epilog.registry, epilog.job, epilog.steps, LISTED_MAX);
    if (epilog.count > 0)
        merge_by_terms(&epilog);
    close(epilog.registry);
}
