/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories in the spool whose step's slurmstepd was killed, or whose node was started anew. */
#ifndef SCOPE_SPOOL_LEFTOVERS_H
#define SCOPE_SPOOL_LEFTOVERS_H

#include "spank/settings.h"

/* As root: removes those in the spool, open as place, that no slurmstepd holds and that no entry of
 * the registry leaves to an epilog; what is in them as their user. Takes two seconds at most; the
 * rest is for the next time. */
void spool_leftovers_remove(int place, const struct settings *settings);

#endif
