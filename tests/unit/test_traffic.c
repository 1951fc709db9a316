/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank's calls tell of its messages: all sends, and no receive that did not come. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "merge/traffic.h"

enum { WORLD = 0, TAG = 7 };

static struct traffic traffic;
static uint32_t next_id[4];
static int communicator = WORLD; /* of the next call */

static void set_up(void)
{
    traffic = (struct traffic){.times_max = 1024};
}

static void tear_down(void)
{
    traffic_release(&traffic);
}

TestSuite(traffic, .init = set_up, .fini = tear_down);

struct spec {
    const char *name, *request;
    enum mpi_kind kind;
    int peer, tag, root, received, source;
    int64_t bytes;
};

/* A call of a thread from start to end. */
static void call(uint32_t stream, struct spec spec, uint64_t start, uint64_t end)
{
    struct trace_operation operation = {.kind = spec.kind};
    snprintf(operation.name, sizeof(operation.name), "%s", spec.name);
    const struct trace_signature signature = {.bytes = spec.bytes,
                                              .peer = spec.peer,
                                              .root = spec.root,
                                              .tag = spec.tag,
                                              .communicator = communicator};
    const struct traffic_call is = {.operation = &operation,
                                    .signature = &signature,
                                    .request = spec.request,
                                    .received = spec.received,
                                    .source = spec.source};
    uint32_t id = next_id[stream]++;
    const struct trace_event event = {.signature = id, .start = start, .end = end};
    cr_assert_eq(traffic_signature(&traffic, stream, id, &is), 0);
    cr_assert_eq(traffic_event(&traffic, stream, &event), 0);
}

static struct spec message(const char *name, int peer)
{
    return (struct spec){name, NULL, KIND_POINT_TO_POINT, peer, TAG, -1, -1, -1, 8};
}

static struct spec wait_for(const char *name, const char *request, int peer, int received)
{
    return (struct spec){name, request, KIND_WAIT, peer, peer < 0 ? -1 : TAG, -1, received, -1, 8};
}

static struct spec collective(const char *name, int root, int64_t bytes)
{
    return (struct spec){name, NULL, KIND_COLLECTIVE, -1, -1, root, -1, -1, bytes};
}

static const struct channel *find(enum channel_use use, int peer)
{
    size_t number = traffic_find(&traffic, use, WORLD, peer, TAG);
    return number == SIZE_MAX ? NULL : &traffic.channels[number];
}

static uint64_t sends(int peer)
{
    const struct channel *channel = find(CHANNEL_SENDS, peer);
    return channel ? channel->count : 0;
}

static uint64_t receives(int peer)
{
    const struct channel *channel = find(CHANNEL_RECEIVES, peer);
    return channel ? channel->count : 0;
}

Test(traffic, sends_count_from_their_start_and_receives_at_their_end)
{
    call(0, message("send", 1), 10, 20);
    call(0, message("isend", 1), 30, 31);
    call(0, message("recv", 2), 40, 50);
    cr_assert_eq(sends(1), 2);
    cr_expect_eq(find(CHANNEL_SENDS, 1)->starts[1], 30);
    cr_assert_eq(receives(2), 1);
    cr_expect_eq(find(CHANNEL_RECEIVES, 2)->ends[0], 50);
    call(0, message("recv", PEER_PROC_NULL), 60, 61);
    call(0, message("probe", 2), 70, 71);
    cr_expect_eq(traffic.channel_count, 2);
}

Test(traffic, a_receive_that_was_posted_counts_when_it_is_waited_for)
{
    call(0, message("irecv", 1), 10, 11);
    cr_expect_eq(receives(1), 0);
    call(0, wait_for("wait", "irecv", 1, -1), 20, 30);
    cr_assert_eq(receives(1), 1);
    cr_expect_eq(find(CHANNEL_RECEIVES, 1)->ends[0], 30);
    /* A persistent request that is not active is complete at once. */
    call(0, wait_for("wait", "recv_init", 1, -1), 40, 41);
    cr_expect_eq(receives(1), 1);
}

Test(traffic, waiting_for_all_that_is_outstanding_completes_all)
{
    call(0, message("irecv", 1), 10, 11);
    call(0, message("irecv", 2), 12, 13);
    call(0, message("isend", 1), 14, 15);
    call(0, wait_for("waitall", "mixed", -1, 2), 20, 30);
    cr_expect_eq(receives(1), 1);
    cr_expect_eq(receives(2), 1);
}

Test(traffic, waiting_for_some_completes_none_that_is_not_known)
{
    call(0, message("irecv", 1), 10, 11);
    call(0, message("irecv", 2), 12, 13);
    call(0, message("irecv", 3), 14, 15);
    call(0, wait_for("waitall", "mixed", -1, 2), 20, 30);
    cr_expect_eq(receives(1) + receives(2) + receives(3), 0);
    call(0, wait_for("wait", "irecv", 3, -1), 40, 50);
    cr_assert_eq(receives(1), 1);
    cr_expect_eq(find(CHANNEL_RECEIVES, 1)->ends[0], 50);
    cr_expect_eq(receives(3), 1);
}

Test(traffic, wildcards_count_where_their_message_came_from)
{
    call(0, message("irecv", PEER_NONE), 10, 11);
    traffic_resolve(&traffic, 0, &(struct trace_message){.peer = 2, .tag = TAG});
    call(0, wait_for("wait", "irecv", -1, -1), 20, 30);
    cr_expect_eq(receives(2), 1);
    traffic_resolve(&traffic, 0, &(struct trace_message){.peer = 3, .tag = TAG});
    call(0, message("probe", PEER_NONE), 40, 41);
    call(0, message("recv", 2), 50, 51);
    cr_expect_eq(receives(3), 0);
    cr_expect_eq(receives(2), 2);
}

Test(traffic, what_sends_and_receives_does_both)
{
    struct spec exchange = message("sendrecv", 1);
    exchange.source = 3;
    call(0, exchange, 10, 20);
    cr_expect_eq(sends(1), 1);
    cr_expect_eq(receives(3), 1);
    exchange.source = PEER_NONE; /* another tag */
    call(0, exchange, 30, 40);
    cr_expect_eq(sends(1), 2);
    cr_expect_eq(receives(3), 1);
}

Test(traffic, a_failed_or_cancelled_receive_does_not_count)
{
    traffic_failed(&traffic, 0);
    call(0, message("recv", 1), 10, 20);
    cr_expect_eq(receives(1), 0);
    call(0, message("irecv", 1), 30, 31);
    call(0, (struct spec){"cancel", "irecv", KIND_OTHER, 1, TAG, -1, -1, -1, 8}, 32, 33);
    call(0, wait_for("wait", "irecv", 1, -1), 40, 50);
    cr_expect_eq(receives(1), 0);
}

Test(traffic, sends_of_several_threads_count_for_nothing)
{
    call(0, message("send", 1), 10, 20);
    call(1, message("send", 1), 5, 6);
    cr_expect_eq(sends(1), 0);
    call(0, message("recv", 1), 10, 20);
    call(1, message("recv", 1), 5, 6);
    cr_expect_eq(receives(1), 1);
}

Test(traffic, nothing_counts_after_a_pause)
{
    call(0, message("send", 1), 10, 20);
    traffic_paused(&traffic);
    call(0, message("send", 1), 50, 60);
    call(0, message("send", 2), 70, 80);
    cr_expect_eq(sends(1), 1);
    cr_expect_eq(sends(2), 0);
}

static void start(bool is_send, int peer)
{
    traffic_started(&traffic, 0, is_send, &(struct trace_message){.peer = peer, .tag = TAG});
}

/* request: what the requests have in common; is_told: their communicator, too. */
static void start_all(const char *request, bool is_told, uint64_t start, uint64_t end)
{
    communicator = is_told ? WORLD : -1;
    call(0,
         (struct spec){"startall", request, KIND_POINT_TO_POINT, -1, -1, -1, request ? 1 : -1, -1,
                       8},
         start, end);
    communicator = WORLD;
}

Test(traffic, what_starts_no_send_ends_no_count)
{
    start_all(NULL, false, 1, 2);    /* of no requests */
    start_all("mixed", true, 3, 4); /* of collectives */
    start_all("bcast_init", false, 5, 6);
    start_all("recv_init", false, 7, 8);
    traffic_failed(&traffic, 0);
    start_all(NULL, false, 9, 10);
    call(0, message("send", 1), 11, 12);
    cr_expect_eq(sends(1), 1);
    start_all("unknown", false, 13, 14);
    call(0, message("send", 1), 15, 16);
    cr_expect_eq(sends(1), 1);
}

Test(traffic, sends_that_are_started_with_others_end_the_count_of_sends)
{
    call(0, (struct spec){"start", "send_init", KIND_POINT_TO_POINT, 1, TAG, -1, -1, -1, 8}, 1, 2);
    cr_expect_eq(sends(1), 1);
    start_all("mixed", false, 3, 4);
    call(0, message("send", 1), 5, 6);
    call(0, message("send", 2), 7, 8);
    cr_expect_eq(sends(1), 1);
    cr_expect_eq(sends(2), 0);
}

Test(traffic, what_is_started_with_others_counts_where_it_is_told)
{
    struct spec startall = {"startall", "mixed", KIND_POINT_TO_POINT, -1, -1, -1, 2, -1, 8};
    start(true, 1);
    start(false, 3);
    start(true, 2);
    start(false, PEER_NONE);
    start(true, 2);
    call(0, startall, 3, 4);
    call(0, message("send", 1), 5, 6);
    cr_expect_eq(sends(1), 2);
    cr_expect_eq(sends(2), 2);
    cr_expect_eq(find(CHANNEL_SENDS, 2)->starts[1], 3);
    cr_expect_eq(receives(3), 0);
    traffic_resolve(&traffic, 0, &(struct trace_message){.peer = 4, .tag = TAG});
    call(0, wait_for("waitall", "mixed", -1, 2), 7, 8);
    cr_expect_eq(receives(3), 1);
    cr_expect_eq(receives(4), 1);
    cr_expect_eq(find(CHANNEL_RECEIVES, 3)->ends[0], 8);

    start(true, 1);
    traffic_failed(&traffic, 0); /* some may not have been started */
    call(0, startall, 9, 10);
    cr_expect_eq(sends(1), 2);
}

Test(traffic, collectives_are_told_apart_by_name_and_root)
{
    call(0, collective("barrier", -1, 0), 10, 20);
    call(0, collective("bcast", 0, 8), 30, 40);
    call(0, collective("bcast", 1, 8), 50, 60);
    /* Some may give nothing, and wait for nobody. */
    call(0, collective("allgatherv", -1, 8), 70, 80);
    cr_expect_eq(traffic.channel_count, 3);
    call(0, collective("allreduce", -1, 8), 90, 100);
    call(0, collective("allreduce", -1, 0), 110, 120);
    call(0, collective("allreduce", -1, 8), 130, 140);
    cr_expect_eq(traffic.channels[3].count, 1);
    cr_expect_eq(traffic.channels[3].starts[0], 90);
    cr_expect_eq(traffic.channels[3].ends[0], 100);
}

Test(traffic, of_very_many_some_are_kept)
{
    for (uint64_t i = 0; i < 10000; i++)
        call(0, message("send", 1), 10 * i, 10 * i + 5);
    const struct channel *channel = find(CHANNEL_SENDS, 1);
    cr_assert_eq(channel->count, 10000);
    cr_expect_leq(traffic.times, 1024);
    for (uint64_t i = 0; i < 10000; i += UINT64_C(1) << channel->shift)
        cr_assert_eq(channel->starts[i >> channel->shift], 10 * i);
}

Test(traffic, of_very_many_channels_some_are_followed)
{
    for (int round = 0; round < 100; round++) {
        for (int peer = 1; peer <= 2000; peer++)
            call(0, message("send", peer), 10, 20);
    }
    call(0, collective("barrier", -1, 0), 30, 40);
    cr_expect_leq(traffic.times, 1024);
    cr_expect_leq(traffic.channel_count, 128);
    cr_expect_eq(sends(1), 100);
    cr_expect_null(find(CHANNEL_SENDS, 2000));
    cr_expect_eq(traffic.channels[traffic.channel_count - 1].use, CHANNEL_ALL);
    cr_expect_lt(traffic.shift, 10);
}

Test(traffic, a_call_that_begins_one_receive_is_taken_for_no_more)
{
    struct spec irecv = message("irecv", 1);
    irecv.received = INT32_MAX;
    for (int i = 0; i < 1000; i++) {
        call(0, irecv, 1, 2);
        call(0, wait_for("waitall", "irecv", 1, INT32_MAX), 3, 4);
    }
    cr_expect_eq(receives(1), 1000);
}
