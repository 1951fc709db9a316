/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks do at this moment, for people. */
#include "merge/live_text.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "merge/duration.h"
#include "merge/members.h"

enum {
    RUNS_SHOWN = 8,    /* of a list of ranks */
    THREADS_SHOWN = 8, /* of a rank */
    NOTES_SHOWN = 16,  /* of communicators, of hosts */
};

/* Clocks that differ by less agree well enough for what people look for. */
#define CLOCKS_AGREE_NS 100000000

/* --- pieces ------------------------------------------------------------------------------------
 */

/* Prints text from a file; control characters could do things to a terminal. */
static void print_text(FILE *stream, const char *text)
{
    for (; *text; text++)
        putc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, stream);
}

/* A list of ranks that is printed as it comes: "0-3, 7", and "..." for what is too much. */
struct rank_list {
    FILE *stream;
    size_t runs;
};

static void print_run(struct rank_list *list, uint32_t first, uint32_t last)
{
    if (list->runs < RUNS_SHOWN) {
        fprintf(list->stream, "%s%" PRIu32, list->runs ? ", " : "", first);
        if (last > first)
            fprintf(list->stream, "-%" PRIu32, last);
    } else if (list->runs == RUNS_SHOWN) {
        fputs(", ...", list->stream);
    }
    list->runs++;
}

static void print_ranks(FILE *stream, const uint32_t *ranks, size_t count)
{
    struct rank_list list = {.stream = stream};
    for (size_t first = 0, last; first < count; first = last + 1) {
        for (last = first; last + 1 < count && ranks[last + 1] == ranks[last] + 1; last++)
            ;
        print_run(&list, ranks[first], ranks[last]);
    }
}

/* "rank 2", or "3 ranks (0-1, 3)". */
static void print_who(FILE *stream, const uint32_t *ranks, size_t count)
{
    if (count == 1) {
        fprintf(stream, "rank %" PRIu32, ranks[0]);
        return;
    }
    fprintf(stream, "%zu ranks (", count);
    print_ranks(stream, ranks, count);
    putc(')', stream);
}

/* --- what ranks do -----------------------------------------------------------------------------
 */

/* What is told of a thread, or of many that do the same. */
struct told {
    enum live_state state;
    const struct flight *call;
    const char *end;
    uint64_t polls;              /* 0: not told */
    int64_t age_least, age_most; /* ns; -1: not known */
    int64_t call_ns;             /* as of live_thread */
    bool is_one;                 /* thread: its last call is told, too */
};

/* BEFORE "12.0 s" AFTER, or BEFORE "11.2 s to 12.0 s" AFTER; nothing where it is not known. */
static void print_span(FILE *stream, const char *before, const struct told *told, const char *after)
{
    char least[DURATION_SIZE], most[DURATION_SIZE];
    if (told->age_most < 0)
        return;
    duration_print(told->age_least, least);
    duration_print(told->age_most, most);
    fputs(before, stream);
    if (strcmp(least, most) != 0)
        fprintf(stream, "%s to ", least);
    fprintf(stream, "%s%s", most, after);
}

/* Where a dead rank was. */
static void print_last(FILE *stream, const struct told *told, const char *call)
{
    char time[DURATION_SIZE];
    if (told->call->call.operation)
        fprintf(stream, ", %s %s%s", told->polls ? "calling" : "in", call,
                told->polls ? " again and again" : "");
    else if (told->call_ns >= 0)
        fputs(", outside MPI", stream);
    if (told->call_ns >= 0)
        fprintf(stream, " for %s", duration_print(told->call_ns, time));
}

static void print_told(FILE *stream, const struct told *told)
{
    char call[FLIGHT_SIZE] = "a call that its trace does not tell";
    if (told->call->call.operation)
        flight_print(told->call, call);
    switch (told->state) {
    case LIVE_CALL:
        fprintf(stream, "in %s", call);
        print_span(stream, " for ", told, "");
        return;
    case LIVE_POLLS:
        fprintf(stream, "calling %s again and again", call);
        print_span(stream, " for ", told, "");
        if (told->polls > 0)
            fprintf(stream, " (%" PRIu64 " times)", told->polls);
        return;
    case LIVE_OUTSIDE:
        fputs("outside MPI", stream);
        print_span(stream, " for ", told, "");
        if (told->is_one && told->call->call.operation)
            fprintf(stream, ", after %s", call);
        return;
    case LIVE_PAUSED:
        fputs("not recorded, because the program paused it (MPI_Pcontrol)", stream);
        print_span(stream, ", for ", told, "");
        return;
    case LIVE_DEAD:
        fputs(told->end, stream);
        print_span(stream, ", ", told, " ago");
        if (told->is_one)
            print_last(stream, told, call);
        return;
    case LIVE_ENDED:
        fputs("through MPI_Finalize", stream);
        print_span(stream, ", ", told, " ago");
        return;
    case LIVE_UNREADABLE:
        fputs("without a trace that can be read", stream);
    }
}

/* --- what they have in common ------------------------------------------------------------------
 */

static void print_group(FILE *stream, const struct live_group *group)
{
    struct told told = {.state = group->state,
                        .call = &group->call,
                        .end = group->end,
                        .age_least = group->age_least,
                        .age_most = group->age_most};
    fputs("  ", stream);
    print_who(stream, group->ranks, group->rank_count);
    putc(' ', stream);
    print_told(stream, &told);
    if (group->absent_count > 0) {
        fputs("; not in it: ", stream);
        print_who(stream, group->absent, group->absent_count);
    }
    putc('\n', stream);
}

/* Ranks are in order, but a hostile trace may claim any size of the world. */
static void print_missing(FILE *stream, const struct live *live)
{
    struct rank_list list = {.stream = stream};
    uint64_t expected = 0, missing = live->world_size;
    for (size_t i = 0; i < live->rank_count; i++)
        missing -= live->ranks[i].number < live->world_size;
    if (missing == 0)
        return;
    if (missing > 1)
        fprintf(stream, "  %" PRIu64 " ranks (", missing);
    else
        fputs("  rank ", stream);
    for (size_t i = 0; i <= live->rank_count; i++) {
        uint64_t next = i < live->rank_count ? live->ranks[i].number : live->world_size;
        next = next < live->world_size ? next : live->world_size;
        if (next > expected)
            print_run(&list, (uint32_t)expected, (uint32_t)next - 1);
        expected = next + 1;
    }
    fprintf(stream, "%s without a trace here: not through MPI_Init yet, or not recorded\n",
            missing > 1 ? ")" : "");
}

static void print_heading(FILE *stream, const char *name, const struct live *live)
{
    char clock[16] = "";
    time_t seconds = (time_t)(live->realtime_ns / 1000000000);
    struct tm local;
    if (localtime_r(&seconds, &local))
        strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    print_text(stream, name);
    fprintf(stream, ": %" PRIu32 " %s on %zu %s at %s\n", live->world_size,
            live->world_size == 1 ? "rank" : "ranks", live->host_count,
            live->host_count == 1 ? "host" : "hosts", clock);
}

/* --- one line per rank -------------------------------------------------------------------------
 */

static int host_width(const struct live *live)
{
    size_t width = strlen("host");
    for (size_t i = 0; i < live->rank_count; i++) {
        size_t length = strlen(live->ranks[i].host);
        width = length > width ? length : width;
    }
    return (int)width;
}

static void print_thread(FILE *stream, const struct live_rank *rank,
                         const struct live_thread *thread)
{
    struct told told = {.state = thread->state,
                        .call = &thread->call,
                        .end = thread->end,
                        .polls = thread->polls,
                        .age_least = thread->age_ns,
                        .age_most = thread->age_ns,
                        .call_ns = thread->call_ns,
                        .is_one = true};
    if (rank->thread_count > 1 || thread->number > 0)
        fprintf(stream, "thread %" PRIu32 " ", thread->number);
    print_told(stream, &told);
    if (thread->state == LIVE_UNREADABLE) {
        fputs(": ", stream);
        print_text(stream, rank->problem.text);
    }
}

static void print_remarks(FILE *stream, const struct live_rank *rank)
{
    char age[DURATION_SIZE];
    if (rank->outstanding_text[0])
        fprintf(stream, "; outstanding: %s", rank->outstanding_text);
    if (rank->behind_ns >= 0)
        fprintf(stream, "; as of %s ago, when its trace was last written",
                duration_print(rank->behind_ns, age));
    if (rank->stopped != STOP_NONE)
        fputs("; its trace has no room for more", stream);
}

static void print_rank(FILE *stream, const struct live_rank *rank, int width)
{
    fprintf(stream, "%6" PRIu32 "  %-*s  ", rank->number, width, rank->host);
    for (size_t i = 0; i < rank->thread_count; i++) {
        if (i > 0)
            fprintf(stream, "\n%6s  %*s  ", "", width, "");
        if (i == THREADS_SHOWN) {
            fprintf(stream, "and %zu more threads in MPI", rank->thread_count - i);
            break;
        }
        print_thread(stream, rank, &rank->threads[i]);
    }
    print_remarks(stream, rank);
    putc('\n', stream);
}

/* --- what the reader has to know beside --------------------------------------------------------
 */

/* Whether a line above has the number of this communicator. */
static bool is_mentioned(const struct live_groups *groups, int64_t communicator)
{
    char text[FLIGHT_SIZE];
    for (size_t i = 0; i < groups->count; i++) {
        const struct live_group *group = &groups->list[i];
        if (group->state <= LIVE_POLLS && group->call.call.operation &&
            group->call.call.communicator == communicator &&
            strstr(flight_print(&group->call, text), " on comm "))
            return true;
    }
    return false;
}

/* World ranks in the order of the communicator, "3, 1"; "..." for what is too much. */
static void print_members(FILE *stream, const char *members)
{
    struct rank_list list = {.stream = stream};
    struct trace_rank_run run;
    while (list.runs <= RUNS_SHOWN && members_next(&members, &run)) {
        if (run.stride == 1)
            print_run(&list, run.first, run.first + run.count - 1);
        for (uint32_t i = 0; run.stride != 1 && i < run.count && list.runs <= RUNS_SHOWN; i++) {
            uint32_t rank = (uint32_t)((int64_t)run.first + (int64_t)i * run.stride);
            print_run(&list, rank, rank);
        }
    }
}

/* Which communicator a number means, of those that are waited on. */
static void print_communicators(FILE *stream, const struct live *live,
                                const struct live_groups *groups)
{
    const struct communicators *all = &live->vocabulary.communicators;
    size_t shown = 0;
    if (is_mentioned(groups, COMMUNICATOR_WORLD))
        fprintf(stream, "comm %d: MPI_COMM_WORLD\n", COMMUNICATOR_WORLD);
    for (size_t i = 0; i < all->count && shown < NOTES_SHOWN; i++) {
        const struct communicator *communicator = &all->list[i];
        const char *name = communicator_name(communicator);
        if (communicator->id <= COMMUNICATOR_SELF || communicator->ambiguous ||
            !is_mentioned(groups, communicator->id))
            continue;
        fprintf(stream, "comm %" PRId64 ": ", communicator->id);
        print_text(stream, name);
        fprintf(stream, "%sworld ranks ", *name ? ", " : "");
        print_members(stream, communicator->local.members);
        putc('\n', stream);
        shown++;
    }
}

/* A time that lies ahead shows that two clocks disagree; one that is behind cannot be seen. */
static void print_clocks(FILE *stream, const struct live *live)
{
    char ahead[DURATION_SIZE];
    size_t shown = 0;
    const char *host = NULL;
    for (size_t i = 0; i < live->rank_count && shown < NOTES_SHOWN; i++) {
        const struct live_rank *rank = &live->ranks[i];
        if (rank->ahead_ns < CLOCKS_AGREE_NS || (host && strcmp(host, rank->host) == 0))
            continue;
        host = rank->host;
        fprintf(stream,
                "The clock of %s is at least %s ahead of this host's: its times are too short by "
                "that.\n",
                host, duration_print(rank->ahead_ns, ahead));
        shown++;
    }
}

/* Such a trace is written after a call, seldom in one: its rank may wait in another since. */
static void print_buffered(FILE *stream, const struct live *live)
{
    for (size_t i = 0; i < live->rank_count; i++) {
        if (live->ranks[i].behind_ns >= 0) {
            fputs("Traces here are not mapped: \"outside MPI\" is what a rank was when its trace "
                  "was last written.\n",
                  stream);
            return;
        }
    }
}

void live_text_print(FILE *stream, const char *name, const struct live *live,
                     const struct live_groups *groups, uint64_t limit)
{
    int width = host_width(live);
    print_heading(stream, name, live);
    for (size_t i = 0; i < groups->count; i++)
        print_group(stream, &groups->list[i]);
    print_missing(stream, live);
    fprintf(stream, "\n%6s  %-*s  state\n", "rank", width, "host");
    for (size_t i = 0; i < live->rank_count && i < limit; i++)
        print_rank(stream, &live->ranks[i], width);
    if (live->rank_count > limit)
        fprintf(stream, "%6s\n", "...");
    putc('\n', stream);
    print_communicators(stream, live, groups);
    print_clocks(stream, live);
    print_buffered(stream, live);
}
