/* SPDX-License-Identifier: BSD-3-Clause */
/* A request's label is right or unknown, never another request's. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "preload/request.h"
#include "schema/trace_format.h"

static const uint64_t shared = 0x2c000001; /* the handle of every send that completed at once */
static char memory[1 << 23];               /* addresses; nothing is stored there */

enum { MILLION = 1000000 };

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

Test(request, a_handle_that_is_used_up_is_as_new)
{
    for (int round = 0; round < 3; round++) {
        start(shared, 0, 1);
        start(shared, 0, 2); /* from here on nothing is told apart */
        start(shared, 8, 3);
        for (int i = 0; i < 3; i++)
            cr_expect_eq(finish(shared, 8), -1);
        start(shared, 0, 4);
        start(shared, 8, 5);
        cr_expect_eq(finish(shared, 0), 4);
        cr_expect_eq(finish(shared, 8), 5);
        nothing_is_left();
    }
}

/* A request that moved took another one's place in the table: that one is unknown, not mistaken. */
Test(request, a_copied_request_may_cost_another_its_label)
{
    start(shared, 0, 1);
    start(shared, 8, 2);
    start(shared, 16, 3);
    cr_expect_eq(finish(shared, 1000), -1, "the third, say");
    cr_expect_eq(finish(shared, 0), -1, "the oldest was taken for it");
    cr_expect_eq(finish(shared, 8), -1);
    nothing_is_left();
}

/* --- millions --------------------------------------------------------------------------------- */

/* What makes a hash go wrong: strides of a power of two, aligned pointers, small numbers. */
static const struct pattern {
    const char *name;
    uint64_t handle, handle_stride;
    int handle_from, place_stride; /* the handle of request i is that of i / handle_from */
} patterns[] = {
    {"pointers", UINT64_C(0x550000000000), 200, 1, 4},
    {"pages", UINT64_C(0x7f0000000000), 4096, 1, 0},
    {"large strides", UINT64_C(1) << 40, 1 << 20, 1, 8},
    {"small integers", UINT64_C(0x98000000), 1, 1, 8},
    {"one handle", UINT64_C(0x2c000001), 0, 1, 8},
    {"one handle and address", UINT64_C(0x2c000001), 0, 1, 0},
    {"pairs", UINT64_C(0x550000000000), 64, 2, 8},
    {"a thousand handles", UINT64_C(0x550000000000), 64, 1000, 8},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

/* The number of request i: few enough for their origins to stay in the cache, so that a million
 * take a second. */
static int number_of(int i)
{
    return i % 65521;
}

static uint64_t pattern_handle(const struct pattern *p, int i)
{
    return p->handle + p->handle_stride * (uint64_t)(i / p->handle_from);
}

static int pattern_place(const struct pattern *p, int i)
{
    return p->place_stride * i;
}

/* Where all requests are at one address, none is told apart from others of its handle. */
static bool pattern_tells(const struct pattern *p)
{
    return p->place_stride != 0 || p->handle_stride != 0;
}

/* No call passes more than a chain, and none moves more when the table grows. */
static void start_a_million(const struct pattern *p)
{
    for (int i = 0; i < MILLION; i++) {
        start(pattern_handle(p, i), pattern_place(p, i), number_of(i));
        if (i % 333333 == 333332)
            cr_assert_leq(request_longest_chain(), 16, "%s: %zu at %d", p->name,
                          request_longest_chain(), i);
    }
    cr_assert_eq(request_count(), MILLION);
}

static int order_forward(int i)
{
    return i;
}

static int order_reverse(int i)
{
    return MILLION - 1 - i;
}

static int order_mixed(int i)
{
    return (int)((uint64_t)i * 7919 % MILLION);
}

static int (*const orders[])(int) = {order_forward, order_reverse, order_mixed};

Test(request, a_million_in_flight)
{
    for (int k = 0; k < PATTERNS; k++) {
        const struct pattern *p = &patterns[k];
        start_a_million(p);
        for (int i = 0; i < MILLION; i++) {
            int n = orders[k % 3](i);
            int ended = finish(pattern_handle(p, n), pattern_place(p, n));
            cr_assert_eq(ended, pattern_tells(p) ? number_of(n) : -1, "%s: %d is %d", p->name, n,
                         ended);
        }
        nothing_is_left();
    }
}

Test(request, a_million_of_one_handle_in_any_order)
{
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < MILLION; i++)
            start(shared, 8 * i, number_of(i));
        for (int i = 0; i < MILLION; i++)
            cr_assert_eq(finish(shared, 8 * orders[k](i)), number_of(orders[k](i)));
        nothing_is_left();
    }
}

Test(request, a_million_in_flight_with_threads)
{
    request_use_threads();
    const struct pattern *p = &patterns[0];
    start_a_million(p);
    for (int i = 0; i < MILLION; i++)
        cr_assert_eq(finish(pattern_handle(p, i), pattern_place(p, i)), number_of(i));
    nothing_is_left();
}

/* --- memory ----------------------------------------------------------------------------------- */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they have memory of theirs */

/* Bytes of memory that the process has for itself, whatever for, and really has. */
static size_t resident(void)
{
    static char text[4096];
    int fd = open("/proc/self/smaps_rollup", O_RDONLY);
    cr_assert_geq(fd, 0);
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    cr_assert_gt(size, 0);
    text[size] = '\0';
    const char *line = strstr(text, "Anonymous:");
    cr_assert_not_null(line);
    return strtoul(line + strlen("Anonymous:"), NULL, 10) * 1024;
}

/* At most 32 bytes per request beyond fixed ones, however many there are. */
static void memory_is_bounded(const struct pattern *p, size_t fixed)
{
    struct request_origin o = origin(1);
    uint32_t id = request_origin_id(&o);
    resident(); /* takes some memory itself the first time */
    size_t before = resident();
    for (size_t i = 0; i < MILLION; i++) {
        request_started(pattern_handle(p, (int)i), &memory[pattern_place(p, (int)i)], id);
        size_t n = i + 1;
        bool near_power = ((n - 1) & (n - 2)) == 0 || (n & (n - 1)) == 0 || (n & (n + 1)) == 0;
        if (near_power || n % 50000 == 0)
            cr_assert_leq(resident(), before + fixed + 32 * n, "%s: %zu bytes for %zu", p->name,
                          resident() - before, n);
    }
}

Test(request, thirty_two_bytes_for_each_in_flight)
{
    memory_is_bounded(&patterns[0], 64 << 10);
}

Test(request, thirty_two_bytes_for_each_of_one_handle)
{
    memory_is_bounded(&patterns[4], 64 << 10);
}

Test(request, thirty_two_bytes_for_each_at_one_address)
{
    memory_is_bounded(&patterns[5], 64 << 10);
}

Test(request, thirty_two_bytes_for_each_of_a_pair)
{
    memory_is_bounded(&patterns[6], 64 << 10);
}

Test(request, thirty_two_bytes_for_each_with_threads)
{
    request_use_threads();
    memory_is_bounded(&patterns[0], 512 << 10);
}

/* What is finished makes room for what is started. */
Test(request, memory_follows_the_peak)
{
    enum { PEAK = 10000, ALL = 30 * PEAK };
    struct request_origin o = origin(1);
    uint32_t id = request_origin_id(&o);
    size_t before = resident();
    for (int k = 0; k < PATTERNS; k++) {
        const struct pattern *p = &patterns[k];
        for (int i = 0; i < ALL + PEAK; i++) {
            if (i < ALL)
                request_started(pattern_handle(p, i), &memory[pattern_place(p, i)], id);
            if (i >= PEAK)
                request_finished(pattern_handle(p, i - PEAK), &memory[pattern_place(p, i - PEAK)]);
        }
        nothing_is_left();
        cr_expect_leq(resident(), before + (64 << 10) + 32 * (PEAK + 1), "%s", p->name);
    }
}

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/* A call that copies a table touches all its pages. */
Test(request, no_call_touches_many_pages)
{
    const struct pattern *p = &patterns[0];
    struct request_origin o = origin(1);
    uint32_t id = request_origin_id(&o);
    long before = faults(), most = 0;
    for (int i = 0; i < MILLION; i++) {
        request_started(pattern_handle(p, i), &memory[pattern_place(p, i)], id);
        long now = faults();
        most = now - before > most ? now - before : most;
        before = now;
    }
    cr_expect_leq(most, 8, "%ld", most);
}

/* --- without memory --------------------------------------------------------------------------- */

static struct rlimit unlimited;
static int fillers;

/* No more memory from the system from here on. */
static void stop_memory(void)
{
    char text[64] = "";
    int fd = open("/proc/self/statm", O_RDONLY);
    cr_assert_gt(read(fd, text, sizeof text - 1), 0);
    close(fd);
    rlim_t size = strtoul(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
    getrlimit(RLIMIT_AS, &unlimited);
    cr_assert_eq(setrlimit(RLIMIT_AS, &(struct rlimit){size, unlimited.rlim_max}), 0);
}

/* Starts requests until no more are kept. */
static void fill(void)
{
    for (size_t before = request_count() - 1; request_count() != before; fillers++) {
        before = request_count();
        start(UINT64_C(0x660000000000) + (uint64_t)fillers * 64, 0, 0);
    }
    cr_assert_gt(fillers, 1000);
}

Test(request, what_is_not_kept_is_unknown)
{
    start(shared, 0, 1);
    start(7, 0, 7);
    for (int i = 2; i < 20; i++) {
        struct request_origin o = origin(i);
        request_origin_id(&o);
    }
    stop_memory();
    fill();
    start(shared, 8, 2);
    start(shared + 1, 0, 3);
    cr_expect_eq(finish(7, 0), 7, "was kept, and leaves room for another one");
    start(shared + 1, 8, 4);
    cr_expect_eq(finish(shared, 8), -1);
    cr_expect_eq(finish(shared, 0), -1);
    cr_expect_eq(finish(shared + 1, 0), -1, "the handle's only one we know is another one");
    int ended = finish(shared + 1, 8);
    cr_expect(ended == 4 || ended == -1, "%d", ended);
    setrlimit(RLIMIT_AS, &unlimited);
    start(shared, 0, 5);
    start(shared, 8, 6);
    cr_expect_eq(finish(shared, 8), 6, "there is memory again");
    cr_expect_eq(finish(shared, 0), 5);
}

Test(request, without_any_memory_all_is_unknown)
{
    stop_memory();
    start(shared, 0, 1);
    cr_expect_eq(finish(shared, 0), -1);
    struct request_origin o = origin(1);
    cr_expect_eq(request_origin_id(&o), REQUEST_ORIGIN_UNKNOWN);
    setrlimit(RLIMIT_AS, &unlimited);
    start(shared, 0, 1);
    cr_expect_eq(finish(shared, 0), 1);
}

#endif

Test(request, a_million_one_after_another)
{
    for (int i = 0; i < MILLION; i++) {
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

enum { LIVE = 1000, HANDLES = 100000, STEPS = 60000, VACANT = 4096 };

/* What is in flight, and where the program keeps it by now. */
static struct {
    int handle, place, number;
} live[LIVE];
static int live_count;

/* What request.h promises: the table as a list, oldest first. */
static struct {
    int handle, place, number;
} kept[LIVE];
static int kept_count;
static struct {
    int count;
    bool differ, confused; /* since count was 0 */
} handles[HANDLES];

static char occupied[sizeof memory / 8];
static int vacant[VACANT], fresh;
static size_t vacated;
static size_t known;
static uint64_t state;

static int draw(int below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)below);
}

static uint64_t handle_value(int handle)
{
    return UINT64_C(0x7f0000000000) + (uint64_t)handle * 64;
}

static void list_started(int handle, int place, int number)
{
    for (int i = 0; i < kept_count; i++) {
        if (kept[i].handle != handle)
            continue;
        handles[handle].differ |= kept[i].number != number;
        handles[handle].confused |= kept[i].place == place;
    }
    kept[kept_count].handle = handle;
    kept[kept_count].place = place;
    kept[kept_count++].number = number;
    handles[handle].count++;
}

static int list_finished(int handle, int place)
{
    int found = -1, oldest = -1;
    for (int i = kept_count - 1; i >= 0; i--) {
        if (kept[i].handle != handle)
            continue;
        oldest = i;
        if (kept[i].place == place && !handles[handle].confused)
            found = i;
    }
    cr_assert_geq(oldest, 0);
    int out = found >= 0 ? found : oldest;
    int told = found >= 0 || !handles[handle].differ ? kept[out].number : -1;
    memmove(&kept[out], &kept[out + 1], (size_t)(--kept_count - out) * sizeof *kept);
    if (--handles[handle].count == 0)
        handles[handle].differ = handles[handle].confused = false;
    return told;
}

/* A place that no request lies at: one where some request was before, or a new one. */
static int place_take(bool used)
{
    int place = used && vacated >= VACANT ? vacant[draw(VACANT)] : fresh;
    if (occupied[place])
        place = fresh;
    fresh += place == fresh;
    occupied[place] = 1;
    return place;
}

static void place_give(int place)
{
    occupied[place] = 0;
    vacant[vacated++ % VACANT] = place;
}

struct model {
    int handles, origins;
    bool copies;  /* the program moves some requests to another place, where none has been */
    bool forgets; /* the table has no room for all: what it tells is unknown or right */
};

static void model_start(const struct model *model, int step)
{
    int handle = draw(model->handles), place = place_take(draw(2) == 0);
    int number = step % model->origins;
    live[live_count].handle = handle;
    live[live_count].place = place;
    live[live_count++].number = number;
    start(handle_value(handle), 8 * place, number);
    if (!model->forgets)
        list_started(handle, place, number);
}

static void model_finish(const struct model *model)
{
    int i = draw(live_count), number = live[i].number;
    int ended = finish(handle_value(live[i].handle), 8 * live[i].place);
    cr_assert(ended == number || ended == -1, "%d instead of %d", ended, number);
    known += ended == number;
    if (!model->forgets)
        cr_assert_eq(ended, list_finished(live[i].handle, live[i].place));
    if (!model->forgets && !model->copies)
        cr_assert_eq(ended, number);
    place_give(live[i].place);
    live[i] = live[--live_count];
}

static void model_copy(void)
{
    int i = draw(live_count), place = place_take(false);
    place_give(live[i].place);
    live[i].place = place;
}

static void model_run(const struct model *model, uint64_t seed)
{
    state = seed;
    fresh = 0;
    vacated = 0;
    for (int step = 0; step < STEPS; step++) {
        bool growing = step / 5000 % 2 == 0;
        if (live_count < LIVE && (live_count == 0 || draw(10) < (growing ? 7 : 3)))
            model_start(model, step);
        else
            model_finish(model);
        if (model->copies && live_count > 0 && draw(20) == 0)
            model_copy();
        if (!model->forgets)
            cr_assert_eq(request_count(), (size_t)live_count);
    }
    while (live_count > 0)
        model_finish(model);
    if (!model->forgets)
        nothing_is_left();
}

static void model_runs(struct model model)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        model_run(&model, seed);
}

Test(request, model_with_handles_that_are_nearly_unique)
{
    model_runs((struct model){.handles = HANDLES, .origins = STEPS});
    model_runs((struct model){.handles = HANDLES, .origins = STEPS, .copies = true});
}

Test(request, model_with_a_few_requests_per_handle)
{
    model_runs((struct model){.handles = 300, .origins = STEPS});
    model_runs((struct model){.handles = 300, .origins = STEPS, .copies = true});
    model_runs((struct model){.handles = 300, .origins = 2, .copies = true});
}

Test(request, model_with_few_handles)
{
    model_runs((struct model){.handles = 3, .origins = STEPS});
    model_runs((struct model){.handles = 3, .origins = 3, .copies = true});
    model_runs((struct model){.handles = 1, .origins = STEPS, .copies = true});
    model_runs((struct model){.handles = 1, .origins = 1, .copies = true});
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

Test(request, model_without_memory)
{
    static const int few[] = {1, 30, 300, HANDLES};
    for (int i = 0; i < STEPS; i++) {
        struct request_origin o = origin(i);
        request_origin_id(&o);
    }
    start(1, 0, 0);
    stop_memory();
    fill();
    for (int i = 0; i < 100; i++) /* room for some */
        finish(UINT64_C(0x660000000000) + (uint64_t)i * 64, 0);
    for (int i = 0; i < 4; i++) {
        model_runs((struct model){.handles = few[i], .origins = STEPS, .forgets = true});
        model_runs((struct model){
            .handles = few[i], .origins = STEPS, .copies = true, .forgets = true});
        cr_expect_gt(known, 0, "nothing is known of %d handles", few[i]);
        known = 0;
    }
}

#endif

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

/* Each thread starts requests of its own and, at the same time, finishes those that its neighbour
 * started in the round before. Handles and places are used again and again by all of them. */
enum { THREADS = 8, BATCH = 500, ROUNDS = 40 };
static pthread_barrier_t round_over;

static uint64_t batch_handle(int i)
{
    return i % 2 ? shared : UINT64_C(0x550000000000) + (uint64_t)i * 64;
}

static int batch_place(int thread, int round, int i)
{
    return 8 * ((thread * 2 + round % 2) * BATCH + i);
}

static void *pass_on(void *data)
{
    int self = (int)(intptr_t)data, other = (self + 1) % THREADS;
    const char *problem = NULL;
    for (int round = 0; round <= ROUNDS; round++) {
        for (int i = 0; i < BATCH; i++) {
            if (round < ROUNDS)
                start(batch_handle(i), batch_place(self, round, i), self * BATCH + i);
            if (round > 0 && finish(batch_handle(BATCH - 1 - i),
                                    batch_place(other, round - 1, BATCH - 1 - i)) !=
                                 other * BATCH + BATCH - 1 - i)
                problem = "a request of another thread has another label";
        }
        pthread_barrier_wait(&round_over);
    }
    return (void *)(uintptr_t)problem;
}

Test(request, threads_finish_what_others_started)
{
    pthread_t threads[THREADS];
    void *problem;
    request_use_threads();
    pthread_barrier_init(&round_over, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, pass_on, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &problem);
        cr_expect_null(problem, "%s", (const char *)problem);
    }
    nothing_is_left();
}

enum { RACES = 20000 };
static int arrived;

/* Asks for each id at the moment when the other thread does. */
static void *intern_all(void *ids)
{
    for (int i = 0; i < RACES; i++) {
        struct request_origin o = origin(i);
        __atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
        for (int spins = 0; __atomic_load_n(&arrived, __ATOMIC_RELAXED) < 2 * (i + 1); spins++) {
            if (spins > 1000)
                sched_yield();
        }
        ((uint32_t *)ids)[i] = request_origin_id(&o);
        if (request_origin(((uint32_t *)ids)[i])->tag != i)
            return "another origin";
    }
    return NULL;
}

Test(request, threads_get_one_id_for_equal_origins)
{
    static uint32_t ids[2][RACES];
    pthread_t thread;
    void *problem;
    cr_assert_eq(pthread_create(&thread, NULL, intern_all, ids[0]), 0);
    cr_expect_null(intern_all(ids[1]));
    pthread_join(thread, &problem);
    cr_expect_null(problem, "%s", (const char *)problem);
    cr_expect_eq(memcmp(ids[0], ids[1], sizeof ids[0]), 0);
}
