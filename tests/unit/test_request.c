/* SPDX-License-Identifier: BSD-3-Clause */
/* A request's label is right or unknown, never another request's. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "preload/request.h"
#include "schema/trace_format.h"

static const uint64_t shared = 0x2c000001; /* the handle of every send that completed at once */
static char memory[1 << 20];               /* addresses; nothing is stored there */

static struct request_origin origin(int number)
{
    return (struct request_origin){
        .bytes = 8 * number, .peer = number, .tag = number, .communicator = 0, .operation = 5};
}

static void start(uint64_t handle, int place, int number)
{
    struct request_origin o = origin(number);
    request_started(handle, &memory[place], request_origin_id(&o));
}

static bool is_unknown(const struct request_origin *o)
{
    return o->operation == ORIGIN_UNKNOWN && o->bytes == -1 && o->peer == -1 && o->tag == -1 &&
           o->communicator == -1;
}

/* Ends the request at place; its number, or -1 if it is unknown. */
static int finish(uint64_t handle, int place)
{
    uint32_t looked = request_look(handle, &memory[place]);
    uint32_t id = request_finished(handle, &memory[place]);
    const struct request_origin *o = request_origin(id);
    cr_assert_eq(id, looked, "looking tells the same");
    if (id == REQUEST_ORIGIN_UNKNOWN) {
        cr_assert(is_unknown(o));
        return -1;
    }
    cr_assert(o->bytes == 8 * o->tag && o->peer == o->tag && o->communicator == 0 &&
              o->operation == 5);
    return o->tag;
}

static void nothing_is_left(void)
{
    cr_assert_eq(request_count(), 0, "%zu requests left", request_count());
}

Test(request, nothing_is_known_of_what_was_never_started)
{
    cr_expect_eq(finish(7, 0), -1);
    cr_expect_eq(finish(0, 0), -1);
    start(7, 0, 1);
    cr_expect_eq(finish(8, 0), -1);
    cr_expect_eq(finish(7, 0), 1);
    cr_expect_eq(finish(7, 0), -1, "no longer");
    nothing_is_left();
}

Test(request, unique_handles_are_known_at_any_address)
{
    for (int i = 0; i < 1000; i++)
        start((uint64_t)i * 4096, i, i);
    cr_expect_eq(request_count(), 1000);
    for (int i = 999; i >= 0; i--)
        cr_assert_eq(finish((uint64_t)i * 4096, (i * 7) % 1000), i);
    nothing_is_left();
}

Test(request, looking_keeps)
{
    start(3, 1, 9);
    for (int i = 0; i < 5; i++)
        cr_expect_eq(request_origin(request_look(3, &memory[1]))->tag, 9);
    cr_expect_eq(request_count(), 1);
}

Test(request, a_shared_handle_is_told_apart_by_address)
{
    for (int i = 0; i < 100; i++)
        start(shared, 8 * i, i);
    for (int i = 0; i < 50; i += 2) { /* from both ends and out of the middle */
        cr_assert_eq(finish(shared, 8 * i), i);
        cr_assert_eq(finish(shared, 8 * (98 - i)), 98 - i);
    }
    for (int i = 1; i < 100; i += 2)
        cr_assert_eq(finish(shared, 8 * i), i);
    nothing_is_left();
}

Test(request, requests_that_were_copied_are_unknown_unless_they_agree)
{
    for (int i = 0; i < 6; i++)
        start(shared, 8 * i, i % 2);
    for (int i = 0; i < 6; i++)
        cr_expect_eq(finish(shared, 1000 + i), -1);
    nothing_is_left();
    for (int i = 0; i < 6; i++)
        start(shared, 8 * i, 4);
    for (int i = 0; i < 6; i++)
        cr_expect_eq(finish(shared, 1000 + i), 4);
    nothing_is_left();
}

/* A Fortran layer keeps every request in one place of its own. */
Test(request, one_address_for_all_tells_nothing_apart)
{
    start(shared, 0, 1);
    start(shared, 0, 2);
    start(shared, 0, 3);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(finish(shared, 0), -1);
    nothing_is_left();
    start(shared, 0, 5);
    start(shared, 0, 5);
    cr_expect_eq(finish(shared, 0), 5);
    cr_expect_eq(finish(shared, 0), 5);
    nothing_is_left();
    start(shared, 0, 6);
    cr_expect_eq(finish(shared, 0), 6, "what was once confused is forgotten");
}

/* The program starts into `a`, copies it away, starts into `b`, and into `a` again. */
Test(request, an_address_that_was_used_again_tells_nothing)
{
    start(shared, 0, 1);
    start(shared, 8, 2);
    start(shared, 0, 3);
    int ended = finish(shared, 0);
    cr_expect(ended == 3 || ended == -1, "%d", ended);
    ended = finish(shared, 8);
    cr_expect(ended == 2 || ended == -1, "%d", ended);
    ended = finish(shared, 16);
    cr_expect(ended == 1 || ended == -1, "%d", ended);
    nothing_is_left();
}

/* The same in a ring of places, each taken again while its first request is still in flight. */
Test(request, a_ring_that_is_overrun)
{
    enum { RING = 40, ALL = 3 * RING };
    for (int i = 0; i < ALL; i++)
        start(shared, 8 * (i % RING), i);
    for (int i = ALL - 1; i >= 2 * RING; i--) { /* what is in the ring now */
        int ended = finish(shared, 8 * (i % RING));
        cr_expect(ended == i || ended == -1, "%d instead of %d", ended, i);
    }
}

Test(request, a_million_in_flight)
{
    enum { MILLION = 1000000 };
    for (int i = 0; i < MILLION; i++)
        start(UINT64_C(0x550000000000) + (uint64_t)i * 200, i & 0xffff, i);
    cr_expect_eq(request_count(), MILLION);
    for (int i = 0; i < MILLION; i++) {
        int n = (int)((uint64_t)i * 7919 % MILLION);
        cr_assert_eq(finish(UINT64_C(0x550000000000) + (uint64_t)n * 200, n & 0xffff), n);
    }
    nothing_is_left();
}

Test(request, a_million_of_one_handle)
{
    enum { MILLION = 1000000 };
    for (int i = 0; i < MILLION; i++)
        start(shared, i, i);
    for (int i = 0; i < MILLION / 2; i++)
        cr_assert_eq(finish(shared, i), i);
    for (int i = MILLION - 1; i >= MILLION / 2; i--)
        cr_assert_eq(finish(shared, i), i);
    nothing_is_left();
}

Test(request, a_million_one_after_another)
{
    for (int i = 0; i < 1000000; i++) {
        start(shared + (uint64_t)(i % 3), 0, i);
        start(shared, 8, i + 1);
        cr_assert_eq(finish(shared, 8), i + 1);
        cr_assert_eq(finish(shared + (uint64_t)(i % 3), 0), i);
    }
    nothing_is_left();
}

/* --- origins ---------------------------------------------------------------------------------- */

Test(request, equal_origins_have_one_id)
{
    enum { ALL = 100000 };
    static uint32_t ids[ALL];
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < ALL; i++) {
            struct request_origin o = {.bytes = i % 10,
                                       .peer = i / 10 % 10,
                                       .tag = i / 100 % 10,
                                       .communicator = i / 1000 % 10,
                                       .operation = 1 + (uint32_t)i / 10000};
            uint32_t id = request_origin_id(&o);
            cr_assert_neq(id, REQUEST_ORIGIN_UNKNOWN);
            cr_assert(pass == 0 || id == ids[i]);
            ids[i] = id;
            const struct request_origin *kept = request_origin(id);
            cr_assert(kept->bytes == o.bytes && kept->peer == o.peer && kept->tag == o.tag &&
                      kept->communicator == o.communicator && kept->operation == o.operation);
        }
    }
}

Test(request, more_origins_than_are_kept_are_unknown)
{
    int unknown = 0;
    for (int i = 0; i < 1100000; i++) {
        struct request_origin o = origin(i);
        uint32_t id = request_origin_id(&o);
        cr_assert(id == REQUEST_ORIGIN_UNKNOWN || request_origin(id)->tag == i);
        unknown += id == REQUEST_ORIGIN_UNKNOWN;
    }
    cr_expect(unknown > 0 && unknown < 200000, "%d", unknown);
}

/* --- against a plain list --------------------------------------------------------------------- */

enum { LIVE = 3000 };

static struct {
    uint64_t handle;
    int place, number;
} live[LIVE];
static int live_count;
static uint64_t state;

static int draw(int below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)below);
}

/* Ends a random request, sometimes at an address that it was copied to. What is told must be what
 * it was, or unknown; and it must not be unknown where nothing is shared. */
static void end_one(bool copied)
{
    int i = draw(live_count), sharing = 0;
    for (int k = 0; k < live_count; k++)
        sharing += live[k].handle == live[i].handle;
    int ended = finish(live[i].handle, copied ? 900000 + draw(1000) : live[i].place);
    cr_assert(ended == live[i].number || ended == -1, "%d instead of %d", ended, live[i].number);
    if (sharing == 1)
        cr_assert(ended == live[i].number);
    live[i] = live[--live_count];
}

/* Every live request lies at an address of its own; handles are shared by a few. */
static void model(uint64_t seed, int handles, bool copies)
{
    int place = 0, number = 0;
    state = seed;
    for (int step = 0; step < 30000; step++) {
        bool growing = step / 5000 % 2 == 0;
        if (live_count < LIVE && (live_count == 0 || draw(10) < (growing ? 7 : 3))) {
            live[live_count].handle = UINT64_C(0x7f0000000000) + (uint64_t)draw(handles) * 64;
            live[live_count].place = place = (place + 8) % 800000;
            live[live_count].number = number++;
            start(live[live_count].handle, place, live[live_count].number);
            live_count++;
        } else {
            end_one(copies && draw(50) == 0);
        }
        cr_assert_eq(request_count(), (size_t)live_count);
    }
    while (live_count > 0)
        end_one(false);
    nothing_is_left();
}

Test(request, model_with_handles_that_are_nearly_unique)
{
    for (uint64_t seed = 1; seed < 4; seed++)
        model(seed, 100000, false);
}

Test(request, model_with_shared_handles)
{
    for (uint64_t seed = 1; seed < 4; seed++)
        model(seed, 200, false);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void *start_and_finish(void *data)
{
    int number = (int)(intptr_t)data;
    for (int i = 0; i < 100000; i++) {
        int at = number * 1000 + i % 100;
        start(shared, at, at);
        start((uint64_t)at, at, at);
        if (finish((uint64_t)at, at) != at)
            return "lost a request of its own";
        int ended = finish(shared, at);
        if (ended != at && ended != -1)
            return "got another thread's request";
    }
    return NULL;
}

Test(request, threads_share_the_table)
{
    pthread_t threads[8];
    void *problem;
    request_use_threads();
    for (intptr_t i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, start_and_finish, (void *)i);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], &problem);
        cr_expect_null(problem, "%s", (const char *)problem);
    }
    nothing_is_left();
}

/* One thread starts what another one waits for. */
static void *finish_those(void *data)
{
    intptr_t wrong = 0;
    (void)data;
    for (int i = 0; i < 1000; i++)
        wrong += finish(shared, i) != i;
    return (void *)wrong;
}

Test(request, another_thread_may_wait)
{
    pthread_t thread;
    void *wrong;
    request_use_threads();
    for (int i = 0; i < 1000; i++)
        start(shared, i, i);
    pthread_create(&thread, NULL, finish_those, NULL);
    pthread_join(thread, &wrong);
    cr_expect_null(wrong);
    nothing_is_left();
}
