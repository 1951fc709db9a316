/* SPDX-License-Identifier: BSD-3-Clause */
/* All members of a communicator give it the same key, others another; handles may come again. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/communicator.h"
#include "preload/memo.h"
#include "preload/pages.h"

uint32_t memo_generation = 1; /* the recorder's */

static const uint64_t world_handle = 0x44000000, self_handle = 0x44000001;

/* An answer as a family's wrappers make it. */
static struct communicator_answer answer(const int *ranks, uint32_t count, uint32_t rank)
{
    struct communicator_answer a = {.rank = rank, .size = count, .peers = count};
    a.run_room = count * sizeof *a.runs;
    a.runs = pages_take(a.run_room);
    cr_assert_not_null(a.runs);
    a.run_count = communicator_runs(ranks, count, a.runs);
    return a;
}

static struct communicator *add_world(int size, int rank)
{
    int ranks[64];
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    struct communicator_answer a = answer(ranks, (uint32_t)size, (uint32_t)rank);
    struct communicator *world = communicator_add_predefined(world_handle, COMMUNICATOR_WORLD, &a);
    a = answer(&rank, 1, 0);
    cr_assert_not_null(communicator_add_predefined(self_handle, COMMUNICATOR_SELF, &a));
    return world;
}

Test(communicator, predefined_ones_have_the_ids_and_keys_that_all_know)
{
    const struct communicator *world = add_world(4, 2);
    const struct communicator *self = communicator_find(self_handle);
    cr_assert_not_null(world);
    cr_expect_eq(world->facts.id, COMMUNICATOR_WORLD);
    cr_expect_eq(self->facts.id, COMMUNICATOR_SELF);
    cr_expect_neq(world->facts.key, 0);
    cr_expect_neq(self->facts.key, 0);
    cr_expect_neq(self->facts.key, world->facts.key);
    cr_expect(world->facts.rank == 2 && world->facts.size == 4 && world->facts.parent == -1);
    cr_expect_eq(communicator_find(world_handle), world);
    cr_expect_null(communicator_find(0x1234));
}

/* --- several ranks, each a process of its own ------------------------------------------------- */

enum { RANKS = 7, MADE = 300 };

/* A communicator that exists in the job, and who is in it, in order. */
struct group {
    int ranks[RANKS];
    int size;
};

static uint64_t state;

static int draw(int below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)below);
}

static int place_in(const struct group *group, int rank)
{
    for (int i = 0; i < group->size; i++) {
        if (group->ranks[i] == rank)
            return i;
    }
    return -1;
}

static void shuffle(struct group *group)
{
    for (int i = group->size - 1; i > 0; i--) {
        int k = draw(i + 1), rank = group->ranks[i];
        group->ranks[i] = group->ranks[k];
        group->ranks[k] = rank;
    }
}

/* Splits a group by random colours; some members get nothing. Returns how many groups came out. */
static int split(const struct group *parent, struct group *parts)
{
    int colours = draw(3) + 1, none = draw(4) == 0;
    for (int c = 0; c < colours; c++)
        parts[c].size = 0;
    for (int i = 0; i < parent->size; i++) {
        int colour = draw(colours + none);
        if (colour < colours)
            parts[colour].ranks[parts[colour].size++] = parent->ranks[i];
    }
    for (int c = 0; c < colours; c++)
        shuffle(&parts[c]);
    return colours;
}

/* What one rank does when all of parent's members call a creating function. */
static void create_on(const struct group *parent, uint64_t parent_handle, const struct group *parts,
                      int count, int first_made, int rank, uint64_t *keys)
{
    if (place_in(parent, rank) < 0)
        return;
    struct communicator *from = communicator_find(parent_handle);
    uint32_t creation = communicator_count_creation(from);
    for (int c = 0; c < count; c++) {
        int place = place_in(&parts[c], rank);
        if (place < 0)
            continue;
        struct communicator_answer a =
            answer(parts[c].ranks, (uint32_t)parts[c].size, (uint32_t)place);
        /* Each rank has handles of its own. */
        struct communicator *made = communicator_add(
            (uint64_t)(rank + 1) << 40 | (uint64_t)(first_made + c), from, creation, &a);
        cr_assert_not_null(made);
        cr_assert_eq(made->facts.parent, (int)from->facts.id);
        cr_assert_eq(made->facts.rank, (uint32_t)place);
        keys[first_made + c] = made->facts.key;
    }
}

/* The same job in every rank: `keys` gets those of the communicators that the rank is in. */
static void play(int rank, uint64_t *keys, struct group *groups)
{
    int made = 1;
    add_world(RANKS, rank);
    state = 5;
    groups[0].size = RANKS;
    for (int i = 0; i < RANKS; i++)
        groups[0].ranks[i] = i;
    while (made + 3 < MADE) {
        struct group parts[3];
        int parent = draw(2) ? 0 : draw(made), count = 1;
        if (groups[parent].size == 0)
            continue;
        if (draw(3) == 0)
            parts[0] = groups[parent]; /* a duplicate */
        else
            count = split(&groups[parent], parts);
        uint64_t handle = parent ? (uint64_t)(rank + 1) << 40 | (uint64_t)parent : world_handle;
        create_on(&groups[parent], handle, parts, count, made, rank, keys);
        memcpy(&groups[made], parts, (size_t)count * sizeof *parts);
        made += count;
    }
}

Test(communicator, keys_are_alike_on_all_members_and_only_there)
{
    static struct group groups[MADE];
    uint64_t(*keys)[MADE] =
        mmap(NULL, RANKS * sizeof *keys, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(keys, MAP_FAILED);
    for (int rank = 0; rank < RANKS; rank++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            play(rank, keys[rank], groups);
            _exit(0);
        }
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_assert_eq(status, 0);
    }
    uint64_t unused[MADE];
    play(0, unused, groups); /* for the groups */

    int compared = 0;
    for (int c = 1; c < MADE; c++) {
        for (int i = 0; i < groups[c].size; i++) {
            uint64_t key = keys[groups[c].ranks[i]][c];
            cr_assert_neq(key, 0);
            cr_assert_eq(key, keys[groups[c].ranks[0]][c], "communicator %d", c);
            compared++;
            for (int other = 1; other < c; other++) {
                for (int rank = 0; rank < RANKS; rank++)
                    cr_assert_neq(key, keys[rank][other], "communicators %d and %d", c, other);
            }
        }
    }
    cr_expect_gt(compared, 300);
}

/* What one rank calls the n-th communicator of these members and this tag. */
static uint64_t joined(const int *ranks, uint32_t count, uint32_t rank, const char *tag)
{
    static uint64_t handle = 5000;
    struct communicator_answer a = answer(ranks, count, rank);
    struct communicator *c =
        communicator_add_joined(handle++, NULL, communicator_hash(tag, strlen(tag)), &a);
    cr_assert_not_null(c);
    cr_assert_eq(c->facts.parent, -1);
    return c->facts.key;
}

/* MPI_Comm_create_group and its like: members, tag and a counter for both tell who is who. */
Test(communicator, joined_ones_are_known_by_members_tag_and_count)
{
    enum { EACH = 5 };
    static const int members[] = {1, 3, 5}, others[] = {1, 3, 6};
    uint64_t(*keys)[2][EACH] =
        mmap(NULL, 2 * sizeof *keys, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t seen[4 * EACH];
    int count = 0;
    for (uint32_t rank = 0; rank < 2; rank++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            add_world(RANKS, members[rank]);
            for (int i = 0; i < EACH; i++) {
                keys[rank][0][i] = joined(members, 3, rank, "a");
                if (rank == 1) /* what the others are not in makes no difference */
                    joined(others, 3, 1, "a");
                keys[rank][1][i] = joined(members, 3, rank, "b");
            }
            _exit(0);
        }
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_assert_eq(status, 0);
    }
    cr_assert_eq(memcmp(keys[0], keys[1], sizeof keys[0]), 0);
    add_world(RANKS, 3);
    for (int i = 0; i < EACH; i++) {
        seen[count++] = keys[0][0][i];
        seen[count++] = keys[0][1][i];
        seen[count++] = joined(others, 3, 1, "a");
    }
    for (int i = 0; i < count; i++) {
        cr_assert_neq(seen[i], 0);
        for (int k = 0; k < i; k++)
            cr_assert_neq(seen[i], seen[k]);
    }
}

/* The two groups of an intercommunicator, made from a communicator of each, find the same key. */
Test(communicator, both_sides_of_an_intercommunicator_agree)
{
    static const int low[] = {0, 1, 2}, high[] = {3, 4};
    static struct trace_rank_run runs[2][3];
    uint64_t hash[2] = {
        communicator_hash_runs(runs[0], communicator_runs(low, 3, runs[0])),
        communicator_hash_runs(runs[1], communicator_runs(high, 2, runs[1])),
    };
    uint64_t *keys = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int side = 0; side < 2; side++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            const int *mine = side ? high : low;
            struct communicator *world = add_world(5, mine[0]);
            struct communicator_answer a = answer(mine, side ? 2 : 3, 0);
            struct communicator *local =
                communicator_add(100, world, communicator_count_creation(world), &a);
            for (int i = 0; i < 3; i++) {
                a = answer(mine, side ? 2 : 3, 0);
                a.kind = COMMUNICATOR_INTER;
                a.peers = side ? 3 : 2;
                a.remote_first = (uint32_t)(side ? low : high)[0];
                a.remote_hash = hash[!side];
                struct communicator *inter = communicator_add(
                    200 + (uint64_t)i, local, communicator_count_creation(local), &a);
                keys[3 * side + i] = inter->facts.key;
            }
            _exit(0);
        }
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_assert_eq(status, 0);
    }
    for (int i = 0; i < 3; i++) {
        cr_expect_neq(keys[i], 0);
        cr_expect_eq(keys[i], keys[3 + i]);
        cr_expect_neq(keys[i], keys[(i + 1) % 3]);
    }
}

/* --- handles ---------------------------------------------------------------------------------- */

Test(communicator, a_handle_that_comes_again_is_another_communicator)
{
    struct communicator *world = add_world(1, 0);
    int zero = 0;
    uint32_t last = 1;
    for (int i = 0; i < 1000; i++) {
        struct communicator_answer a = answer(&zero, 1, 0);
        uint32_t generation = memo_generation;
        struct communicator *c =
            communicator_add(77, world, communicator_count_creation(world), &a);
        cr_assert_eq(c->facts.id, last + 1, "ids are never used again");
        last = c->facts.id;
        cr_assert_eq(communicator_find(77), c);
        if (i % 2) { /* freed behind our back otherwise */
            communicator_forget(77);
            cr_assert_null(communicator_find(77));
            cr_assert_neq(memo_generation, generation);
        } else if (i > 0) {
            cr_assert_eq(communicator_find(77)->facts.id, last);
        }
    }
    communicator_forget(12345); /* never known */
}

Test(communicator, replacing_a_handle_changes_the_generation)
{
    struct communicator *world = add_world(1, 0);
    int zero = 0;
    struct communicator_answer a = answer(&zero, 1, 0);
    communicator_add(77, world, 0, &a);
    uint32_t generation = memo_generation;
    a = answer(&zero, 1, 0);
    communicator_add(77, world, 1, &a);
    cr_expect_neq(memo_generation, generation);
}

Test(communicator, of_unknown_origin_no_key_is_known)
{
    add_world(2, 0);
    const int both[] = {0, 1};
    struct communicator_answer a = answer(both, 2, 0);
    struct communicator *c = communicator_add(5, NULL, communicator_count_creation(NULL), &a);
    cr_expect(c->facts.key == 0 && c->facts.parent == -1);
    a = answer(both, 2, 0);
    struct communicator *child = communicator_add(6, c, communicator_count_creation(c), &a);
    cr_expect_eq(child->facts.key, 0, "nor of what is made from it");
    /* Members from another world: no runs. */
    struct communicator_answer none = {.rank = 0, .size = 2, .peers = 2};
    c = communicator_add(7, communicator_find(world_handle), 0, &none);
    cr_expect(c->facts.key == 0 && c->facts.run_count == 0);
}

/* Pages of this process that are in memory. */
static long resident_pages(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert_not_null(file);
    cr_assert_eq(fscanf(file, "%ld %ld", &size, &resident), 2);
    fclose(file);
    return resident;
}

Test(communicator, a_hundred_thousand_come_and_go_in_bounded_memory)
{
    enum { ALIVE = 100, ALL = 100000 };
    struct communicator *world = add_world(2, 0);
    const int both[] = {0, 1};
    long before = 0;
    for (int i = 0; i < ALL; i++) {
        struct communicator_answer a = answer(both, 2, 0);
        cr_assert_not_null(communicator_add(1000 + (uint64_t)i * 16, world,
                                            communicator_count_creation(world), &a));
        if (i >= ALIVE)
            communicator_forget(1000 + (uint64_t)(i - ALIVE) * 16);
        if (i == 1000)
            before = resident_pages();
    }
    cr_expect_leq(resident_pages(), before + 64);
    for (int i = 0; i < ALL; i++) {
        const struct communicator *c = communicator_find(1000 + (uint64_t)i * 16);
        if (i < ALL - ALIVE)
            cr_assert_null(c);
        else
            cr_assert_eq(c->facts.id, (uint32_t)i + 2);
    }
}

Test(communicator, the_table_is_a_map)
{
    enum { HANDLES = 500 };
    static int64_t ids[HANDLES];
    struct communicator *world = add_world(1, 0);
    int zero = 0;
    memset(ids, -1, sizeof ids);
    state = 3;
    for (int step = 0; step < 50000; step++) {
        int n = draw(HANDLES);
        uint64_t handle = UINT64_C(0x84000000) + (uint64_t)n;
        if (draw(2)) {
            struct communicator_answer a = answer(&zero, 1, 0);
            ids[n] =
                communicator_add(handle, world, communicator_count_creation(world), &a)->facts.id;
        } else {
            communicator_forget(handle);
            ids[n] = -1;
        }
        int look = draw(HANDLES);
        const struct communicator *c = communicator_find(UINT64_C(0x84000000) + (uint64_t)look);
        cr_assert_eq(c ? (int64_t)c->facts.id : -1, ids[look]);
    }
    cr_expect_eq(communicator_find(world_handle), world);
}

static void *make_and_free(void *data)
{
    uint64_t base = (uint64_t)(uintptr_t)data << 32;
    struct communicator *world = communicator_find(world_handle);
    int zero = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        struct communicator_answer a = answer(&zero, 1, 0);
        struct communicator *c =
            communicator_add(base + i, world, communicator_count_creation(world), &a);
        if (!c || communicator_find(base + i) != c)
            return "lost";
        communicator_forget(base + i);
    }
    return NULL;
}

Test(communicator, threads_share_the_table)
{
    pthread_t threads[8];
    void *problem;
    add_world(1, 0);
    for (uintptr_t i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, make_and_free, (void *)(i + 1));
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], &problem);
        cr_expect_null(problem);
    }
    cr_expect_eq(communicator_find(world_handle)->creations, 160000);
}

/* --- runs ------------------------------------------------------------------------------------- */

static uint32_t packs(const int *ranks, uint32_t count)
{
    static struct trace_rank_run runs[5000];
    uint32_t made = communicator_runs(ranks, count, runs), n = 0;
    cr_assert_leq(made, count);
    for (uint32_t i = 0; i < made; i++) {
        for (uint32_t k = 0; k < runs[i].count; k++)
            cr_assert_eq((int64_t)runs[i].first + (int64_t)k * runs[i].stride, ranks[n++]);
    }
    cr_assert_eq(n, count);
    return made;
}

Test(communicator, runs_say_what_the_list_said)
{
    static int ranks[5000];
    cr_expect_eq(packs(ranks, 0), 0);
    for (int i = 0; i < 5000; i++)
        ranks[i] = i;
    cr_expect_eq(packs(ranks, 1), 1);
    cr_expect_eq(packs(ranks, 2), 1);
    cr_expect_eq(packs(ranks, 5000), 1);
    for (int i = 0; i < 5000; i++)
        ranks[i] = 10 + 4 * i;
    cr_expect_eq(packs(ranks, 5000), 1);
    for (int i = 0; i < 5000; i++)
        ranks[i] = 5000 - i;
    cr_expect_eq(packs(ranks, 5000), 1);
    memcpy(ranks, (int[]){7, 0, 1, 2, 3}, 5 * sizeof(int));
    cr_expect_eq(packs(ranks, 5), 2, "a pair does not swallow the beginning of a run");
    state = 11;
    for (int round = 0; round < 3000; round++) {
        uint32_t count = (uint32_t)draw(60);
        int rank = draw(1000), stride = 1;
        for (uint32_t i = 0; i < count; i++) {
            if (draw(4) == 0) {
                rank = draw(1 << 26);
                stride = draw(7) - 3;
            }
            ranks[i] = rank < 0 ? 0 : rank;
            rank += stride;
        }
        packs(ranks, count);
    }
}
