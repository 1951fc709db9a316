/* SPDX-License-Identifier: BSD-3-Clause */
/* The standard streams of a command line tool. */
#ifndef SCOPE_STREAMS_H
#define SCOPE_STREAMS_H

/* To be called first in main. A standard stream that is closed is taken by /dev/null, opened the
 * wrong way round: a file that is opened later never gets its number, and using it stays an error.
 * Writing past `ulimit -f` becomes the error EFBIG instead of SIGXFSZ. */
void streams_prepare(void);

/* To be called before the command line is read: what --help and --version print is checked at exit,
 * too. If it could not be written, that is said and the exit status is 3. */
void streams_check_at_exit(void);

/* Flushes standard output at the end. Returns 0, also if whoever read it (head, a pager) has seen
 * enough, or -1 if something that was printed could not be written. */
int streams_finish(void);

#endif
