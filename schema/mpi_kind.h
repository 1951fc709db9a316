/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of MPI operations, the words of the region labels. */
#ifndef SCOPE_MPI_KIND_H
#define SCOPE_MPI_KIND_H

enum mpi_kind {
    KIND_POINT_TO_POINT,
    KIND_COLLECTIVE,
    KIND_WAIT,
    KIND_POLL,
    KIND_ONE_SIDED,
    KIND_IO,
    KIND_COMMUNICATOR,
    KIND_TOPOLOGY,
    KIND_OTHER,
    KIND_COUNT
};

/* The word for kind as it stands in labels and options, e.g. "point-to-point"; "other" for a number
 * that is none of the enumeration. */
const char *mpi_kind_word(unsigned kind);

/* The kind that is called word (length bytes, no terminator needed), or KIND_COUNT if none is. */
enum mpi_kind mpi_kind_from_word(const char *word, unsigned long length);

#endif
