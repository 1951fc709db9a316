/* SPDX-License-Identifier: BSD-3-Clause */
/* What LIKWID's regions had when a rank's trace was last written to (AREA_COUNTERS): for ranks
 * whose markers were never closed. */
#ifndef SCOPE_LIKWID_SNAPSHOT_H
#define SCOPE_LIKWID_SNAPSHOT_H

#include "merge/likwid_marker.h"

/* Reads them from the trace dirfd/name, as if a marker file told them. Returns 0 and *marker, to be
 * released; 1 if the trace has none, or cannot be read; or -1 if memory is out. */
int likwid_snapshot_read(struct likwid_marker *marker, int dirfd, const char *name);

#endif
