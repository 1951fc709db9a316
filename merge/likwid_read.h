/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics as LIKWID itself computes them: sp-likwid-read is asked, in a process of its own.
 *
 * liblikwid knows events and metrics only where it has made itself ready to count them on the same
 * type of processor, which sets counters to zero, and may end, crash or hang. So it is asked only
 * where the ranks' processor is this host's and no step runs here, and its answer is an addition:
 * in the file is what the marker file says, with the names of the record, and whatever differs from
 * these is refused.
 *
 * Ranks that have the same events, and as many CPUs on as many sockets, are one question: their
 * regions become one marker file, whose tags are numbers and whose rows are there for each CPU.
 */
#ifndef SCOPE_LIKWID_READ_H
#define SCOPE_LIKWID_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/likwid_rank.h"
#include "schema/error.h"

enum { LIKWID_READ_SECONDS = 120 };

struct likwid_reader {
    int64_t left_ms;        /* of the time that may be taken for all questions; 0: none is asked */
    int run;                /* the run directory */
    const char *over;       /* the step that has ended; "" if that is not known */
    struct error given_up;  /* why no further question is asked; "" at first */
    struct error failure;   /* what went wrong once it was asked; "" at first */
    bool has_looked;        /* whether anything speaks against asking at all */
};

/* Gives the regions of those ranks metrics for which LIKWID can be asked, and the source full_api;
 * the others are told why not (rank->not_read). Returns 0, or -1 if memory is out. */
int likwid_reader_ask(struct likwid_reader *reader, struct likwid_rank *ranks, size_t count);

#endif
