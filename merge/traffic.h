/* SPDX-License-Identifier: BSD-3-Clause */
/* When one rank sent and received messages and took part in collectives, by channel.
 *
 * A channel is what keeps messages in order: a communicator, the other side and a tag. Of a rank's
 * k-th send in a channel and the k-th receive that the other side completes in it is known,
 * whatever threads and wildcards did in between: k receives took k different messages, so the k-th
 * receive is not over before the k-th send, in the order of starts, has begun. That needs all sends
 * to be counted, and no receive that did not come; receives may be missing. So a channel ends where
 * that is no longer sure.
 *
 * Of many events in a channel each second, fourth, ... is kept, and channels beyond so many are not
 * followed: memory is bounded.
 */
#ifndef SCOPE_TRAFFIC_H
#define SCOPE_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/trace_reader.h"

enum channel_use {
    CHANNEL_SENDS,     /* to peer; a time is the start of the call that began the send */
    CHANNEL_RECEIVES,  /* from peer; the end of the call that completed the receive */
    CHANNEL_ALL,       /* collectives: nobody is back before all have begun */
    CHANNEL_FROM_ROOT, /* nobody is back before the root has begun */
    CHANNEL_TO_ROOT,   /* the root is not back before all have begun */
};

struct channel {
    enum channel_use use;
    int64_t communicator; /* the rank's own id; once joined, the job-wide one */
    int64_t peer;         /* rank in it, of a collective the root, or -1; once joined, of
                             MPI_COMM_WORLD */
    int32_t tag;
    char operation[16];      /* collectives: which one, cut; else "" */
    uint64_t count;          /* of its sends, receives or collectives */
    uint64_t posted;         /* receives that were begun and are not known to be complete */
    bool is_closed;          /* what comes later is not counted */
    bool is_waiting;         /* it is one of traffic.waiting */
    uint32_t stream;         /* the thread that uses it */
    unsigned shift;          /* the times are those of numbers 0, 1 << shift, 2 << shift, ... */
    uint64_t *starts, *ends; /* ticks, (count - 1 >> shift) + 1 of them; starts of sends and
                                collectives, ends of receives and collectives */
    size_t room;
};

struct traffic {
    struct channel *channels;
    size_t channel_count, channel_room;
    uint32_t *slots; /* by what a channel is: its number + 1 */
    size_t slot_count;
    struct traffic_stream *streams;
    size_t stream_count;
    size_t *waiting; /* channels with posted receives, and some others */
    size_t waiting_count, waiting_room;
    uint64_t outstanding; /* receives begun and not known to be complete */
    uint32_t receiver;    /* the thread that receives */
    bool is_unsure;       /* several do: who completed what is not known */
    bool has_paused;      /* calls may be missing */
    bool misses_sends;
    size_t times, times_max;
    unsigned shift; /* of new channels */
};

/* Zero-initialise but for times_max: how many times may be kept, at least 1024, in an eighth as many
 * channels. All functions that return int return 0, or -1 if memory is out. */

/* What a call of some signature is. */
struct traffic_call {
    const struct trace_operation *operation;
    const struct trace_signature *signature;
    const char *request; /* the operation that made the request it waits for; NULL: none */
    int32_t received;    /* as of trace_reader_received */
    int32_t source;      /* as of trace_reader_source */
};

/* Takes the meaning of a stream's next signature: their ids count from 0. */
int traffic_signature(struct traffic *traffic, uint32_t stream, uint32_t id,
                      const struct traffic_call *call);

/* Takes a call, with what was told of it before. */
int traffic_event(struct traffic *traffic, uint32_t stream, const struct trace_event *event);
int traffic_resolve(struct traffic *traffic, uint32_t stream, const struct trace_message *message);
int traffic_started(struct traffic *traffic, uint32_t stream, bool is_send,
                    const struct trace_message *message);
int traffic_failed(struct traffic *traffic, uint32_t stream);

/* From here on calls may be missing. */
void traffic_paused(struct traffic *traffic);

/* No call follows: frees what only these need. */
void traffic_end(struct traffic *traffic);

/* Is called when communicator and peer of the channels have been put into other terms: those with a
 * count are found by these from then on. */
void traffic_rekey(struct traffic *traffic);

/* The number of the channel, or SIZE_MAX. Not for collectives. */
size_t traffic_find(const struct traffic *traffic, enum channel_use use, int64_t communicator,
                    int64_t peer, int32_t tag);

void traffic_release(struct traffic *traffic);

#endif
