/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer on a node's container of traces: it tells of nothing that it does not hold. */
#include <stdbool.h>

#include "schema/trace_container.h"
#include "schema/trace_reader.h"
#include "tests/fuzz/fuzz_input.h"

static int directory;

static bool is_name(const char *name)
{
    return *name != '\0' && !strchr(name, '/') && memchr(name, '\0', TRACE_CONTAINER_NAME_SIZE);
}

/* Whatever is there in place of a trace can be looked at. */
static void read_trace(const char *file, const struct trace_container_trace *trace)
{
    const struct trace_part part = {
        .container = file, .dirfd = directory, .offset = trace->offset, .size = trace->size};
    struct trace_reader *reader;
    struct trace_record record;
    struct error err = {""};
    if (trace_reader_open_part(&reader, directory, trace->file, &part, &err) < 0) {
        if (err.text[0] == '\0')
            abort();
        return;
    }
    while (trace_reader_next(reader, &record, NULL) != 0)
        ;
    trace_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    const char *file = input_names[0];
    struct trace_container container;
    struct trace_container_trace trace;
    struct error err = {""};
    uint64_t count = 0, end = 0;
    int status;
    if (directory == 0) {
        input_fill_streams();
        directory = input_directory(path);
    }
    input_write(directory, data, size, 1);
    if (trace_container_open(&container, directory, file, &err) == 0) {
        if (!memchr(container.spool, '\0', sizeof container.spool) ||
            (container.spool[0] && container.spool[0] != '/'))
            abort();
        while ((status = trace_container_next(&container, &trace)) > 0) {
            if (!is_name(trace.world) || !is_name(trace.file) || trace.world[0] == '.' ||
                trace.offset < end || trace.offset > container.size ||
                trace.size > container.size - trace.offset)
                abort();
            end = trace.offset + trace.size;
            count++;
            read_trace(file, &trace);
        }
        if (container.count != count || (container.is_complete && status < 0))
            abort();
        trace_container_close(&container);
    } else if (err.text[0] == '\0' && size > 0) {
        abort();
    }
    input_remove(directory);
    return 0;
}
