/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of signatures is a map that may forget everything, but never tells a wrong id. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "preload/signature_table.h"

static struct signature_table table;
static uint64_t state = 1;

static int draw(int below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)below);
}

/* The n-th of many signatures: they differ in one field, which one is in turn. */
static struct trace_signature nth(int n)
{
    struct trace_signature s = {
        .operation = 1, .bytes = -1, .peer = -1, .root = -1, .tag = -1, .communicator = -1};
    int value = n / 7;
    switch (n % 7) {
    case 0:
        s.operation = 2 + (uint32_t)value;
        break;
    case 1:
        s.origin = 1 + (uint32_t)value;
        break;
    case 2:
        s.bytes = (int64_t)value << 20;
        break;
    case 3:
        s.peer = value;
        break;
    case 4:
        s.root = value;
        break;
    case 5:
        s.tag = value;
        break;
    default:
        s.communicator = value;
    }
    return s;
}

static uint32_t find(int n)
{
    struct trace_signature s = nth(n);
    struct signature_key key = signature_key(&s);
    return signature_table_find(&table, &key);
}

static void add(int n, uint32_t id)
{
    struct trace_signature s = nth(n);
    struct signature_key key = signature_key(&s);
    signature_table_add(&table, &key, id);
}

static void init(void)
{
    cr_assert(signature_table_init(&table));
}

Test(signature_table, a_key_keeps_every_field, .init = init)
{
    for (int round = 0; round < 100000; round++) {
        struct trace_signature s = {.operation = (uint32_t)draw(INT32_MAX) * 2,
                                    .origin = (uint32_t)draw(INT32_MAX) * 2 + 1,
                                    .bytes = (int64_t)draw(INT32_MAX) * draw(INT32_MAX) - 1,
                                    .peer = draw(INT32_MAX) - 5,
                                    .root = draw(100) - 5,
                                    .tag = -draw(INT32_MAX),
                                    .communicator = draw(1000) - 1};
        struct signature_key key = signature_key(&s);
        struct trace_signature back = signature_of_key(&key);
        cr_assert(back.operation == s.operation && back.origin == s.origin &&
                  back.bytes == s.bytes && back.peer == s.peer && back.root == s.root &&
                  back.tag == s.tag && back.communicator == s.communicator);
    }
}

Test(signature_table, an_empty_table_holds_nothing, .init = init)
{
    for (int n = 0; n < 1000; n++)
        cr_assert_eq(find(n), UINT32_MAX);
    signature_table_release(&table);
}

Test(signature_table, signatures_that_differ_in_one_field_are_told_apart, .init = init)
{
    enum { ALL = 7000 };
    for (int n = 0; n < ALL; n++) {
        cr_assert_eq(find(n), UINT32_MAX, "%d", n);
        add(n, (uint32_t)n + 3);
        cr_assert_eq(find(n), (uint32_t)n + 3);
    }
    for (int n = 0; n < ALL; n++)
        cr_assert_eq(find(n), (uint32_t)n + 3);
    signature_table_release(&table);
}

/* As the recorder uses it: what is not found is defined anew, under the next id. */
Test(signature_table, what_is_found_is_the_id_given_last, .init = init)
{
    enum { ALL = 60000 };
    uint32_t *last = calloc(ALL, sizeof *last); /* id + 1 */
    uint32_t next = 0;
    int forgotten = 0;
    for (int step = 0; step < 2000000; step++) {
        int n = draw(step % 3 ? 500 : ALL);
        uint32_t id = find(n);
        if (id != UINT32_MAX) {
            cr_assert_eq(id + 1, last[n]);
            continue;
        }
        forgotten += last[n] != 0;
        add(n, next);
        last[n] = ++next;
        cr_assert_eq(find(n), next - 1);
        /* any id that was ever given leads to its own entry or to none */
        uint32_t other = (uint32_t)draw((int)next);
        const struct signature_entry *entry = signature_table_entry(&table, other);
        cr_assert(!entry || entry->id == other);
        cr_assert_eq(signature_table_entry(&table, next - 1)->id, next - 1);
        cr_assert_null(signature_table_entry(&table, next));
    }
    cr_expect_gt(forgotten, 0, "the bound was reached");
    cr_expect_leq(table.mask, 32767, "and kept");
    signature_table_release(&table);
    free(last);
}

Test(signature_table, a_program_that_never_repeats_itself_stays_within_the_bound, .init = init)
{
    for (int n = 0; n < 3000000; n++) {
        add(n, (uint32_t)n);
        cr_assert_eq(find(n), (uint32_t)n);
    }
    cr_expect_leq(table.mask, 32767);
    cr_expect_leq(table.count, 16385);
    signature_table_release(&table);
}
