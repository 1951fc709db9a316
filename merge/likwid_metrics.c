/* SPDX-License-Identifier: BSD-3-Clause */
/* LIKWID's metrics by the formulas of a rank's record, as liblikwid computes them. */
#include "merge/likwid_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "merge/formula.h"

/* Where the names of a formula have their values: those of one thread in a region. */
struct operands {
    const struct likwid_rank *rank;
    const struct likwid_group *group;
    const struct likwid_region *region;
    size_t thread;
    size_t leader; /* the thread whose counts of the socket are used */
};

bool likwid_metrics_is_uncore(const char *counter)
{
    return !strstr(counter, "FIXC") && !strstr(counter, "TMP") &&
           (!strstr(counter, "PMC") || strstr(counter, "UPMC"));
}

static bool is_name(const char *name, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(name, text, length) == 0;
}

static bool find_operand(const void *context, const char *name, size_t length, double *value)
{
    const struct operands *operands = context;
    const struct likwid_record *record = &operands->rank->record;
    const struct likwid_region *region = operands->region;
    if (is_name(name, length, "time")) {
        *value = region->threads[operands->thread].seconds;
        return true;
    }
    if (is_name(name, length, "inverseClock")) {
        double clock = record->clock ? strtod(record->clock, NULL) : 0;
        *value = 1 / clock;
        return clock > 0;
    }
    for (size_t i = 0; i < record->constant_count; i++) {
        if (is_name(name, length, record->constants[i])) {
            *value = strtod(record->constant_values[i], NULL);
            return true;
        }
    }
    for (size_t i = 0; i < region->event_count; i++) {
        const char *counter = record->counters[operands->group->first_event + i];
        if (!is_name(name, length, counter))
            continue;
        size_t thread = likwid_metrics_is_uncore(counter) ? operands->leader : operands->thread;
        *value = region->values[thread * region->event_count + i];
        return true;
    }
    return false;
}

/* The thread that counts for the socket of this one: liblikwid takes the rank's first CPU there. */
static size_t find_leader(const struct likwid_rank *rank, const struct likwid_region *region,
                          size_t thread)
{
    const struct likwid_record *record = &rank->record;
    int32_t socket = likwid_record_socket(record, region->threads[thread].cpu);
    for (size_t i = 0; socket >= 0 && i < record->cpu_count; i++) {
        if (record->cpus[i].socket != socket)
            continue;
        for (size_t j = 0; j < region->thread_count; j++) {
            if (region->threads[j].cpu == record->cpus[i].cpu)
                return j;
        }
        break;
    }
    return thread;
}

static double evaluate(const struct likwid_rank *rank, const struct likwid_group *group,
                       const struct likwid_region *region, size_t thread, size_t leader,
                       size_t metric)
{
    const char *formula = rank->record.formulas[group->first_metric + metric];
    double value;
    /* What has counts of the core alone in it, and of the socket, takes these from the leader. */
    bool is_mixed = formula && !likwid_metrics_is_uncore(formula);
    const struct operands operands = {rank, group, region, thread, is_mixed ? leader : thread};
    return formula && formula_evaluate(formula, find_operand, &operands, &value) ? value : NAN;
}

static bool has_formulas(const struct likwid_rank *rank, const struct likwid_group *group)
{
    for (size_t i = 0; i < group->metric_count; i++) {
        if (rank->record.formulas[group->first_metric + i])
            return true;
    }
    return false;
}

int likwid_metrics_compute(const struct likwid_rank *rank, struct likwid_region *region)
{
    const struct likwid_group *group = likwid_rank_group(rank, region);
    if (!group || !has_formulas(rank, group))
        return 0;
    region->metrics = calloc(region->thread_count * group->metric_count,
                             sizeof(*region->metrics));
    if (!region->metrics)
        return -1;
    region->metric_count = group->metric_count;
    for (size_t i = 0; i < region->thread_count; i++) {
        size_t leader = find_leader(rank, region, i);
        for (size_t j = 0; j < group->metric_count; j++)
            region->metrics[i * group->metric_count + j] = evaluate(rank, group, region, i, leader,
                                                                    j);
    }
    return 0;
}

void likwid_metrics_correct(const struct likwid_rank *rank, struct likwid_region *region,
                            size_t thread)
{
    const struct likwid_group *group = likwid_rank_group(rank, region);
    for (size_t i = 0; group && i < region->metric_count; i++) {
        const char *formula = rank->record.formulas[group->first_metric + i];
        if (!formula || likwid_metrics_is_uncore(formula))
            region->metrics[thread * region->metric_count + i] =
                evaluate(rank, group, region, thread, thread, i);
    }
}
