/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what a rank's counters are (schema/likwid_record.h). */
#include "merge/likwid_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/likwid_record.h"
#include "schema/regular_file.h"

enum { CPU_MAX = 1 << 20 };

/* Every list has room for a line each. */
static int make_room(struct likwid_record *record, size_t lines)
{
    record->groups = calloc(lines, sizeof(*record->groups));
    record->events = calloc(lines, sizeof(*record->events));
    record->counters = calloc(lines, sizeof(*record->counters));
    record->metrics = calloc(lines, sizeof(*record->metrics));
    record->formulas = calloc(lines, sizeof(*record->formulas));
    record->constants = calloc(lines, sizeof(*record->constants));
    record->constant_values = calloc(lines, sizeof(*record->constant_values));
    record->cpus = calloc(lines, sizeof(*record->cpus));
    record->variables = calloc(lines, sizeof(*record->variables));
    record->values = calloc(lines, sizeof(*record->values));
    return record->groups && record->events && record->counters && record->metrics &&
                   record->formulas && record->constants && record->constant_values &&
                   record->cpus && record->variables && record->values
               ? 0
               : -1;
}

static void take_event(struct likwid_record *record, char *value)
{
    char *blank = strchr(value, ' ');
    if (!blank || record->group_count == 0)
        return;
    *blank = '\0';
    record->counters[record->event_count] = value;
    record->events[record->event_count++] = blank + 1;
    record->groups[record->group_count - 1].event_count++;
}

static void take_constant(struct likwid_record *record, char *value)
{
    char *blank = strchr(value, ' ');
    if (!blank)
        return;
    *blank = '\0';
    record->constants[record->constant_count] = value;
    record->constant_values[record->constant_count++] = blank + 1;
}

/* "17 1" */
static void take_socket(struct likwid_record *record, const char *value)
{
    char *blank, *end;
    long cpu = strtol(value, &blank, 10);
    long socket = *blank == ' ' ? strtol(blank + 1, &end, 10) : -1;
    if (blank == value || cpu < 0 || cpu > CPU_MAX || socket < 0 || socket > CPU_MAX ||
        *end != '\0')
        return;
    record->cpus[record->cpu_count++] = (struct likwid_cpu){(int32_t)cpu, (int32_t)socket};
}

static void take_metric(struct likwid_record *record, const char *value)
{
    if (record->group_count == 0)
        return;
    record->metrics[record->metric_count++] = value;
    record->groups[record->group_count - 1].metric_count++;
}

static void take_line(struct likwid_record *record, char *line)
{
    char *value = strchr(line, '=');
    if (!value)
        return;
    *value++ = '\0';
    if (strcmp(line, LIKWID_RECORD_REASON) == 0)
        record->reason = value;
    else if (strcmp(line, LIKWID_RECORD_OWN) == 0)
        record->own = value;
    else if (strcmp(line, LIKWID_RECORD_LIBRARY) == 0)
        record->library = value;
    else if (strcmp(line, LIKWID_RECORD_PROCESSOR) == 0)
        record->processor = value;
    else if (strcmp(line, LIKWID_RECORD_TYPE) == 0)
        record->type = value;
    else if (strcmp(line, LIKWID_RECORD_SOCKET) == 0)
        take_socket(record, value);
    else if (strcmp(line, LIKWID_RECORD_CLOCK) == 0)
        record->clock = value;
    else if (strcmp(line, LIKWID_RECORD_GROUP) == 0)
        record->groups[record->group_count++] = (struct likwid_group){
            .name = value,
            .first_event = record->event_count,
            .first_metric = record->metric_count,
        };
    else if (strcmp(line, LIKWID_RECORD_EVENT) == 0)
        take_event(record, value);
    else if (strcmp(line, LIKWID_RECORD_CONSTANT) == 0)
        take_constant(record, value);
    else if (strcmp(line, LIKWID_RECORD_METRIC) == 0)
        take_metric(record, value);
    else if (strcmp(line, LIKWID_RECORD_FORMULA) == 0 && record->metric_count > 0)
        record->formulas[record->metric_count - 1] = value;
    else if (strncmp(line, "LIKWID_", 7) == 0) {
        record->variables[record->variable_count] = line;
        record->values[record->variable_count++] = value;
    }
}

int likwid_record_parse(struct likwid_record *record, const char *text, size_t size,
                        struct error *err)
{
    static const char first[] = LIKWID_RECORD_FIRST "\n";
    size_t lines = 1;
    *record = (struct likwid_record){0};
    if (size < strlen(first) || memcmp(text, first, strlen(first)) != 0)
        return error_set(err, "is no record of LIKWID's counters");
    record->text = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    if (!record->text || make_room(record, lines) < 0) {
        likwid_record_release(record);
        return error_set(err, "out of memory");
    }
    memcpy(record->text, text, size);
    record->text[size] = '\0';
    for (size_t i = 0; i < size; i++) { /* names go to terminals and into the profile */
        if ((unsigned char)record->text[i] < ' ' && record->text[i] != '\n')
            record->text[i] = '?';
    }
    for (char *line = record->text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        take_line(record, line);
    }
    return 0;
}

int likwid_record_read(struct likwid_record *record, int dirfd, const char *name,
                       struct error *err)
{
    char text[LIKWID_RECORD_SIZE];
    struct stat info;
    *record = (struct likwid_record){0};
    if (fstatat(dirfd, name, &info, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
        return 1;
    int fd = regular_file_open(dirfd, name, NULL, err);
    if (fd < 0)
        return -1;
    ssize_t got = pread(fd, text, sizeof(text), 0);
    close(fd);
    return got < 0 ? error_set(err, "%s: %s", name, strerror(errno))
                   : likwid_record_parse(record, text, (size_t)got, err);
}

const char *likwid_record_variable(const struct likwid_record *record, const char *name)
{
    for (size_t i = 0; i < record->variable_count; i++) {
        if (strcmp(record->variables[i], name) == 0)
            return record->values[i];
    }
    return NULL;
}

int32_t likwid_record_socket(const struct likwid_record *record, int32_t cpu)
{
    for (size_t i = 0; i < record->cpu_count; i++) {
        if (record->cpus[i].cpu == cpu)
            return record->cpus[i].socket;
    }
    return -1;
}

void likwid_record_release(struct likwid_record *record)
{
    free(record->text);
    free(record->groups);
    free(record->events);
    free(record->counters);
    free(record->metrics);
    free(record->formulas);
    free(record->constants);
    free(record->constant_values);
    free(record->cpus);
    free(record->variables);
    free(record->values);
    *record = (struct likwid_record){0};
}
