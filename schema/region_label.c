/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of an MPI region, in the grammar of the Python package scope-profiler. */
#include "schema/region_label.h"

#include <inttypes.h>
#include <stdio.h>

#include "schema/trace_format.h"

/* An operation that is too long would not fit the buffers: it is cut, never written past them. */
#define NAME "%.*s"
#define NAME_ARGS(name) TRACE_NAME_MAX, (name)

/* 5 numbers of at most 20 characters, two names and the words of the grammar. */
_Static_assert(REGION_LABEL_SIZE > 5 * 20 + 2 * TRACE_NAME_MAX + 80, "a label fits");
_Static_assert(REGION_TAGS_SIZE > 5 * 20 + 2 * TRACE_NAME_MAX + 180, "tags fit");

size_t region_label_print(const struct region_label *label, char text[static REGION_LABEL_SIZE])
{
    int length = snprintf(text, REGION_LABEL_SIZE,
                          "mpi:" NAME " kind=%s bytes=%" PRId64 " peer=%" PRId64 " root=%" PRId64
                          " tag=%" PRId64 " comm=%" PRId64,
                          NAME_ARGS(label->operation), mpi_kind_word(label->kind), label->bytes,
                          label->peer, label->root, label->tag, label->communicator);
    if (label->request)
        length += snprintf(text + length, REGION_LABEL_SIZE - (size_t)length, " request=" NAME,
                           NAME_ARGS(label->request));
    return (size_t)length;
}

size_t region_label_print_tags(const struct region_label *label, char text[static REGION_TAGS_SIZE])
{
    int length =
        snprintf(text, REGION_TAGS_SIZE,
                 "[\"mpi\", \"mpi.kind:%s\", \"mpi.operation:" NAME "\", \"mpi.bytes:%" PRId64
                 "\", \"mpi.peer:%" PRId64 "\", \"mpi.root:%" PRId64 "\", \"mpi.tag:%" PRId64
                 "\", \"mpi.communicator:%" PRId64 "\"",
                 mpi_kind_word(label->kind), NAME_ARGS(label->operation), label->bytes, label->peer,
                 label->root, label->tag, label->communicator);
    if (label->request)
        length += snprintf(text + length, REGION_TAGS_SIZE - (size_t)length,
                           ", \"mpi.request:" NAME "\"", NAME_ARGS(label->request));
    length += snprintf(text + length, REGION_TAGS_SIZE - (size_t)length, "]");
    return (size_t)length;
}
