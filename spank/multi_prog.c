/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of programs of "srun --multi-prog": which one a task runs. */
#include "spank/multi_prog.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Reads digits; false if there are none. A number that is too large becomes the largest. */
static bool take_number(const char **text, uint64_t *number)
{
    const char *p = *text;
    for (*number = 0; *p >= '0' && *p <= '9'; p++)
        *number = *number > UINT32_MAX ? *number : *number * 10 + (uint64_t)(*p - '0');
    bool any = p > *text;
    *text = p;
    return any;
}

/* Whether task is among ranks, which end at the first byte that cannot belong to them. */
static bool holds(const char *ranks, uint32_t task)
{
    uint64_t first, last;
    if (*ranks == '*')
        return true;
    while (take_number(&ranks, &first)) {
        last = first;
        if (*ranks == '-') {
            ranks++;
            if (!take_number(&ranks, &last))
                return false;
        }
        if (task >= first && task <= last)
            return true;
        if (*ranks == ',')
            ranks++;
    }
    return false;
}

int multi_prog_find(const char *list, uint32_t task, char *program, size_t size)
{
    static const char blanks[] = " \t\r";
    for (const char *line = list; *line; line += *line == '\n') {
        const char *ranks = line + strspn(line, blanks), *end = line + strcspn(line, "\n");
        const char *word = ranks + strcspn(ranks, " \t\r\n");
        word += strspn(word, blanks);
        line = end;
        if (!holds(ranks, task))
            continue;
        size_t length = strcspn(word, " \t\r\n");
        if (length == 0 || length >= size || strcspn(word, "'\"\\") < length)
            return -1;
        memcpy(program, word, length);
        program[length] = '\0';
        return 0;
    }
    return -1;
}
