/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of a call its label tells. */
#include "merge/labels.h"

#include <stdint.h>
#include <string.h>

#include "schema/trace_format.h"

static const char *const words[] = {
    [LABELS_AUTO] = "auto", [LABELS_FULL] = "full", [LABELS_SIZE_CLASS] = "size-class",
    [LABELS_PEER] = "peer", [LABELS_OP] = "op",
};

const char *labels_word(enum labels labels)
{
    return words[labels];
}

bool labels_read(const char *word, enum labels *labels)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(word, words[i]) == 0) {
            *labels = (enum labels)i;
            return true;
        }
    }
    return false;
}

/* What the Python package 0.7 takes, measured as schema/PROFILE.md tells: to read a row; and in its
 * `inspect`, which people use up to so many ranks, per name, and per row and rank. */
static const double row_seconds = 50e-6, inspect_name_seconds = 2.6e-3, inspect_row_seconds = 5e-6;
enum { INSPECT_RANKS = 128, SECONDS_MAX = 8 }; /* of 10 s that people may wait */

bool labels_are_many(size_t ranks, size_t names, size_t rows)
{
    double reading = row_seconds * (double)rows;
    double inspecting =
        inspect_name_seconds * (double)names + inspect_row_seconds * (double)rows * (double)ranks;
    return reading > SECONDS_MAX || (ranks <= INSPECT_RANKS && inspecting > SECONDS_MAX);
}

/* The next power of two; what is not known and what is 0 stays so. */
static int64_t size_class(int64_t bytes)
{
    int64_t class = 1;
    while (class < bytes && class <= INT64_MAX / 2)
        class *= 2;
    return bytes <= 0 ? bytes : class;
}

void labels_coarsen(enum labels labels, struct region_label *label)
{
    if (labels == LABELS_SIZE_CLASS)
        label->bytes = size_class(label->bytes);
    if (labels >= LABELS_PEER)
        label->bytes = label->tag = -1;
    if (labels >= LABELS_OP)
        label->peer = label->root = label->communicator = PEER_NONE;
}
