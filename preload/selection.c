/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions are recorded: what the user's word mpi-calls=... picks. */
#include "preload/selection.h"

#include <stddef.h>
#include <string.h>

#include "schema/mpi_kind.h"

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

/* Behind the next comma that separates words; NULL if there is none. */
static const char *next_word(const char *word)
{
    for (; *word; word++) {
        if (*word == '\\' && word[1])
            word++;
        else if (*word == ',')
            return word + 1;
    }
    return NULL;
}

/* The value of a word of WHAT, up to the next comma; "" without one. option: "mpi-calls=" */
static const char *value_of(const char *what, const char *option)
{
    while (what && strncmp(what, option, strlen(option)) != 0)
        what = next_word(what);
    return what ? what + strlen(option) : "";
}

static bool is_value(const char *what, const char *option, const char *wanted)
{
    const char *value = value_of(what, option);
    size_t length = strcspn(value, ",");
    return length == strlen(wanted) && strncmp(value, wanted, length) == 0;
}

struct selection selection_read(const char *what)
{
    struct selection selection = {.each_poll = is_value(what, "polls=", "all"),
                                  .paused = is_value(what, "start=", "paused")};
    for (const char *word = value_of(what, "mpi-calls="); *word && *word != ',';) {
        size_t length = strcspn(word, "+,");
        enum mpi_kind kind = mpi_kind_from_word(word, length);
        if (kind != KIND_COUNT)
            selection.kinds |= UINT32_C(1) << kind;
        else if (length == strlen("all") && strncmp(word, "all", length) == 0)
            selection.local = true;
        word += length + (word[length] == '+');
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
