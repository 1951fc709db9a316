/* SPDX-License-Identifier: BSD-3-Clause */
/* One error message on its way up to whoever can tell the user. */
#ifndef SCOPE_ERROR_H
#define SCOPE_ERROR_H

enum { ERROR_TEXT_SIZE = 1024 };

struct error {
    char text[ERROR_TEXT_SIZE];
};

/* Formats the message into err->text, cut to fit; err may be NULL.
 * Always returns -1, so that a failure is one line where it happens:
 *     return error_set(err, "cannot open %s: %s", path, strerror(errno));
 */
int error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
