/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library says to the user: at most one line per job. */
#ifndef SCOPE_REPORT_H
#define SCOPE_REPORT_H

/* Prints "scope-profile: MESSAGE" on stderr, once per process and in the first rank only. */
void report_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
