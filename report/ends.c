/* SPDX-License-Identifier: BSD-3-Clause */
/* How ranks ended, in a sentence. */
#include "report/ends.h"

#include <string.h>

/* A rank that came to MPI_Finalize, and of whose end nothing is known, is nothing to tell of. */
static bool is_as_it_should(const struct profile_end *end)
{
    return strcmp(end->text, "normal") == 0 ||
           (end->status < 0 && strcmp(end->state, "complete") == 0);
}

bool ends_sentence(const struct profile_end *const *ends, size_t count,
                   char sentence[static RANK_GROUPS_SENTENCE])
{
    struct rank_groups groups = {.count = 0};
    bool is_worth_it = false;
    for (size_t i = 0; i < count; i++) {
        is_worth_it |= !is_as_it_should(ends[i]);
        rank_groups_add(&groups, ends[i]->rank, ends[i]->text);
    }
    if (is_worth_it)
        rank_groups_print(&groups, sentence);
    return is_worth_it;
}
