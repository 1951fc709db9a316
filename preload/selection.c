/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions are recorded: what the user's word mpi-calls=... picks. */
#include "preload/selection.h"

#include <stddef.h>
#include <string.h>

#include "schema/mpi_kind.h"
#include "schema/options.h"

enum { ALL_KINDS = (1 << KIND_COUNT) - 1 };

#define KIND(function, operation, kind) 1 << kind,
static const uint16_t kinds[FUNCTION_COUNT] = {MPI_FUNCTIONS(KIND)};
#undef KIND
#define LOCAL(function, local) local,
static const bool is_local[FUNCTION_COUNT] = {MPI_FUNCTIONS_LOCAL(LOCAL)};
#undef LOCAL
#define POLLS(function, polls) (polls) << KIND_POLL,
static const uint16_t polls[FUNCTION_COUNT] = {MPI_FUNCTIONS_POLLS(POLLS)};
#undef POLLS

static bool is_value(const char *what, const char *name, const char *wanted)
{
    size_t length;
    const char *value = options_value(what, name, &length);
    return value && length == strlen(wanted) && strncmp(value, wanted, length) == 0;
}

struct selection selection_read(const char *what)
{
    struct selection selection = {.each_poll = is_value(what, "polls", "all"),
                                  .paused = is_value(what, "start", "paused"),
                                  .local = is_value(what, "mpi-calls", "all")};
    size_t left;
    const char *word = options_value(what, "mpi-calls", &left);
    while (word && left > 0) {
        size_t length = strcspn(word, "+,");
        enum mpi_kind kind = mpi_kind_from_word(word, length);
        if (kind != KIND_COUNT)
            selection.kinds |= UINT32_C(1) << kind;
        length += word[length] == '+';
        word += length;
        left -= length;
    }
    if (!selection.kinds)
        selection.kinds = ALL_KINDS;
    return selection;
}

bool selection_has(const struct selection *selection, enum mpi_function function)
{
    uint32_t of = kinds[function] | polls[function];
    return of & selection->kinds && (selection->local || !is_local[function]);
}
