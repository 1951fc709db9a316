/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's hardware counters, for people. */
#define _GNU_SOURCE
#include "merge/likwid_text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "merge/likwid_marker.h"
#include "merge/likwid_record.h"
#include "schema/likwid_record.h"
#include "schema/trace_format.h"

/* Tags and group names are a program's own: none of them moves the cursor. */
static void print_name(FILE *out, const char *name)
{
    for (; *name; name++)
        fputc((unsigned char)*name < ' ' || *name == 127 ? '?' : *name, out);
}

static void print_region(FILE *out, const struct likwid_region *region,
                         const struct likwid_record *record)
{
    const struct likwid_group *group =
        (size_t)region->group < record->group_count ? &record->groups[region->group] : NULL;
    bool has_names = group && group->event_count == region->event_count;
    for (size_t i = 0; i < region->thread_count; i++) {
        const struct likwid_thread *thread = &region->threads[i];
        fprintf(out, "  CPU %" PRId32 ", %" PRId64 " %s, %.9f s in ", thread->cpu, thread->calls,
                thread->calls == 1 ? "call" : "calls", thread->seconds);
        print_name(out, region->tag);
        fputc('\n', out);
        for (size_t j = 0; j < region->event_count; j++) {
            fprintf(out, "%28.15g ", region->values[i * region->event_count + j]);
            if (has_names)
                fprintf(out, "%s %s\n", record->events[group->first_event + j],
                        record->counters[group->first_event + j]);
            else
                fprintf(out, "event_%zu\n", j);
        }
    }
}

/* PATH/rank-000000.sptrace to PATH/rank-000000.likwid and its like; false: it ends otherwise. */
static bool name_beside(const char *path, const char *suffix, char name[static PATH_MAX])
{
    size_t length = strlen(path), ending = strlen(TRACE_SUFFIX);
    if (length < ending || strcmp(path + length - ending, TRACE_SUFFIX) != 0)
        return false;
    return snprintf(name, PATH_MAX, "%.*s%s", (int)(length - ending), path, suffix) < PATH_MAX;
}

int likwid_text_print(FILE *out, const char *path)
{
    char name[PATH_MAX];
    struct likwid_record record = {0};
    struct likwid_marker marker = {0};
    struct error problem;
    int status = 0;
    if (!name_beside(path, LIKWID_RECORD_SUFFIX, name))
        return 0;
    int found = likwid_record_read(&record, AT_FDCWD, name, &problem);
    if (found > 0)
        return 0;
    fputs("\nhardware counters", out);
    for (size_t i = 0; i < record.variable_count; i++)
        fprintf(out, " %s=%s", record.variables[i], record.values[i]);
    fprintf(out, "%s%s\n", record.reason || found < 0 ? ": " : "",
            found < 0       ? problem.text
            : record.reason ? record.reason
                            : "");
    if (name_beside(path, LIKWID_MARKER_SUFFIX, name))
        status = likwid_marker_read(&marker, AT_FDCWD, name) < 0 ? -1 : 0;
    for (size_t i = 0; status == 0 && i < marker.region_count; i++)
        print_region(out, &marker.regions[i], &record);
    if (marker.problem_count > 0)
        fprintf(out, "  %s: %s\n", name, marker.problem.text);
    likwid_marker_release(&marker);
    likwid_record_release(&record);
    return status;
}
