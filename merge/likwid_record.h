/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what a rank's counters are (schema/likwid_record.h). */
#ifndef SCOPE_MERGE_LIKWID_RECORD_H
#define SCOPE_MERGE_LIKWID_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"

struct likwid_group {
    const char *name;
    size_t first_event, event_count; /* in the record's lists */
    size_t first_metric, metric_count;
};

struct likwid_cpu {
    int32_t cpu, socket;
};

struct likwid_record {
    char *text; /* owns all that follows */
    const char *reason; /* why nothing is counted; NULL: it is */
    const char *own; /* the region that was entered once; NULL: none */
    const char *library, *processor, *type, *clock; /* NULL: not told */
    struct likwid_group *groups;
    size_t group_count;
    const char **events, **counters, **metrics; /* names */
    const char **formulas; /* of metrics; NULL: not told */
    size_t event_count, metric_count;
    const char **constants, **constant_values;
    size_t constant_count;
    struct likwid_cpu *cpus; /* of the rank, as far as their sockets are told */
    size_t cpu_count;
    const char **variables, **values; /* LIKWID_* */
    size_t variable_count;
};

/* Takes a text of size bytes, which need not end, as far as it is good; anything may be in it.
 * Returns 0 and *record, to be released, or -1 and err: it is no such record, or memory is out. */
int likwid_record_parse(struct likwid_record *record, const char *text, size_t size,
                        struct error *err);

/* Reads dirfd/name. Returns 1 if there is no such file, else as above. */
int likwid_record_read(struct likwid_record *record, int dirfd, const char *name,
                       struct error *err);

/* The value of a variable LIKWID_*, or NULL. */
const char *likwid_record_variable(const struct likwid_record *record, const char *name);

/* The socket of a CPU, or -1: not told. */
int32_t likwid_record_socket(const struct likwid_record *record, int32_t cpu);

void likwid_record_release(struct likwid_record *record);

#endif
