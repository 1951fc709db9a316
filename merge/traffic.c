/* SPDX-License-Identifier: BSD-3-Clause */
/* When one rank sent and received messages and took part in collectives, by channel. */
#include "merge/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MESSAGES_MAX = 4096, /* wildcard receives that one call finished, or what it started */
    SLOTS_MIN = 64,
    CHANNELS_SHARE = 8, /* times to a channel: each keeps one at least, however thin */
};

/* What a call of some signature does. */
struct meaning {
    bool receives;  /* completes the receive that it begins */
    bool posts;     /* begins receives */
    bool completes; /* requests */
    bool cancels;
    bool starts_many;     /* persistent requests */
    bool starts_sends;    /* some of these may be sends */
    bool tells_all;       /* messages that it started are told one by one, or there were none */
    uint64_t requests;    /* how many receives it starts together or completes */
    size_t sends_to;      /* channels; SIZE_MAX: none that is known */
    size_t receives_from; /* likewise */
    size_t collective;    /* likewise */
    int64_t communicator;
};

struct traffic_stream {
    struct meaning *meanings; /* by id of the signature */
    size_t count, room;
    bool has_failed; /* the next call */
    struct {
        enum channel_use use;
        int64_t peer, tag;
    } * messages; /* of wildcard receives that the next call finished, or of what it started */
    size_t message_count, message_room;
};

/* --- channels --------------------------------------------------------------------------------- */

static size_t hash(enum channel_use use, int64_t communicator, int64_t peer, int32_t tag,
                   const char *operation)
{
    const uint64_t words[] = {(uint64_t)use, (uint64_t)communicator, (uint64_t)peer,
                              (uint32_t)tag, strlen(operation),      (unsigned char)operation[0]};
    uint64_t x = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        x = (x ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        x ^= x >> 29;
    }
    return (size_t)x;
}

static size_t channel_hash(const struct channel *channel)
{
    return hash(channel->use, channel->communicator, channel->peer, channel->tag,
                channel->operation);
}

static uint32_t *find_slot(const struct traffic *traffic, const struct channel *wanted)
{
    size_t mask = traffic->slot_count - 1, i = channel_hash(wanted) & mask;
    for (; traffic->slots[i]; i = (i + 1) & mask) {
        const struct channel *channel = &traffic->channels[traffic->slots[i] - 1];
        if (channel->use == wanted->use && channel->communicator == wanted->communicator &&
            channel->peer == wanted->peer && channel->tag == wanted->tag &&
            strcmp(channel->operation, wanted->operation) == 0)
            break;
    }
    return &traffic->slots[i];
}

static int make_slots(struct traffic *traffic)
{
    if (traffic->slot_count >= 2 * (traffic->channel_count + 1))
        return 0;
    size_t count = traffic->slot_count ? 2 * traffic->slot_count : SLOTS_MIN;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return -1;
    free(traffic->slots);
    traffic->slots = slots;
    traffic->slot_count = count;
    for (size_t i = 0; i < traffic->channel_count; i++)
        *find_slot(traffic, &traffic->channels[i]) = (uint32_t)i + 1;
    return 0;
}

/* Makes room for one more of size bytes each. */
static int grow(void *array, size_t *room, size_t count, size_t size)
{
    void **data = array;
    if (count < *room)
        return 0;
    size_t more = *room ? 2 * *room : 8;
    void *grown = realloc(*data, more * size);
    if (!grown)
        return -1;
    *data = grown;
    *room = more;
    return 0;
}

/* Whether there may be another one. A part is kept free of those of messages, for collectives tell
 * more with less. */
static bool is_full(const struct traffic *traffic, bool is_collective)
{
    size_t most = traffic->times_max / CHANNELS_SHARE;
    return traffic->channel_count >= (is_collective ? most : most - most / 4);
}

/* The number of the channel, which is made if it is new; *number is SIZE_MAX where other side or
 * communicator are not known, or channels are too many. */
static int get_channel(struct traffic *traffic, const struct channel *wanted, size_t *number)
{
    bool is_collective = wanted->use >= CHANNEL_ALL;
    *number = SIZE_MAX;
    if (wanted->communicator < 0 || (!is_collective && (wanted->peer < 0 || wanted->tag < 0)))
        return 0;
    if (make_slots(traffic) < 0)
        return -1;
    uint32_t *slot = find_slot(traffic, wanted);
    if (*slot == 0) {
        if (is_full(traffic, is_collective))
            return 0;
        if (grow(&traffic->channels, &traffic->channel_room, traffic->channel_count,
                 sizeof(*traffic->channels)) < 0)
            return -1;
        traffic->channels[traffic->channel_count] = *wanted;
        traffic->channels[traffic->channel_count].shift = traffic->shift;
        *slot = (uint32_t)++traffic->channel_count;
    }
    *number = *slot - 1;
    return 0;
}

size_t traffic_find(const struct traffic *traffic, enum channel_use use, int64_t communicator,
                    int64_t peer, int32_t tag)
{
    const struct channel wanted = {
        .use = use, .communicator = communicator, .peer = peer, .tag = tag};
    uint32_t slot = traffic->slot_count ? *find_slot(traffic, &wanted) : 0;
    return slot ? slot - 1 : SIZE_MAX;
}

void traffic_rekey(struct traffic *traffic)
{
    if (!traffic->slot_count)
        return;
    memset(traffic->slots, 0, traffic->slot_count * sizeof(*traffic->slots));
    for (size_t i = 0; i < traffic->channel_count; i++) {
        if (traffic->channels[i].count > 0)
            *find_slot(traffic, &traffic->channels[i]) = (uint32_t)i + 1;
    }
}

/* --- times ------------------------------------------------------------------------------------ */

static size_t kept(const struct channel *channel)
{
    return channel->count ? (size_t)((channel->count - 1) >> channel->shift) + 1 : 0;
}

/* Keeps every second one of what is kept. As there are CHANNELS_SHARE times to a channel, that makes
 * room for many more: no shift comes near the width of a number. */
static void thin_out(struct traffic *traffic)
{
    traffic->shift++;
    traffic->times = 0;
    for (size_t i = 0; i < traffic->channel_count; i++) {
        struct channel *channel = &traffic->channels[i];
        channel->shift++;
        for (size_t j = 1; j < kept(channel); j++) {
            if (channel->starts)
                channel->starts[j] = channel->starts[2 * j];
            if (channel->ends)
                channel->ends[j] = channel->ends[2 * j];
        }
        traffic->times += kept(channel);
    }
}

static int make_room(struct channel *channel)
{
    size_t room = channel->room ? 2 * channel->room : 2;
    if (kept(channel) < channel->room)
        return 0;
    if (channel->use != CHANNEL_RECEIVES) {
        uint64_t *starts = realloc(channel->starts, room * sizeof(*starts));
        if (!starts)
            return -1;
        channel->starts = starts;
    }
    if (channel->use != CHANNEL_SENDS) {
        uint64_t *ends = realloc(channel->ends, room * sizeof(*ends));
        if (!ends)
            return -1;
        channel->ends = ends;
    }
    channel->room = room;
    return 0;
}

/* Nothing of it is sure. */
static void drop(struct channel *channel)
{
    channel->is_closed = true;
    channel->count = 0;
}

/* Whether a call of this thread is to be counted. The order of calls of several threads is not that
 * in the trace: receives are then too few, which is no harm, but others are none at all. */
static bool counts(const struct traffic *traffic, struct channel *channel, uint32_t stream)
{
    if (channel->count == 0 && !channel->is_closed)
        channel->stream = stream;
    if (channel->stream != stream) {
        if (channel->use == CHANNEL_RECEIVES)
            channel->is_closed = true;
        else
            drop(channel);
    }
    if (traffic->has_paused || (traffic->misses_sends && channel->use == CHANNEL_SENDS))
        channel->is_closed = true;
    return !channel->is_closed;
}

static int count(struct traffic *traffic, size_t number, uint32_t stream, uint64_t start,
                 uint64_t end)
{
    if (number == SIZE_MAX || !counts(traffic, &traffic->channels[number], stream))
        return 0;
    if (traffic->times >= traffic->times_max)
        thin_out(traffic);
    struct channel *channel = &traffic->channels[number];
    if ((channel->count & ((UINT64_C(1) << channel->shift) - 1)) == 0) {
        if (make_room(channel) < 0)
            return -1;
        size_t place = kept(channel);
        if (channel->starts)
            channel->starts[place] = start;
        if (channel->ends)
            channel->ends[place] = end;
        traffic->times++;
    }
    channel->count++;
    return 0;
}

/* --- what calls do ---------------------------------------------------------------------------- */

/* Whether name is one of the list; functions for large counts are the same as others. */
static bool is_one_of(const char *name, const char *const *list)
{
    size_t length = strlen(name);
    if (length > 2 && strcmp(name + length - 2, "_c") == 0)
        length -= 2;
    for (; *list; list++) {
        if (strlen(*list) == length && strncmp(name, *list, length) == 0)
            return true;
    }
    return false;
}

static bool is_send(const char *name)
{
    static const char *const sends[] = {"send",      "bsend",
                                        "ssend",     "rsend",
                                        "isend",     "ibsend",
                                        "issend",    "irsend",
                                        "sendrecv",  "sendrecv_replace",
                                        "isendrecv", "isendrecv_replace",
                                        NULL};
    return is_one_of(name, sends);
}

static bool is_send_init(const char *name)
{
    static const char *const inits[] = {"send_init", "bsend_init", "ssend_init", "rsend_init",
                                        NULL};
    return is_one_of(name, inits);
}

/* Whether sends may be among persistent requests with this in common; NULL: there were none. */
static bool may_send(const char *request)
{
    return request && (is_send_init(request) || strcmp(request, "mixed") == 0 ||
                       strcmp(request, "unknown") == 0);
}

static bool is_receive(const char *name)
{
    static const char *const receives[] = {"recv",
                                           "mrecv",
                                           "irecv",
                                           "imrecv",
                                           "recv_init",
                                           "sendrecv",
                                           "isendrecv",
                                           "sendrecv_replace",
                                           "isendrecv_replace",
                                           NULL};
    return is_one_of(name, receives);
}

static bool completes(const struct trace_operation *operation)
{
    static const char *const names[] = {"wait",    "waitall", "waitany",  "waitsome", "test",
                                        "testall", "testany", "testsome", NULL};
    return operation->kind == KIND_WAIT && is_one_of(operation->name, names);
}

static bool collective_use(const char *name, enum channel_use *use)
{
    static const char *const all[] = {
        "barrier", "allreduce", "allgather", "alltoall", "reduce_scatter_block", NULL};
    static const char *const from[] = {"bcast", "scatter", NULL}, *const to[] = {"reduce", "gather",
                                                                                 NULL};
    *use = is_one_of(name, from) ? CHANNEL_FROM_ROOT
           : is_one_of(name, to) ? CHANNEL_TO_ROOT
                                 : CHANNEL_ALL;
    return *use != CHANNEL_ALL || is_one_of(name, all);
}

/* A collective without data need not wait for anybody. */
static int find_collective(struct traffic *traffic, const char *name,
                           const struct trace_signature *signature, struct meaning *meaning)
{
    struct channel wanted = {
        .communicator = signature->communicator, .peer = signature->root, .tag = -1};
    if (!collective_use(name, &wanted.use))
        return 0;
    snprintf(wanted.operation, sizeof(wanted.operation), "%.15s", name);
    if (get_channel(traffic, &wanted, &meaning->collective) < 0)
        return -1;
    if (meaning->collective != SIZE_MAX && signature->bytes <= 0 && strcmp(name, "barrier") != 0)
        traffic->channels[meaning->collective].is_closed = true;
    return 0;
}

static int find_messages(struct traffic *traffic, const struct traffic_call *call,
                         struct meaning *meaning)
{
    struct channel wanted = {.use = CHANNEL_SENDS,
                             .communicator = call->signature->communicator,
                             .peer = call->signature->peer,
                             .tag = call->signature->tag};
    const char *name = call->operation->name, *request = call->request ? call->request : "";
    bool is_start = strcmp(name, "start") == 0, is_startall = strcmp(name, "startall") == 0;
    if ((is_send(name) || (is_start && is_send_init(request))) &&
        get_channel(traffic, &wanted, &meaning->sends_to) < 0)
        return -1;
    const char *receive =
        is_start || is_startall || meaning->completes || meaning->cancels ? request : name;
    /* What an isendrecv got is told when it completes. */
    if (!is_receive(receive) || strncmp(receive, "isendrecv", 9) == 0)
        return 0;
    wanted.use = CHANNEL_RECEIVES;
    if (strncmp(receive, "sendrecv", 8) == 0)
        wanted.peer = call->source;
    return get_channel(traffic, &wanted, &meaning->receives_from);
}

static int understand(struct traffic *traffic, const struct traffic_call *call,
                      struct meaning *meaning)
{
    const char *name = call->operation->name, *request = call->request ? call->request : "";
    bool is_start = strcmp(name, "start") == 0, is_startall = strcmp(name, "startall") == 0;
    *meaning = (struct meaning){
        .sends_to = SIZE_MAX,
        .receives_from = SIZE_MAX,
        .collective = SIZE_MAX,
        .communicator = call->signature->communicator,
        .completes = completes(call->operation),
        .cancels = strcmp(name, "cancel") == 0,
        .starts_many = is_startall,
        .starts_sends = is_startall && may_send(call->request),
        .tells_all = !call->request || call->signature->communicator >= 0,
        .receives = is_receive(name) && name[0] != 'i' && !strstr(name, "_init"),
        .posts = is_startall || (is_receive(name) && name[0] == 'i') ||
                 (is_start && is_receive(request)),
        .requests = call->received >= 0 ? (uint64_t)call->received
                                        : is_receive(call->request ? request : name),
    };
    return call->operation->kind == KIND_COLLECTIVE
               ? find_collective(traffic, name, call->signature, meaning)
               : find_messages(traffic, call, meaning);
}

static struct traffic_stream *get_stream(struct traffic *traffic, uint32_t number)
{
    if (number >= traffic->stream_count) {
        size_t count =
            2 * traffic->stream_count > number ? 2 * traffic->stream_count : (size_t)number + 1;
        struct traffic_stream *streams = realloc(traffic->streams, count * sizeof(*streams));
        if (!streams)
            return NULL;
        memset(streams + traffic->stream_count, 0,
               (count - traffic->stream_count) * sizeof(*streams));
        traffic->streams = streams;
        traffic->stream_count = count;
    }
    return &traffic->streams[number];
}

int traffic_signature(struct traffic *traffic, uint32_t stream, uint32_t id,
                      const struct traffic_call *call)
{
    struct traffic_stream *s = get_stream(traffic, stream);
    if (!s)
        return -1;
    if (id != s->count)
        return 0;
    if (grow(&s->meanings, &s->room, s->count, sizeof(*s->meanings)) < 0)
        return -1;
    return understand(traffic, call, &s->meanings[s->count++]);
}

/* --- calls ------------------------------------------------------------------------------------ */

int traffic_failed(struct traffic *traffic, uint32_t stream)
{
    struct traffic_stream *s = get_stream(traffic, stream);
    if (!s)
        return -1;
    s->has_failed = true;
    return 0;
}

void traffic_paused(struct traffic *traffic)
{
    traffic->has_paused = true;
}

static int add_message(struct traffic *traffic, uint32_t stream, enum channel_use use,
                       const struct trace_message *message)
{
    struct traffic_stream *s = get_stream(traffic, stream);
    if (!s)
        return -1;
    if (s->message_count == MESSAGES_MAX)
        return 0;
    if (grow(&s->messages, &s->message_room, s->message_count, sizeof(*s->messages)) < 0)
        return -1;
    s->messages[s->message_count].use = use;
    s->messages[s->message_count].peer = message->peer;
    s->messages[s->message_count++].tag = message->tag;
    return 0;
}

int traffic_resolve(struct traffic *traffic, uint32_t stream, const struct trace_message *message)
{
    return add_message(traffic, stream, CHANNEL_RECEIVES, message);
}

int traffic_started(struct traffic *traffic, uint32_t stream, bool is_send,
                    const struct trace_message *message)
{
    return add_message(traffic, stream, is_send ? CHANNEL_SENDS : CHANNEL_RECEIVES, message);
}

/* Receives that several threads begin and complete are not followed. */
static bool is_followed(struct traffic *traffic, uint32_t stream)
{
    if (traffic->outstanding == 0 && !traffic->is_unsure)
        traffic->receiver = stream;
    if (traffic->receiver != stream)
        traffic->is_unsure = true;
    return !traffic->is_unsure;
}

/* So many receives were begun; number: of their channel, SIZE_MAX if that is not known. */
static int post(struct traffic *traffic, uint32_t stream, size_t number, uint64_t requests)
{
    if (!is_followed(traffic, stream))
        return 0;
    traffic->outstanding += requests;
    if (number == SIZE_MAX)
        return 0;
    struct channel *channel = &traffic->channels[number];
    channel->posted += requests;
    if (grow(&traffic->waiting, &traffic->waiting_room, traffic->waiting_count,
             sizeof(*traffic->waiting)) < 0)
        return -1;
    if (!channel->is_waiting)
        traffic->waiting[traffic->waiting_count++] = number;
    channel->is_waiting = true;
    return 0;
}

/* Receives that were posted in a channel are complete. */
static int complete(struct traffic *traffic, size_t number, uint32_t stream, uint64_t requests,
                    uint64_t end)
{
    struct channel *channel = &traffic->channels[number];
    uint64_t posted = channel->posted, done = requests < posted ? requests : posted;
    channel->posted -= done;
    for (uint64_t i = 0; i < done; i++) { /* each was a call */
        if (count(traffic, number, stream, 0, end) < 0)
            return -1;
    }
    return 0;
}

/* All receives that were begun are complete, whichever the call named. */
static int complete_all(struct traffic *traffic, uint32_t stream, uint64_t end)
{
    for (size_t i = 0; i < traffic->waiting_count; i++) {
        traffic->channels[traffic->waiting[i]].is_waiting = false;
        if (complete(traffic, traffic->waiting[i], stream, UINT64_MAX, end) < 0)
            return -1;
    }
    traffic->waiting_count = 0;
    return 0;
}

static int finish_requests(struct traffic *traffic, uint32_t stream, const struct meaning *meaning,
                           uint64_t end)
{
    uint64_t requests = meaning->requests;
    if (requests == 0 || !is_followed(traffic, stream))
        return 0;
    traffic->outstanding -= requests < traffic->outstanding ? requests : traffic->outstanding;
    if (meaning->receives_from != SIZE_MAX &&
        complete(traffic, meaning->receives_from, stream, requests, end) < 0)
        return -1;
    return traffic->outstanding == 0 ? complete_all(traffic, stream, end) : 0;
}

/* What was told of the messages of a call. Wildcard receives that it finished are in the channel from
 * which they got something. */
static int take_messages(struct traffic *traffic, uint32_t stream, const struct meaning *meaning,
                         const struct trace_event *event)
{
    struct traffic_stream *s = &traffic->streams[stream];
    for (size_t i = 0; i < s->message_count; i++) {
        size_t number;
        const struct channel wanted = {.use = s->messages[i].use,
                                       .communicator = meaning->communicator,
                                       .peer = s->messages[i].peer,
                                       .tag = (int32_t)s->messages[i].tag};
        bool begins = meaning->posts && wanted.use == CHANNEL_RECEIVES;
        if (get_channel(traffic, &wanted, &number) < 0 ||
            (begins ? post(traffic, stream, number, 1)
                    : count(traffic, number, stream, event->start, event->end)) < 0)
            return -1;
    }
    return 0;
}

/* What is started together is told one by one, or not at all where its communicators are several:
 * then it may be anything. */
static int start_many(struct traffic *traffic, uint32_t stream, const struct meaning *meaning,
                      const struct trace_event *event, bool has_failed)
{
    size_t told = traffic->streams[stream].message_count;
    bool is_told = meaning->tells_all && told < MESSAGES_MAX;
    if (meaning->starts_sends && (!is_told || has_failed))
        traffic->misses_sends = true;
    if (has_failed) { /* some may have been started, receives as well */
        traffic->is_unsure = true;
        return 0;
    }
    return is_told ? take_messages(traffic, stream, meaning, event)
                   : post(traffic, stream, meaning->receives_from, meaning->requests);
}

/* A receive that is cancelled may complete without a message. */
static void cancel(struct traffic *traffic, const struct meaning *meaning)
{
    traffic->is_unsure = true;
    if (meaning->receives_from != SIZE_MAX)
        traffic->channels[meaning->receives_from].is_closed = true;
    else
        traffic->has_paused = true;
}

static int take_call(struct traffic *traffic, uint32_t stream, const struct meaning *meaning,
                     const struct trace_event *event, bool has_failed)
{
    uint64_t start = event->start, end = event->end;
    if (meaning->cancels)
        cancel(traffic, meaning);
    if (meaning->starts_many)
        return start_many(traffic, stream, meaning, event, has_failed);
    if (count(traffic, meaning->sends_to, stream, start, end) < 0)
        return -1;
    if (meaning->collective != SIZE_MAX && has_failed)
        traffic->channels[meaning->collective].is_closed = true;
    if (count(traffic, meaning->collective, stream, start, end) < 0)
        return -1;
    if (has_failed) /* what it received is not known: nothing, perhaps */
        return 0;
    if ((meaning->receives || meaning->completes) &&
        take_messages(traffic, stream, meaning, event) < 0)
        return -1;
    if (meaning->receives)
        return count(traffic, meaning->receives_from, stream, start, end);
    if (meaning->posts)
        return post(traffic, stream, meaning->receives_from, 1);
    return meaning->completes ? finish_requests(traffic, stream, meaning, end) : 0;
}

int traffic_event(struct traffic *traffic, uint32_t stream, const struct trace_event *event)
{
    struct traffic_stream *s = get_stream(traffic, stream);
    if (!s)
        return -1;
    const struct meaning *meaning =
        event->signature < s->count ? &s->meanings[event->signature] : NULL;
    bool has_failed = s->has_failed;
    s->has_failed = false;
    int status = meaning ? take_call(traffic, stream, meaning, event, has_failed) : 0;
    s->message_count = 0;
    return status;
}

void traffic_end(struct traffic *traffic)
{
    for (size_t i = 0; i < traffic->stream_count; i++) {
        free(traffic->streams[i].meanings);
        free(traffic->streams[i].messages);
    }
    free(traffic->streams);
    free(traffic->waiting);
    traffic->streams = NULL;
    traffic->waiting = NULL;
    traffic->stream_count = traffic->waiting_count = traffic->waiting_room = 0;
}

void traffic_release(struct traffic *traffic)
{
    traffic_end(traffic);
    for (size_t i = 0; i < traffic->channel_count; i++) {
        free(traffic->channels[i].starts);
        free(traffic->channels[i].ends);
    }
    free(traffic->channels);
    free(traffic->slots);
    *traffic = (struct traffic){.times_max = traffic->times_max};
}
