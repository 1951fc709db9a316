/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as JSON, for programs. */
#ifndef SCOPE_JSON_H
#define SCOPE_JSON_H

#include <stddef.h>
#include <stdio.h>

#include "report/summary.h"
#include "schema/error.h"
#include "schema/profile_reader.h"

/* Prints one object; times in ns, shares from 0 to 1, null where nothing is known. top: regions to
 * print, 0: all. Returns 0, or -1 and err (memory). */
int json_print(FILE *out, const char *path, const struct profile *profile,
               const struct summary *summary, size_t top, struct error *err);

#endif
