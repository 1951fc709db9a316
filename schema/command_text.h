/* SPDX-License-Identifier: BSD-3-Clause */
/* A command line as one text, to be shown. */
#ifndef SCOPE_COMMAND_TEXT_H
#define SCOPE_COMMAND_TEXT_H

#include <stddef.h>

/* Joins argv[0..argc-1] by blanks into text[size], terminated, cut to fit (size > 0). */
void command_text(int argc, char *const argv[], char *text, size_t size);

#endif
