/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of MPI operations, the words of the region labels. */
#include "schema/mpi_kind.h"

#include <string.h>

static const char *const words[KIND_COUNT] = {
    [KIND_POINT_TO_POINT] = "point-to-point",
    [KIND_COLLECTIVE] = "collective",
    [KIND_WAIT] = "wait",
    [KIND_POLL] = "poll",
    [KIND_ONE_SIDED] = "one-sided",
    [KIND_IO] = "io",
    [KIND_COMMUNICATOR] = "communicator",
    [KIND_TOPOLOGY] = "topology",
    [KIND_OTHER] = "other",
};

const char *mpi_kind_word(unsigned kind)
{
    return words[kind < KIND_COUNT ? kind : KIND_OTHER];
}

enum mpi_kind mpi_kind_from_word(const char *word, unsigned long length)
{
    for (enum mpi_kind kind = 0; kind < KIND_COUNT; kind++) {
        if (strlen(words[kind]) == length && memcmp(words[kind], word, length) == 0)
            return kind;
    }
    return KIND_COUNT;
}
