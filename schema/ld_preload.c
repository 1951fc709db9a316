/* SPDX-License-Identifier: BSD-3-Clause */
/* Editing the value of LD_PRELOAD, a list of libraries separated by ':' or ' '. */
#include "schema/ld_preload.h"

#include <stdlib.h>
#include <string.h>

#define SEPARATORS ": "

bool ld_preload_can_hold(const char *library)
{
    return library[0] != '\0' && !strpbrk(library, SEPARATORS);
}

/* The first element at or after p that equals library, or NULL. p is the start of an element. */
static const char *find_element(const char *p, const char *library)
{
    size_t length = strlen(library);
    for (;;) {
        size_t size = strcspn(p, SEPARATORS);
        if (size == length && memcmp(p, library, length) == 0)
            return p;
        if (p[size] == '\0')
            return NULL;
        p += size + 1;
    }
}

char *ld_preload_add(const char *value, const char *library)
{
    if (!value || find_element(value, library))
        return strdup(value ? value : library);
    size_t library_length = strlen(library), value_size = strlen(value) + 1;
    char *result = malloc(library_length + 1 + value_size);
    if (!result)
        return NULL;
    memcpy(result, library, library_length);
    result[library_length] = ':';
    memcpy(result + library_length + 1, value, value_size);
    return result;
}

int ld_preload_remove(const char *value, const char *library, char **left)
{
    *left = NULL;
    if (strcmp(value, library) == 0)
        return 0;
    char *copy = strdup(value);
    if (!copy)
        return -1;
    size_t length = strlen(library);
    const char *found;
    for (const char *from = copy; (found = find_element(from, library)); from = found) {
        char *start = copy + (found - copy), *end = start + length;
        if (*end != '\0') {
            end++; /* the separator behind it, as ld_preload_add put it there */
        } else if (start > copy) {
            start[-1] = '\0'; /* the last element: the separator before it */
            break;
        } else {
            free(copy); /* nothing else is left */
            return 0;
        }
        memmove(start, end, strlen(end) + 1);
    }
    *left = copy;
    return 0;
}
