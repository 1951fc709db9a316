/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of a rank that its trace counted, having no room for their events. */
#include "merge/unrecorded.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --- reading -----------------------------------------------------------------------------------
 */

static int64_t span_ns(const struct rank *rank, uint64_t ticks)
{
    uint64_t start = rank->session_start, end;
    size_t hint = 0;
    if (__builtin_add_overflow(start, ticks, &end))
        end = UINT64_MAX;
    return clock_ns(&rank->clock, end, &hint) - clock_ns(&rank->clock, start, &hint);
}

static int describe(const struct trace_unrecorded *counted, struct names *names, struct call *call)
{
    const char *request = counted->origin.name;
    int64_t name = names_intern(names, counted->operation.name);
    int64_t request_number = *request ? names_intern(names, request) : (int64_t)CALL_NO_REQUEST;
    if (name < 0 || request_number < 0)
        return -1;
    *call = (struct call){
        .operation = (uint32_t)name,
        .request = (uint32_t)request_number,
        .kind = counted->operation.kind,
        .peer = counted->peer,
        .root = counted->root,
        .tag = counted->tag,
        .communicator = counted->communicator,
        .bytes = counted->bytes,
        .count = counted->count,
    };
    return 0;
}

int unrecorded_read(struct rank *rank, struct trace_reader *reader, struct names *names)
{
    uint32_t places = trace_reader_unrecorded_count(reader);
    if (places == 0)
        return 0;
    struct unrecorded *unrecorded =
        calloc(1, sizeof(*unrecorded) + places * sizeof(*unrecorded->calls));
    if (!unrecorded)
        return -1;
    rank->unrecorded = unrecorded;
    for (uint32_t i = 0; i < places; i++) {
        struct unrecorded_call *next = &unrecorded->calls[unrecorded->count];
        struct trace_unrecorded counted;
        if (!trace_reader_unrecorded(reader, i, &counted))
            continue;
        if (describe(&counted, names, &next->call) < 0)
            return -1;
        next->ns = span_ns(rank, counted.ticks);
        unrecorded->total += counted.count;
        unrecorded->ns = profile_add(unrecorded->ns, next->ns);
        unrecorded->count++;
    }
    /* What a thread drops stands in its slot, and more threads than slots may have called MPI. */
    if (rank->dropped < unrecorded->total)
        rank->dropped = unrecorded->total;
    return 0;
}

/* --- telling -----------------------------------------------------------------------------------
 */

/* 409600 as "400 KiB". */
static void print_size(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double number = (double)bytes;
    size_t unit = 0;
    for (; number >= 1024 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
        number /= 1024;
    snprintf(text, size, "%.4g %s", number, units[unit]);
}

static const char *reason(uint32_t stopped)
{
    static const char *const reasons[] = {
        [STOP_LIMIT] = "its trace was full",
        [STOP_NO_SPACE] = "the file system, or the user's quota, had no space for its trace",
        [STOP_FILE_SIZE] = "its trace reached the limit on the size of files (ulimit -f)",
        [STOP_NO_MEMORY] = "there was no memory for its trace",
        [STOP_IO] = "an I/O error stopped its trace",
    };
    bool is_known = stopped < sizeof(reasons) / sizeof(*reasons) && reasons[stopped];
    return is_known ? reasons[stopped] : "its trace has no room for some calls";
}

void unrecorded_tell(const struct rank *rank, char text[static UNRECORDED_TEXT])
{
    const struct trace_state *state = &rank->state_page;
    uint64_t total = rank->unrecorded ? rank->unrecorded->total : 0;
    char size[32], limit[80] = "", counted[80] = "", lost[64] = "";
    if (state->stopped == STOP_LIMIT) {
        print_size(state->closed_size ? state->closed_size : rank->bytes, size, sizeof(size));
        snprintf(limit, sizeof(limit), " (%s; max-trace= and max-run= set its limit)", size);
    }
    if (total > 0)
        snprintf(counted, sizeof(counted), ": %" PRIu64 " %s of %.3f s %s counted, not recorded",
                 total, total == 1 ? "call" : "calls", 1e-9 * (double)rank->unrecorded->ns,
                 total == 1 ? "was" : "were");
    if (rank->dropped > total)
        snprintf(lost, sizeof(lost), "%s %" PRIu64 " %s not even counted", total > 0 ? "," : ":",
                 rank->dropped - total, rank->dropped - total == 1 ? "was" : "were");
    snprintf(text, UNRECORDED_TEXT, "%s%s%s%s", reason(state->stopped), limit, counted, lost);
}
