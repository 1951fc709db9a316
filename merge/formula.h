/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic on named values, as LIKWID's groups tell metrics: "1.0E-06*(FIXC1/FIXC2)/time". */
#ifndef SCOPE_FORMULA_H
#define SCOPE_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the value of a name of length bytes; false: it has none. */
typedef bool formula_lookup(const void *context, const char *name, size_t length, double *value);

/* Evaluates text (+ - * / and parentheses, numbers, names) in *value. false: it is no formula,
 * names something unknown, or is nested more than FORMULA_DEPTH times. Needs the C locale. */
bool formula_evaluate(const char *text, formula_lookup *lookup, const void *context, double *value);

enum { FORMULA_DEPTH = 64 };

#endif
