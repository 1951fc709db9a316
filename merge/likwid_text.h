/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's hardware counters, for people. */
#ifndef SCOPE_LIKWID_TEXT_H
#define SCOPE_LIKWID_TEXT_H

#include <stdio.h>

/* Prints what the files beside the trace at path say: a line for each region and thread, and below
 * it one for each event. Nothing where there are none. Returns 0, or -1 if memory is out. */
int likwid_text_print(FILE *out, const char *path);

#endif
