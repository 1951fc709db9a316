/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks do at this moment, for people. */
#ifndef SCOPE_LIVE_TEXT_H
#define SCOPE_LIVE_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "merge/live.h"
#include "merge/live_group.h"

/* Prints what the ranks have in common, then one line per rank (at most limit of them), then what
 * the reader has to know beside. name: of the run. */
void live_text_print(FILE *stream, const char *name, const struct live *live,
                     const struct live_groups *groups, uint64_t limit);

#endif
