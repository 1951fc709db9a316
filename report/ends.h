/* SPDX-License-Identifier: BSD-3-Clause */
/* How ranks ended, in a sentence. */
#ifndef SCOPE_ENDS_H
#define SCOPE_ENDS_H

#include <stdbool.h>
#include <stddef.h>

#include "schema/profile_row.h"
#include "schema/rank_groups.h"

/* Writes "ranks 0-1,3: normal; rank 2: signal 11 (SIGSEGV)", if some of the count ranks did not end
 * as they should, as far as it is known. Returns whether it did. */
bool ends_sentence(const struct profile_end *const *ends, size_t count,
                   char sentence[static RANK_GROUPS_SENTENCE]);

#endif
