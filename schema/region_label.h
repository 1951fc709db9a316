/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of an MPI region, in the grammar of the Python package scope-profiler:
 *     mpi:OP kind=KIND bytes=N peer=N root=N tag=N comm=N[ request=OP]
 */
#ifndef SCOPE_REGION_LABEL_H
#define SCOPE_REGION_LABEL_H

#include <stddef.h>
#include <stdint.h>

#include "schema/mpi_kind.h"

enum { REGION_LABEL_SIZE = 320 }; /* room for the longest label and its terminator */
enum { REGION_TAGS_SIZE = 512 };  /* room for the longest tags text and its terminator */

#define REGION_SESSION "scope_profiler.session" /* MPI_Init's end to MPI_Finalize's start */

struct region_label {
    const char *operation; /* at most TRACE_NAME_MAX bytes of [a-z0-9_] */
    const char *request;   /* operation that made the request, "unknown", "mixed"; NULL: none */
    enum mpi_kind kind;
    int64_t bytes, peer, root, tag, communicator;
};

/* Writes the label, terminated, and returns its length. */
size_t region_label_print(const struct region_label *label, char text[static REGION_LABEL_SIZE]);

/* Writes what the package keeps beside a label: a JSON array of strings such as "mpi.bytes:64". */
size_t region_label_print_tags(const struct region_label *label,
                               char text[static REGION_TAGS_SIZE]);

#endif
