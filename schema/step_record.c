/* SPDX-License-Identifier: BSD-3-Clause */
/* What the epilog of a job must know of a profiled step: an entry of the registry (registry.h). */
#include "schema/step_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "schema/percent.h"

#define FIRST_LINE "scope-profile-step 1\n"

enum { GROUP_DIGITS = 11 }; /* of a number, and the comma behind it */

/* --- the keys ------------------------------------------------------------------------------------
 */

enum key {
    KEY_JOB,
    KEY_STEP,
    KEY_NODES,
    KEY_COMPONENT,
    KEY_USER,
    KEY_GROUP,
    KEY_GROUPS,
    KEY_MERGE,
    KEY_RUN,
    KEY_SPOOL,
    KEY_TIMEOUT,
    KEY_WAIT,
    KEY_THREADS,
    KEY_DETACH,
    KEY_MPIRUN,
    KEYS
};

static const char *const key_names[KEYS] = {
    [KEY_JOB] = "job",         [KEY_STEP] = "step",     [KEY_NODES] = "nodes",
    [KEY_USER] = "user",       [KEY_GROUP] = "group",   [KEY_GROUPS] = "groups",
    [KEY_MERGE] = "merge",     [KEY_RUN] = "run",       [KEY_TIMEOUT] = "timeout",
    [KEY_WAIT] = "wait",       [KEY_THREADS] = "threads", [KEY_DETACH] = "detach",
    [KEY_MPIRUN] = "mpirun",   [KEY_COMPONENT] = "component", [KEY_SPOOL] = "spool",
};

/* What an older plugin, under whose jobs this one came, does not write: 0 and none. */
static const unsigned later_keys = 1U << KEY_COMPONENT | 1U << KEY_SPOOL;

/* The number a key stands for, NULL if it is none. */
static uint32_t *number_of(struct step_record *record, enum key key)
{
    switch (key) {
    case KEY_JOB:
        return &record->job;
    case KEY_STEP:
        return &record->step;
    case KEY_NODES:
        return &record->nodes;
    case KEY_COMPONENT:
        return &record->component;
    case KEY_USER:
        return &record->user;
    case KEY_GROUP:
        return &record->group;
    case KEY_TIMEOUT:
        return &record->terms.timeout_s;
    case KEY_WAIT:
        return &record->terms.wait_s;
    case KEY_THREADS:
        return &record->terms.threads;
    default:
        return NULL;
    }
}

/* The flag that one of the other keys stands for. */
static bool *flag_of(struct step_record *record, enum key key)
{
    return key == KEY_MPIRUN ? &record->is_mpirun : &record->terms.detaches;
}

/* --- ids -----------------------------------------------------------------------------------------
 */

int step_record_set_ids(struct step_record *record, const struct user_ids *ids, struct error *err)
{
    if (ids->group_count > STEP_RECORD_GROUPS_MAX)
        return error_set(err, "the user is in more than %d groups", STEP_RECORD_GROUPS_MAX);
    record->user = ids->user;
    record->group = ids->group;
    record->group_count = ids->group_count;
    for (size_t i = 0; i < ids->group_count; i++)
        record->groups[i] = ids->groups[i];
    return 0;
}

struct user_ids step_record_ids(const struct step_record *record)
{
    return (struct user_ids){.user = record->user,
                             .group = record->group,
                             .groups = record->groups,
                             .group_count = record->group_count};
}

/* --- writing -------------------------------------------------------------------------------------
 */

static void print_groups(const struct step_record *record,
                         char text[static STEP_RECORD_GROUPS_MAX * GROUP_DIGITS + 1])
{
    char *p = text;
    *p = '\0';
    for (size_t i = 0; i < record->group_count; i++)
        p += sprintf(p, "%s%" PRIu32, i ? "," : "", record->groups[i]);
}

static int add(char *text, size_t *length, const char *key, const char *value)
{
    size_t key_length = strlen(key);
    if (key_length + percent_size(value) + 3 > STEP_RECORD_MAX - *length)
        return -1;
    char *p = text + *length;
    memcpy(p, key, key_length);
    p += key_length;
    *p++ = '=';
    p = percent_encode(p, value);
    *p++ = '\n';
    *p = '\0';
    *length = (size_t)(p - text);
    return 0;
}

int step_record_print(const struct step_record *record, char text[static STEP_RECORD_MAX],
                      size_t *length, struct error *err)
{
    char groups[STEP_RECORD_GROUPS_MAX * GROUP_DIGITS + 1], number[16];
    struct step_record copy = *record;
    if (record->run[0] != '/')
        return error_set(err, "the run directory is no absolute path");
    print_groups(record, groups);
    *length = strlen(FIRST_LINE);
    strcpy(text, FIRST_LINE);
    for (int key = 0; key < KEYS; key++) {
        const uint32_t *value = number_of(&copy, (enum key)key);
        snprintf(number, sizeof number, "%" PRIu32, value ? *value : 0);
        const char *said = value               ? number
                           : key == KEY_GROUPS ? groups
                           : key == KEY_RUN    ? record->run
                           : key == KEY_SPOOL  ? record->spool
                           : key == KEY_MERGE  ? record->merge == MERGE_EPILOG ? "epilog" : "srun"
                           : *flag_of(&copy, (enum key)key) ? "yes"
                                                             : "no";
        if (add(text, length, key_names[key], said) < 0)
            return error_set(err, "what is to be said of the step is longer than %d bytes",
                             STEP_RECORD_MAX);
    }
    return 0;
}

/* --- reading -------------------------------------------------------------------------------------
 */

/* The digits at *text, and what is behind them. */
static int take_number(const char **text, uint32_t *number)
{
    uint64_t value = 0;
    const char *p = *text;
    for (; *p >= '0' && *p <= '9' && value <= UINT32_MAX; p++)
        value = 10 * value + (uint64_t)(*p - '0');
    if (p == *text || value > UINT32_MAX)
        return -1;
    *number = (uint32_t)value;
    *text = p;
    return 0;
}

static int take_groups(struct step_record *record, const char *text)
{
    while (*text) {
        if (record->group_count == STEP_RECORD_GROUPS_MAX ||
            take_number(&text, &record->groups[record->group_count++]) < 0)
            return -1;
        if (*text == ',' && text[1])
            text++;
        else if (*text)
            return -1;
    }
    return 0;
}

/* An absolute path, or none. */
static int take_path(char path[static OPTIONS_PATH_MAX], const char *text)
{
    if ((*text && *text != '/') || strlen(text) >= OPTIONS_PATH_MAX)
        return -1;
    strcpy(path, text);
    return 0;
}

/* Which of two words it is: 0 or 1, or -1. */
static int choose(const char *text, const char *zero, const char *one)
{
    return strcmp(text, zero) == 0 ? 0 : strcmp(text, one) == 0 ? 1 : -1;
}

static int take_value(struct step_record *record, enum key key, const char *value)
{
    int chosen;
    uint32_t *number = number_of(record, key);
    if (number)
        return take_number(&value, number) < 0 || *value ? -1 : 0;
    switch (key) {
    case KEY_GROUPS:
        return take_groups(record, value);
    case KEY_RUN:
        return *value == '\0' ? -1 : take_path(record->run, value);
    case KEY_SPOOL:
        return take_path(record->spool, value);
    case KEY_MERGE:
        chosen = choose(value, "srun", "epilog");
        record->merge = chosen == 1 ? MERGE_EPILOG : MERGE_SRUN;
        return chosen < 0 ? -1 : 0;
    default:
        chosen = choose(value, "no", "yes");
        *flag_of(record, key) = chosen == 1;
        return chosen < 0 ? -1 : 0;
    }
}

static enum key find_key(const char *name)
{
    int key = 0;
    while (key < KEYS && strcmp(name, key_names[key]) != 0)
        key++;
    return (enum key)key;
}

/* seen has a bit for each key that was there. */
static int parse_line(struct step_record *record, char *line, unsigned *seen, struct error *err)
{
    char *equals = strchr(line, '=');
    if (!equals)
        return error_set(err, "a line is no KEY=VALUE");
    *equals = '\0';
    enum key key = find_key(line);
    if (key == KEYS)
        return error_set(err, "a key is unknown");
    if (*seen & 1U << key)
        return error_set(err, "%s is there twice", key_names[key]);
    *seen |= 1U << key;
    if (percent_decode(equals + 1) < 0 || take_value(record, key, equals + 1) < 0)
        return error_set(err, "the value of %s cannot be", key_names[key]);
    return 0;
}

int step_record_parse(struct step_record *record, char *text, size_t length, struct error *err)
{
    size_t first = strlen(FIRST_LINE);
    unsigned seen = 0;
    *record = (struct step_record){.job = 0};
    if (length < first || memcmp(text, FIRST_LINE, first) != 0)
        return error_set(err, "it is no entry of version 1");
    for (char *line = text + first, *end = text + length; line < end;) {
        char *newline = strchr(line, '\n'); /* a zero byte inside ends a line early */
        if (!newline)
            return error_set(err, "its last line is cut off");
        *newline = '\0';
        if (parse_line(record, line, &seen, err) < 0)
            return -1;
        line = newline + 1;
    }
    return (seen | later_keys) == (1U << KEYS) - 1 ? 0 : error_set(err, "a key is missing");
}
