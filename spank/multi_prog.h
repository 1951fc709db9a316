/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of programs of "srun --multi-prog": which one a task runs. */
#ifndef SCOPE_MULTI_PROG_H
#define SCOPE_MULTI_PROG_H

#include <stddef.h>
#include <stdint.h>

/* Looks through list ("RANKS PROGRAM [ARGUMENT]...", one per line, RANKS as "0-3,7" or "*", '#'
 * before a comment) for the first line that holds task, and writes its program to program[size].
 * Returns 0, or -1: there is none, or its name is quoted or too long. */
int multi_prog_find(const char *list, uint32_t task, char *program, size_t size);

#endif
