/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that a rank did not come back from, or that it was in none, in words. */
#define _GNU_SOURCE
#include "merge/last_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "merge/duration.h"
#include "merge/flight.h"

enum { CALLS_SHOWN = 8 };

/* Less than that may lie between the last two things a thread did. */
#define WORTH_TELLING_NS 1000000

static void describe(const struct rank *rank, const struct call *call,
                     const struct vocabulary *vocabulary, struct flight *flight)
{
    char *const *names = vocabulary->operations.texts;
    const struct communicators *communicators = &vocabulary->communicators;
    uint32_t number = rank->header.rank;
    *flight = (struct flight){
        .call = {.operation = names[call->operation],
                 .request = call->request == CALL_NO_REQUEST ? NULL : names[call->request],
                 .kind = call->kind,
                 .bytes = call->bytes,
                 .peer = call->peer,
                 .root = call->root,
                 .tag = call->tag,
                 .communicator = communicators_id(communicators, number, call->communicator)},
        .world_peer =
            communicators_world_rank(communicators, number, call->communicator, call->peer),
    };
}

/* Who polled and did something else for as long as that did not wait any more. */
#define POLLING_NS 1000000000

static bool is_over(const struct rank *rank, const struct last_call *last)
{
    size_t hint = 0;
    return last->polls > 0 && rank->end.of == END_OF_RANK &&
           rank->end.ns - rank_ns(rank, last->end, &hint) >= POLLING_NS;
}

/* " for 31.2 s", since start (ticks), as far as it is known. */
static void print_time(FILE *stream, const struct rank *rank, uint64_t start)
{
    static const char *const words[] = {
        [END_UNSEEN] = "at least ",
        [END_OF_RANK] = "",
        [END_OF_TASK] = "at most ",
        [END_OF_LAUNCHER] = "at most ",
    };
    size_t hint = 0;
    char time[DURATION_SIZE];
    bool is_seen = rank->end.of != END_UNSEEN;
    int64_t end = is_seen ? rank->end.ns : rank_ns(rank, rank->last_ticks, &hint);
    int64_t ns = end - rank_ns(rank, start, &hint);
    if (is_seen || ns >= WORTH_TELLING_NS)
        fprintf(stream, " for %s%s", words[rank->end.of], duration_print(ns, time));
}

static void print_call(FILE *stream, const struct rank *rank, const struct last_call *last,
                       const struct vocabulary *vocabulary, bool with_time)
{
    char text[FLIGHT_SIZE];
    struct flight flight;
    describe(rank, &rank->threads[last->thread].calls[last->call], vocabulary, &flight);
    flight.is_common = last->polls > 0;
    fprintf(stream, "%s%s", flight_print(&flight, text), last->polls ? " again and again" : "");
    if (with_time)
        print_time(stream, rank, last->start);
    if (rank->thread_count > 1)
        fprintf(stream, " on thread %zu", last->thread);
}

char *last_calls_text(const struct rank *rank, const struct vocabulary *vocabulary,
                      bool with_times)
{
    char *text = NULL;
    size_t size, count = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return NULL;
    for (size_t i = 0; i < rank->last_call_count; i++) {
        if (is_over(rank, &rank->last_calls[i]) || count++ >= CALLS_SHOWN)
            continue;
        fputs(count > 1 ? ", " : "", stream);
        print_call(stream, rank, &rank->last_calls[i], vocabulary, with_times);
    }
    if (count > CALLS_SHOWN)
        fprintf(stream, ", and %zu more", count - CALLS_SHOWN);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

bool last_calls_tell_requests(const struct rank *rank, const struct vocabulary *vocabulary)
{
    size_t told = 0;
    for (size_t i = 0; i < rank->last_call_count; i++) {
        const struct last_call *last = &rank->last_calls[i];
        uint32_t request = rank->threads[last->thread].calls[last->call].request;
        if (is_over(rank, last))
            continue;
        if (request == CALL_NO_REQUEST ||
            !outstanding_is_told(vocabulary->operations.texts[request]))
            return false;
        told++;
    }
    return told > 0;
}

char *last_calls_place(const struct rank *rank)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return NULL;
    if (rank->in_flight[0]) {
        fprintf(stream, "in %s", rank->in_flight);
    } else if (rank->outside_since) {
        fputs("outside MPI", stream);
        print_time(stream, rank, rank->outside_since);
    }
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}
