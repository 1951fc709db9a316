/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer on one trace: all that its reader tells, sp-dump, and sp-dump --live. */
#define main sp_dump_main
#include "merge/sp_dump.c"
#undef main

#include "merge/live_group.h"
#include "merge/live_json.h"
#include "merge/live_text.h"
#include "tests/fuzz/fuzz_input.h"

enum { LOOK_NS = 5000000 };

static int directory;
static char path[64];

/* What every record must hold, whatever the file says. */
static void check_record(struct trace_reader *reader, const struct trace_record *record)
{
    if (record->type == RECORD_EVENT &&
        (!trace_reader_signature(reader, record->stream, record->event.signature) ||
         record->event.end < record->event.start || record->event.end > INT64_MAX))
        abort();
    if (record->type == RECORD_POLLS && record->polls.count == 0)
        abort();
}

/* The number of records; both passes of a merge see the same definitions. */
static size_t read_pass(struct trace_reader *reader, size_t definitions[static 2], int pass)
{
    struct trace_record record;
    struct error err;
    int status;
    size_t count = 0;
    definitions[pass] = 0;
    while ((status = trace_reader_next(reader, &record, &err)) != 0) {
        if (status < 0)
            continue;
        check_record(reader, &record);
        count++;
        definitions[pass] +=
            record.type == RECORD_SIGNATURE || record.type == RECORD_COMMUNICATOR;
    }
    return count;
}

static void read_all(const char *name)
{
    struct trace_reader *reader;
    struct trace_unrecorded unrecorded;
    struct trace_ending ending;
    struct error err;
    size_t definitions[2], count;
    if (trace_reader_open(&reader, directory, name, &err) < 0) {
        if (err.text[0] == '\0')
            abort();
        return;
    }
    for (uint32_t i = 0; i < trace_reader_unrecorded_count(reader); i++)
        trace_reader_unrecorded(reader, i, &unrecorded);
    count = read_pass(reader, definitions, 0);
    trace_reader_rewind(reader);
    if (read_pass(reader, definitions, 1) != count || definitions[0] != definitions[1])
        abort();
    for (uint32_t i = 0; i < 4 && i < trace_reader_stream_count(reader); i++)
        if (trace_reader_ending(reader, i, &ending) && !ending.is_pause && ending.count > 0 &&
            ending.end < ending.start)
            abort();
    trace_reader_rewind(reader);
    trace_reader_pass_events(reader);
    read_pass(reader, definitions, 1);
    trace_reader_close(reader);
}

static void look_live(void)
{
    char file[] = "rank-000000.sptrace";
    char *files[] = {file};
    struct run_world world = {.name = "w", .files = files, .file_count = 1};
    const struct run run = {.fd = -1};
    struct live live;
    struct live_groups groups;
    struct error err;
    world.fd = openat(directory, input_worlds[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (world.fd < 0)
        return;
    if (live_read(&live, &run, &world, LOOK_NS, &err) < 0 ||
        live_groups_make(&groups, &live, &err) < 0 || live.rank_count != 1)
        abort();
    live_text_print(stdout, "run", &live, &groups, UINT64_MAX);
    json_object_put(live_json("run", &live, &groups, UINT64_MAX));
    live_groups_release(&groups);
    live_release(&live);
    close(world.fd);
}

static void dump(void)
{
    char name[128];
    char *traces[] = {name};
    const struct settings settings = {.traces = traces, .trace_count = 1, .limit = UINT64_MAX};
    snprintf(name, sizeof name, "%s/%s", path, input_names[0]);
    dump_traces(&settings);
    fflush(stdout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (directory == 0) {
        input_fill_streams();
        directory = input_directory(path);
    }
    input_write(directory, data, size, 1);
    read_all(input_names[0]);
    dump();
    look_live();
    input_remove(directory);
    return 0;
}
