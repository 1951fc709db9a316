/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of a call its label tells: readers take long over very many different labels. */
#ifndef SCOPE_LABELS_H
#define SCOPE_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#include "schema/region_label.h"

enum labels {
    LABELS_AUTO,       /* as much as readers can do with */
    LABELS_FULL,       /* everything */
    LABELS_SIZE_CLASS, /* bytes up to the next power of two */
    LABELS_PEER,       /* neither bytes nor tags, but with whom */
    LABELS_OP,         /* the operation alone, and that of the request */
};

/* The name of a grain as --labels= has it, and the grain of that name: false if there is none. */
const char *labels_word(enum labels labels);
bool labels_read(const char *word, enum labels *labels);

/* Makes the label as coarse as that. */
void labels_coarsen(enum labels labels, struct region_label *label);

/* Whether so many different labels, in so many rows of one rank and label each, are more than
 * readers can do with in a file of that many ranks. */
bool labels_are_many(size_t ranks, size_t names, size_t rows);

#endif
