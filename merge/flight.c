/* SPDX-License-Identifier: BSD-3-Clause */
/* A call in flight in words: what it is, and with whom. */
#include "merge/flight.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text that is being put together. */
struct sentence {
    char *text;
    size_t length;
    bool has_peer; /* the other side, or a tag, is told */
};

static __attribute__((format(printf, 2, 3))) void add(struct sentence *sentence, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(sentence->text + sentence->length, FLIGHT_SIZE - sentence->length,
                           format, arguments);
    va_end(arguments);
    if (length > 0)
        sentence->length += (size_t)length;
    if (sentence->length >= FLIGHT_SIZE)
        sentence->length = FLIGHT_SIZE - 1;
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(name, *names) == 0)
            return true;
    }
    return false;
}

bool flight_is_poll(const char *operation)
{
    static const char *const polls[] = {"iprobe", "improbe", "win_test", "parrived", NULL};
    return is_one_of(operation, polls) || strncmp(operation, "test", 4) == 0 ||
           strncmp(operation, "request_get_status", 18) == 0;
}

/* Calls that name the rank they take from. A matched receive has the message instead. */
static bool is_receive(const char *operation)
{
    if (strcmp(operation, "mrecv") == 0 || strcmp(operation, "imrecv") == 0)
        return false;
    return !strstr(operation, "sendrecv") &&
           (strstr(operation, "recv") || strstr(operation, "probe"));
}

/* The word between an operation and its peer. */
static const char *direction(const char *operation)
{
    static const char *const to[] = {"put", "rput", "accumulate", "raccumulate", NULL};
    static const char *const from[] = {"get", "rget", NULL};
    if (strstr(operation, "send") || is_one_of(operation, to))
        return "to";
    if (is_receive(operation) || is_one_of(operation, from))
        return "from";
    return strncmp(operation, "win_", 4) == 0 ? "at" : "with";
}

static void add_rank(struct sentence *sentence, int64_t rank)
{
    if (rank == PEER_PROC_NULL)
        add(sentence, "MPI_PROC_NULL");
    else
        add(sentence, "%" PRId64, rank);
}


/* Peer and tag of operation: of the call, or of the one that made the request it waits for. */
static void add_peer(struct sentence *sentence, const char *operation, const struct flight *flight)
{
    int64_t peer = flight->call.peer, tag = flight->call.tag;
    bool is_wild =
        is_receive(operation) && flight->call.communicator >= 0 && !flight->is_common;
    if (peer != PEER_NONE) {
        add(sentence, " %s ", direction(operation));
        add_rank(sentence, peer);
    } else if (is_wild) {
        add(sentence, " from any");
    } else if (flight->has_several_peers) {
        add(sentence, " %s several ranks", direction(operation));
    }
    if (tag >= 0)
        add(sentence, " (tag %" PRId64 ")", tag);
    else if (is_wild)
        add(sentence, " (any tag)");
    sentence->has_peer = peer != PEER_NONE || tag >= 0 || is_wild || flight->has_several_peers;
}

static void add_request(struct sentence *sentence, const struct flight *flight)
{
    const char *request = flight->call.request;
    if (!request || strcmp(request, "unknown") == 0)
        return;
    if (strcmp(request, "mixed") == 0) {
        add(sentence, " for requests of several kinds");
        return;
    }
    add(sentence, " for %.*s", TRACE_NAME_MAX, request);
    add_peer(sentence, request, flight);
}

static void add_root(struct sentence *sentence, int64_t root)
{
    if (root == PEER_ROOT) {
        add(sentence, " as root");
    } else if (root != PEER_NONE) {
        add(sentence, " with root ");
        add_rank(sentence, root);
    }
}

static void add_communicator(struct sentence *sentence, const struct flight *flight)
{
    int64_t communicator = flight->call.communicator, world_peer = flight->world_peer;
    if (communicator < 0 || (communicator == 0 && sentence->has_peer))
        return;
    add(sentence, " on comm %" PRId64, communicator);
    if (flight->call.peer >= 0 && world_peer >= 0)
        add(sentence, " (world rank %" PRId64 ")", world_peer);
}

const char *flight_print(const struct flight *flight, char text[static FLIGHT_SIZE])
{
    struct sentence sentence = {.text = text};
    const struct region_label *call = &flight->call;
    add(&sentence, "mpi:%.*s", TRACE_NAME_MAX, call->operation);
    if (call->request)
        add_request(&sentence, flight);
    else
        add_peer(&sentence, call->operation, flight);
    add_root(&sentence, call->root);
    add_communicator(&sentence, flight);
    return text;
}
