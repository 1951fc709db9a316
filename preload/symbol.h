/* SPDX-License-Identifier: BSD-3-Clause */
/* dlsym, which is interposed so that programs which look MPI up (ctypes, Julia) are seen as well.
 *
 * A function of the MPI library is answered with ours, unless the caller is a tool that defines it
 * as well; a name that only we have, because this MPI lacks it, is not there. All other lookups
 * jump on to the C library with the caller's return address untouched, which RTLD_NEXT goes by.
 */
#ifndef SCOPE_SYMBOL_H
#define SCOPE_SYMBOL_H

/* The dlsym behind ours, asked by this library; NULL if the process has none. */
void *symbol_find(void *handle, const char *name);

/* Called by the exported dlsym (trampolines.S) for names that may be of MPI, and as long as
 * symbol_next is NULL: returns the function to jump on to, or NULL with *answer for the caller. */
void *symbol_answer(void *handle, const char *name, const void *caller, void **answer);

extern void *symbol_next; /* the dlsym behind ours; NULL: not known yet */

#endif
