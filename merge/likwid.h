/* SPDX-License-Identifier: BSD-3-Clause */
/* What LIKWID counted in a rank: its record and its marker file become a part of the profile. */
#ifndef SCOPE_MERGE_LIKWID_H
#define SCOPE_MERGE_LIKWID_H

#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"
#include "schema/profile_writer.h"

/* Writes /rank<N>/likwid from the files beside the rank's trace in dirfd. A rank that was not to be
 * counted has none of them, and gets no group. why: "" if all is there, else why nothing was
 * counted, or what is missing. Returns 0, or -1 and err: memory, or what cannot be written. */
int likwid_write(int dirfd, uint32_t rank, struct profile_writer *writer, struct error *why,
                 struct error *err);

/* Removes those files. Returns 0, or -1 and errno. */
int likwid_remove(int dirfd, uint32_t rank);

#endif
