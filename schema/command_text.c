/* SPDX-License-Identifier: BSD-3-Clause */
/* A command line as one text, to be shown. */
#include "schema/command_text.h"

#include <string.h>

void command_text(int argc, char *const argv[], char *text, size_t size)
{
    size_t length = 0;
    for (int i = 0; i < argc && length < size - 1; i++) {
        if (i > 0)
            text[length++] = ' ';
        size_t word = strlen(argv[i]), room = size - 1 - length;
        if (word > room)
            word = room;
        memcpy(text + length, argv[i], word);
        length += word;
    }
    text[length] = '\0';
}
