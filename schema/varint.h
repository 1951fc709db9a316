/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers in one to nine bytes, the length in the first byte.
 *
 * A value below 2^(7 n) takes n <= 8 bytes, little endian: (value << n) | 1 << (n - 1), so the
 * number of trailing zero bits of the first byte is n - 1. Larger values take a zero byte and eight
 * bytes of value. The first byte of a value below 2^56 is therefore never zero, which lets zero
 * mean "nothing here yet" in a trace.
 */
#ifndef SCOPE_VARINT_H
#define SCOPE_VARINT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the trace format is little endian; big-endian hosts are not supported"
#endif

enum {
    VARINT_MAX = 9,      /* bytes of the longest varint */
    VARINT_HEADROOM = 16 /* bytes that must be writable at the place varint_put writes to */
};

/* How many bytes a value below 2^56 takes beyond the first: its top bit's number divided by 7. */
static inline unsigned varint_extra(uint64_t value)
{
    unsigned top = 63 ^ (unsigned)__builtin_clzll(value | 1);
    return (9 * top + 9) >> 6;
}

/* Bytes that varint_put writes for value: 1 to 9. */
static inline size_t varint_size(uint64_t value)
{
    return value >> 56 ? 9 : varint_extra(value) + 1;
}

/* The bytes of a value below 2^56 as one little-endian word. extra: varint_extra(value). */
static inline uint64_t varint_word(uint64_t value, unsigned extra)
{
    return (2 * value + 1) << extra;
}

/* varint_put for a value that is known to be below 2^56. */
static inline unsigned char *varint_put_short(unsigned char *p, uint64_t value)
{
    unsigned extra = varint_extra(value);
    uint64_t word = varint_word(value, extra);
    memcpy(p, &word, 8);
    return p + extra + 1;
}

/* Writes value at p and returns the end. Bytes up to p + VARINT_HEADROOM may be set to zero. */
static inline unsigned char *varint_put(unsigned char *p, uint64_t value)
{
    if (__builtin_expect(value >> 56 == 0, 1))
        return varint_put_short(p, value);
    *p = 0;
    memcpy(p + 1, &value, 8);
    return p + 9;
}

/* Reads a varint from [p, end) into *value.
 * Returns its end, or NULL if it does not fit before end; never reads at or past end.
 */
static inline const unsigned char *varint_get(const unsigned char *p, const unsigned char *end,
                                              uint64_t *value)
{
    uint64_t word = 0;
    if (p >= end)
        return NULL;
    size_t left = (size_t)(end - p);
    if (*p == 0) {
        if (left < 9)
            return NULL;
        memcpy(value, p + 1, 8);
        return p + 9;
    }
    size_t size = (size_t)__builtin_ctz(*p) + 1;
    if (size > left)
        return NULL;
    memcpy(&word, p, left < 8 ? size : 8);
    *value = word << (64 - 8 * size) >> (64 - 7 * size); /* drops what follows, then the length */
    return p + size;
}

/* Signed values as unsigned ones, small magnitudes first: 0, -1, 1, -2, ... */
static inline uint64_t zigzag_encode(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t zigzag_decode(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
