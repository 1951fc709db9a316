/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that a rank did not come back from, or that it was in none, in words. */
#ifndef SCOPE_LAST_CALLS_H
#define SCOPE_LAST_CALLS_H

#include <stdbool.h>

#include "merge/rank.h"

/* Returns "mpi:recv from 1 (tag 7)", and with_times, "mpi:recv from 1 (tag 7) for 31.2 s": up to
 * the rank's end where an exit record tells it, "for at most" where that is of its task or
 * launcher, else "for at least" up to its own last sign of life. Polls are told as "mpi:test for
 * irecv from 1 (tag 7) again and again for 31.2 s". Several threads are told one after the other.
 * "" if the rank was in no call. To be freed; NULL if memory is out. The rank has to be on the
 * timeline, and the communicators settled. */
char *last_calls_text(const struct rank *rank, const struct vocabulary *vocabulary,
                      bool with_times);

/* Whether last_calls_text tells the request that each of the calls waits for; false if there is no
 * call. */
bool last_calls_tell_requests(const struct rank *rank, const struct vocabulary *vocabulary);

/* Returns "in " and rank->in_flight, or else "outside MPI for 12.3 s"; "" where that is not known.
 * To be freed; NULL if memory is out. */
char *last_calls_place(const struct rank *rank);

#endif
