/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes as people write them: "10G". */
#include "schema/size_text.h"

#include <string.h>

bool size_text_read(const char *text, size_t length, uint64_t *bytes)
{
    static const char units[] = "kKmMgGtT";
    const char *unit = length > 0 && text[length - 1] ? strchr(units, text[length - 1]) : NULL;
    unsigned shift = unit ? (unsigned)((unit - units) / 2 + 1) * 10 : 0;
    uint64_t number = 0;
    if (unit)
        length--;
    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number > INT64_MAX / 10)
            return false;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    if (number == 0 || number > (uint64_t)INT64_MAX >> shift)
        return false;
    *bytes = number << shift;
    return true;
}
