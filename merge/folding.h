/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks of a world are folded into a file, several at a time. */
#ifndef SCOPE_FOLDING_H
#define SCOPE_FOLDING_H

#include <stdbool.h>
#include <stdint.h>

#include "merge/fold.h"
#include "merge/losses.h"
#include "merge/progress.h"
#include "schema/error.h"
#include "schema/profile_writer.h"

struct folding {
    struct fold *fold; /* planned */
    int dirfd;         /* of the traces */
    const char *path;  /* of the file */
    struct profile_form form;
    uint64_t most_bytes; /* that the file may have; with more it gets statistics alone; 0: any */
    struct losses *losses;
    struct progress *progress;
    struct profile_writer *writer; /* once folded: the file, with all that follows from events */
};

/* Makes the file and folds the ranks into it; form.is_aggregate then says whether the events had to
 * be left out. Returns 0, or -1 and err, with no writer left. */
int folding_run(struct folding *folding, struct error *err);

#endif
