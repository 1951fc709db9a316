/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks left in a step's directory of a spool, and whatever else its user put there.
 *
 * For processes that have the user's ids and are about to end: descriptors are left open. They may
 * be forked from one with threads, so nothing but system calls is made: no opendir.
 */
#ifndef SCOPE_SPOOL_FILES_H
#define SCOPE_SPOOL_FILES_H

/* Copies all traces in the directory path into the file container of the run directory run, if
 * there are any and that is there and no link. A container that is complete stays as it is: it has
 * what was in the spool before somebody began to empty it. Returns 0, or -1 with errno if it could
 * not be done; the container tells whether it has all. */
int spool_files_copy(const char *path, const char *run, const char *container);

/* Removes what is in the directory, links themselves and not what they point to. Returns 0, or -1
 * with errno if it cannot be looked at. */
int spool_files_remove(const char *path);

#endif
