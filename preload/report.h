/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library says to the user: one line of each kind, and it is the first rank that says it.
 */
#ifndef SCOPE_REPORT_H
#define SCOPE_REPORT_H

/* No line keeps one of another kind back. */
enum report_kind {
    REPORT_PROFILING, /* why nothing is recorded */
    REPORT_TOOLS,     /* what a QMPI tool does wrong */
    REPORT_LOADING,   /* what cannot be loaded: see below */
    REPORT_KINDS
};

/* Prints "scope-profile: MESSAGE" on stderr, once per process and kind, in the first rank.
 *
 * What cannot be loaded may be missing on one node alone: that is said by the first rank of each of
 * the job's first nodes, 16 lines at most, and on other nodes than the first with the host's name.
 */
void report_once(enum report_kind kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
