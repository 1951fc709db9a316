/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of KEY=VALUE lines: each byte but printable ASCII, and '%' itself, as %XX. */
#include "schema/percent.h"

#include <stdbool.h>

static bool is_plain(unsigned char c)
{
    return c >= ' ' && c < 127 && c != '%';
}

size_t percent_size(const char *value)
{
    size_t size = 0;
    for (; *value; value++)
        size += is_plain((unsigned char)*value) ? 1 : 3;
    return size;
}

char *percent_encode(char *p, const char *value)
{
    static const char digits[] = "0123456789ABCDEF";
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (is_plain(c)) {
            *p++ = (char)c;
            continue;
        }
        *p++ = '%';
        *p++ = digits[c >> 4];
        *p++ = digits[c & 15];
    }
    return p;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

int percent_decode(char *value)
{
    char *to = value;
    for (const char *from = value; *from;) {
        if (is_plain((unsigned char)*from)) {
            *to++ = *from++;
            continue;
        }
        int high = *from == '%' ? hex_digit(from[1]) : -1;
        int low = high >= 0 ? hex_digit(from[2]) : -1;
        if (low < 0 || (high | low) == 0)
            return -1;
        *to++ = (char)(high << 4 | low);
        from += 3;
    }
    *to = '\0';
    return 0;
}
