/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer on texts of people and of files: options, patterns, sizes, records, labels, markers. */
#include <stdbool.h>

#include "merge/formula.h"
#include "merge/likwid_marker.h"
#include "merge/likwid_record.h"
#include "report/rank_set.h"
#include "schema/exit_record.h"
#include "schema/job_end.h"
#include "schema/job_record.h"
#include "schema/ld_preload.h"
#include "schema/options.h"
#include "schema/region_label.h"
#include "schema/run_path.h"
#include "schema/size_text.h"
#include "schema/step_record.h"
#include "schema/trace_format.h"
#include "tests/fuzz/fuzz_input.h"

static int directory;

static void write_file(const char *name, const char *text, size_t size)
{
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, size) != (ssize_t)size)
        input_die(name);
    close(fd);
}

static void try_options(const char *text, size_t size)
{
    static struct options options;
    struct error err = {""};
    size_t length;
    uint64_t bytes;
    if (options_parse(&options, text, &err) < 0 && err.text[0] == '\0')
        abort();
    const char *value = options_value(text, "max-run", &length);
    if (value && (value < text || value + length > text + size))
        abort();
    size_text_read(text, size, &bytes);
}

static void try_pattern(const char *text)
{
    const struct run_names names = {"17", "0", "user", "a/job", "16", "1"};
    char expanded[OPTIONS_PATH_MAX], run[OPTIONS_PATH_MAX];
    struct error err = {""};
    if (run_path_check(text, &err) == 0 &&
        run_path_expand(text, &names, expanded, sizeof expanded, &err) == 0 &&
        run_path_directory(expanded, "17.0", 1, run, sizeof run, &err) == 0)
        run_path_profile(run, 1, expanded, sizeof expanded, &err);
}

/* What is added and taken away again leaves no trace. */
static void try_preload(const char *text)
{
    char *with = ld_preload_add(text, "/lib/ours.so"), *left = NULL;
    if (!with || ld_preload_remove(with, "/lib/ours.so", &left) < 0)
        abort();
    if (strcmp(with, text) != 0 && strcmp(left ? left : "", text) != 0)
        abort();
    free(with);
    free(left);
}

static void try_rank_set(const char *text)
{
    struct rank_set set;
    struct error err;
    if (rank_set_parse(&set, text, &err) < 0)
        return;
    rank_set_has(&set, 17);
    rank_set_release(&set);
}

static void try_job(const char *text, size_t size)
{
    struct job_record record = {0};
    struct error err;
    write_file("job", text, size);
    if (job_record_read(&record, directory, &err) == 0)
        job_record_get(&record, "command");
    job_record_release(&record);
}

/* What was taken is written as it was read. */
static int take_exit(void *data, const struct exit_record *record)
{
    char line[EXIT_RECORD_LINE_SIZE];
    (void)data;
    if (exit_record_print(record, line) == 0 || strlen(record->host) >= sizeof record->host)
        abort();
    return 0;
}

static void try_records(const char *text, size_t size)
{
    struct job_end end;
    struct error err;
    write_file("exit-node0", text, size);
    exit_record_read(directory, "exit-node0", take_exit, NULL, &err);
    write_file("job-end", text, size);
    job_end_read(directory, &end, &err);
}

/* What was taken can be written, and is then taken again. */
static void try_step(const char *text, size_t size)
{
    static struct step_record record;
    static char copy[STEP_RECORD_MAX];
    size_t length = size < sizeof copy ? size : sizeof copy - 1;
    struct error err;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (step_record_parse(&record, copy, length, &err) == 0 &&
        (step_record_print(&record, copy, &length, &err) < 0 ||
         step_record_parse(&record, copy, length, &err) < 0))
        abort();
}

/* The values of a label, of which each is one byte, and both of its names. */
static void try_label(const char *text, size_t size)
{
    char label_text[REGION_LABEL_SIZE], tags[REGION_TAGS_SIZE];
    char names[2][TRACE_NAME_MAX + 1] = {"", ""};
    int64_t values[5] = {0};
    if (size > sizeof values)
        memcpy(values, text, sizeof values);
    for (size_t i = sizeof values; i < size; i++)
        if (strlen(names[i % 2]) < TRACE_NAME_MAX)
            names[i % 2][strlen(names[i % 2])] =
                "abcdefghijklmnopqrstuvwxyz0123456789_"[(uint8_t)text[i] % 37];
    const struct region_label label = {names[0], names[1][0] ? names[1] : NULL,
                                       (enum mpi_kind)((uint64_t)values[0] % KIND_COUNT), values[0],
                                       values[1], values[2], values[3], values[4]};
    if (region_label_print(&label, label_text) >= sizeof label_text ||
        region_label_print_tags(&label, tags) >= sizeof tags)
        abort();
}

/* What was taken is whole: every value of it can be read. */
static void try_marker(const char *text, size_t size)
{
    struct likwid_marker marker;
    double sum = 0;
    if (likwid_marker_parse(&marker, text, size) == 0) {
        for (size_t i = 0; i < marker.region_count; i++) {
            const struct likwid_region *region = &marker.regions[i];
            if (region->thread_count == 0 || strlen(region->tag) >= size)
                abort();
            for (size_t j = 0; j < region->thread_count * region->event_count; j++)
                sum += region->values[j];
            for (size_t j = 0; j < region->thread_count; j++)
                sum += region->threads[j].seconds;
        }
    }
    volatile double used = sum;
    (void)used;
    likwid_marker_release(&marker);
}

static bool look_up(const void *context, const char *name, size_t length, double *value)
{
    const char *text = context;
    if (name < text || name + length > text + strlen(text))
        abort();
    *value = (double)length;
    return length != 3;
}

/* Groups have no events and metrics but those of the lists. */
static void try_likwid_record(const char *text, size_t size)
{
    struct likwid_record record;
    struct error err;
    if (likwid_record_parse(&record, text, size, &err) < 0)
        return;
    for (size_t i = 0; i < record.group_count; i++) {
        const struct likwid_group *group = &record.groups[i];
        if (group->first_event + group->event_count > record.event_count ||
            group->first_metric + group->metric_count > record.metric_count)
            abort();
        for (size_t j = 0; j < group->event_count; j++)
            if (strlen(record.events[group->first_event + j]) >= size)
                abort();
    }
    likwid_record_release(&record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    if (directory == 0) {
        input_fill_streams();
        directory = input_directory(path);
    }
    if (size == 0)
        return 0;
    char *text = malloc(size); /* as long as needed: what reads beyond it is seen */
    if (!text)
        abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch ((uint8_t)(data[0] - 'A') % 9) {
    case 0:
        try_options(text, strlen(text));
        break;
    case 1:
        try_pattern(text);
        break;
    case 2:
        try_rank_set(text);
        break;
    case 3:
        try_job(text, size - 1);
        break;
    case 4:
        try_records(text, size - 1);
        break;
    case 5:
        try_preload(text);
        break;
    case 6:
        try_label(text, size - 1);
        break;
    case 7:
        try_marker(text, size - 1);
        try_likwid_record(text, size - 1);
        formula_evaluate(text, look_up, text, &(double){0});
        break;
    default:
        try_step(text, size - 1);
    }
    free(text);
    return 0;
}
