/* SPDX-License-Identifier: BSD-3-Clause */
/* One error message on its way up to whoever can tell the user. */
#include "schema/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *err, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return -1;
}
