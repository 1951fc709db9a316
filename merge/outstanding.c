/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that a rank has outstanding, in words. */
#define _GNU_SOURCE
#include "merge/outstanding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/flight.h"

enum { ROWS_SHOWN = 4 };

int outstanding_read(struct outstanding **result, struct trace_reader *reader)
{
    struct trace_outstanding_list *list = malloc(sizeof(*list));
    struct outstanding *outstanding = NULL;
    *result = NULL;
    int status = list ? trace_outstanding_read(reader, list) : -1;
    if (status == 0 && list->count > 0) {
        outstanding = malloc(sizeof(*outstanding) + list->count * sizeof(*outstanding->rows));
        status = outstanding ? 0 : -1;
    }
    if (outstanding) {
        *outstanding = (struct outstanding){.count = list->count,
                                            .others = list->others,
                                            .is_incomplete = list->is_incomplete,
                                            .has_moved_on = list->has_moved_on};
        for (size_t i = 0; i < list->count; i++)
            outstanding->rows[i] = (struct outstanding_row){
                .is = list->rows[i],
                .communicator = list->rows[i].communicator,
                .world_peer = -1,
            };
    }
    free(list);
    *result = outstanding;
    return status;
}

void outstanding_settle(struct outstanding *outstanding, const struct communicators *communicators,
                        uint32_t rank)
{
    for (size_t i = 0; outstanding && i < outstanding->count; i++) {
        struct outstanding_row *row = &outstanding->rows[i];
        row->communicator = communicators_id(communicators, rank, row->is.communicator);
        row->world_peer =
            communicators_world_rank(communicators, rank, row->is.communicator, row->is.peer);
    }
}

/* --- words -------------------------------------------------------------------------------------
 */

/* What is told of the rows that matter. */
struct telling {
    FILE *stream;
    size_t shown;
    uint64_t others, completed;
};

static void print_row(struct telling *telling, const struct outstanding_row *row)
{
    static const char prefix[] = "mpi:";
    char text[FLIGHT_SIZE];
    const struct flight flight = {
        .call = {.operation = row->is.operation.name,
                 .kind = row->is.operation.kind,
                 .bytes = row->is.bytes,
                 .peer = row->is.peer,
                 .root = PEER_NONE,
                 .tag = row->is.tag,
                 .communicator = row->communicator},
        .world_peer = row->world_peer,
    };
    fputs(telling->shown++ ? ", " : "", telling->stream);
    if (row->is.count > 1)
        fprintf(telling->stream, "%" PRIu64 " x ", row->is.count);
    fputs(flight_print(&flight, text) + strlen(prefix), telling->stream);
}

static void tell_row(struct telling *telling, const struct outstanding_row *row)
{
    if (row->is.has_completed)
        telling->completed += row->is.count;
    else if (telling->shown < ROWS_SHOWN)
        print_row(telling, row);
    else
        telling->others += row->is.count;
}

static void tell_count(struct telling *telling, const char *before, uint64_t count,
                       const char *what)
{
    if (count > 0)
        fprintf(telling->stream, "%s%" PRIu64 " %s", telling->shown++ ? before : "", count, what);
}

/* Rows that are waited for come first. Those of persistent requests tell something only among
 * these, for they stay when nobody has started them. */
static void tell(struct telling *telling, const struct outstanding *outstanding)
{
    bool is_known = outstanding->rows[0].is.is_waited;
    for (size_t i = 0; i < outstanding->count; i++) {
        const struct outstanding_row *row = &outstanding->rows[i];
        if (is_known ? row->is.is_waited : !row->is.is_persistent)
            tell_row(telling, row);
    }
    bool is_cut = !is_known || outstanding->rows[outstanding->count - 1].is.is_waited;
    tell_count(telling, ", ", telling->others + (is_cut ? outstanding->others : 0), "others");
    tell_count(telling, ", beside ", telling->completed,
               telling->completed == 1 ? "that has completed" : "that have completed");
    if (telling->shown > 0 && outstanding->is_incomplete)
        fputs(", perhaps more", telling->stream);
}

bool outstanding_is_told(const char *request)
{
    return request && strcmp(request, "unknown") != 0 && strcmp(request, "mixed") != 0;
}

char *outstanding_text(const struct outstanding *outstanding)
{
    char *text = NULL;
    size_t size;
    struct telling telling = {.stream = open_memstream(&text, &size)};
    if (!telling.stream)
        return NULL;
    if (outstanding)
        tell(&telling, outstanding);
    if (fclose(telling.stream) == 0)
        return text;
    free(text);
    return NULL;
}
