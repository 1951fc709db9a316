/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the names that we export are to be had in this process.
 *
 * We export every MPI function there is, but a program may ask whether its MPI has one: by a weak
 * reference, which the loader binds to us, and which would be NULL without us. So the names that
 * nobody serves are taken back.
 */
#ifndef SCOPE_EXPORTS_H
#define SCOPE_EXPORTS_H

/* Takes back what neither library, a dlopen handle of the MPI library, nor another in search order
 * has: what is loaded from now on does not find it, and weak references that were bound to it
 * become NULL. Once; where memory cannot be written to it stays as it is. errno is kept. Not to be
 * called from a callback of dl_iterate_phdr.
 *
 * library may be NULL at the start of a process, while only objects are loaded that it was started
 * with: then their references alone are looked into. */
void exports_settle(void *library);

#endif
