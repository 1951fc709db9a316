/* SPDX-License-Identifier: BSD-3-Clause */
/* Varints: every length, every border, and never a byte read behind the end. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "schema/varint.h"

enum { PAGE = 4096 };

/* The last byte before a page that must not be touched, + 1. */
static unsigned char *fence(void)
{
    unsigned char *pages =
        mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(pages, MAP_FAILED);
    cr_assert_eq(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
    return pages + PAGE;
}

/* The size of a value told from the definition. */
static size_t size_of(uint64_t value)
{
    for (size_t n = 1; n <= 8; n++) {
        if (value < UINT64_C(1) << 7 * n)
            return n;
    }
    return 9;
}

static void goes_and_comes(uint64_t value)
{
    unsigned char buffer[VARINT_HEADROOM + 8];
    uint64_t back;
    memset(buffer, 0xa5, sizeof buffer);
    const unsigned char *end = varint_put(buffer, value);
    size_t size = (size_t)(end - buffer);
    cr_assert_eq(size, size_of(value), "%llx: %zu bytes", (unsigned long long)value, size);
    cr_assert_eq(varint_size(value), size);
    for (size_t i = VARINT_HEADROOM; i < sizeof buffer; i++)
        cr_assert_eq(buffer[i], 0xa5, "%llx: byte %zu written", (unsigned long long)value, i);
    /* What the record behind may begin with until it is committed. */
    for (size_t i = size; i < VARINT_HEADROOM; i++)
        cr_assert(buffer[i] == 0xa5 || buffer[i] == 0);
    cr_assert_eq(buffer[0] == 0, size == 9, "a zero first byte means nine bytes");
    if (size < 9)
        cr_assert_eq(__builtin_ctz(buffer[0]), (int)size - 1);
    /* Whatever follows makes no difference. */
    for (int fill = 0; fill < 256; fill += 85) {
        memset(buffer + size, fill, sizeof buffer - size);
        cr_assert_eq(varint_get(buffer, buffer + sizeof buffer, &back), end);
        cr_assert_eq(back, value);
    }
}

Test(varint, every_border)
{
    for (unsigned bits = 0; bits < 64; bits++) {
        uint64_t border = UINT64_C(1) << bits;
        for (int64_t off = -3; off <= 3; off++)
            goes_and_comes(border + (uint64_t)off);
    }
    goes_and_comes(UINT64_MAX);
}

Test(varint, every_short_value)
{
    for (uint64_t value = 0; value < 70000; value++)
        goes_and_comes(value);
}

Test(varint, random_values_of_every_length)
{
    uint64_t state = 42;
    for (int i = 0; i < 300000; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        goes_and_comes(state >> (i % 64));
    }
}

Test(varint, first_byte_is_never_zero_below_two_to_56)
{
    unsigned char buffer[VARINT_HEADROOM];
    for (unsigned bits = 0; bits < 56; bits++) {
        varint_put(buffer, (UINT64_C(1) << bits));
        cr_expect_neq(buffer[0], 0);
    }
    varint_put(buffer, (UINT64_C(1) << 56) - 1);
    cr_expect_neq(buffer[0], 0);
}

Test(varint, reads_right_up_to_the_end)
{
    unsigned char *end = fence();
    for (unsigned bits = 0; bits < 64; bits++) {
        unsigned char encoded[VARINT_HEADROOM];
        uint64_t value = UINT64_MAX >> bits, back = 0;
        size_t size = (size_t)(varint_put(encoded, value) - encoded);
        memcpy(end - size, encoded, size);
        cr_assert_eq(varint_get(end - size, end, &back), end);
        cr_assert_eq(back, value);
    }
}

Test(varint, cut_off_at_every_length)
{
    unsigned char *end = fence();
    uint64_t back;
    for (size_t size = 1; size <= 9; size++) {
        unsigned char encoded[VARINT_HEADROOM];
        uint64_t value = size == 9 ? UINT64_MAX : (UINT64_C(1) << 7 * size) - 1;
        cr_assert_eq((size_t)(varint_put(encoded, value) - encoded), size);
        for (size_t kept = 0; kept < size; kept++) {
            memcpy(end - kept, encoded, kept);
            cr_assert_null(varint_get(end - kept, end, &back), "%zu of %zu bytes", kept, size);
        }
    }
}

Test(varint, any_bytes_before_a_fence)
{
    unsigned char *end = fence();
    uint64_t state = 7, back;
    for (int i = 0; i < 200000; i++) {
        size_t size = (size_t)(i % 12);
        for (size_t k = 0; k < size; k++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            (end - size)[k] = (unsigned char)(state >> 40 >> (state >> 61));
        }
        const unsigned char *after = varint_get(end - size, end, &back);
        cr_assert(!after || (after > end - size && after <= end));
    }
}

Test(varint, zigzag_keeps_every_value)
{
    static const struct {
        int64_t value;
        uint64_t encoded;
    } pairs[] = {{0, 0},
                 {-1, 1},
                 {1, 2},
                 {-2, 3},
                 {2, 4},
                 {63, 126},
                 {INT64_MAX, UINT64_MAX - 1},
                 {INT64_MIN, UINT64_MAX}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        cr_expect_eq(zigzag_encode(pairs[i].value), pairs[i].encoded);
        cr_expect_eq(zigzag_decode(pairs[i].encoded), pairs[i].value);
    }
}
