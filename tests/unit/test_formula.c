/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas of LIKWID's groups, and what is none. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "merge/formula.h"

static bool lookup(const void *context, const char *name, size_t length, double *value)
{
    (void)context;
    *value = 4;
    return length == 4 && strncmp(name, "PMC0", 4) == 0;
}

static double of(const char *text)
{
    double value;
    return formula_evaluate(text, lookup, NULL, &value) ? value : NAN;
}

Test(formula, arithmetic)
{
    cr_expect_eq(of("PMC0"), 4);
    cr_expect_eq(of("1.0E-06*(PMC0/2)"), 2e-6);
    cr_expect_eq(of("1.E-06*PMC0"), 4e-6);
    cr_expect_eq(of("1+2*3-4/2"), 5);
    cr_expect_eq(of("8/2/2"), 2, "from left to right");
    cr_expect_eq(of("10-4-3"), 3);
    cr_expect_eq(of("-(1+2)*-2"), 6);
    cr_expect_eq(of(" ( 1 + 2 ) * .5 "), 1.5);
    cr_expect(isinf(of("1/0")));
}

Test(formula, what_is_none)
{
    static const char *const bad[] = {"", "(", ")", "1+", "*2", "1 2", "PMC", "PMC01", "1..2",
                                      "(1", "1)", "a(1)", "1;", "PMC0 PMC0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect(isnan(of(bad[i])), "%s", bad[i]);
    char deep[4096];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    cr_expect(isnan(of(deep)));
    memset(deep, '-', sizeof deep - 1);
    cr_expect(isnan(of(deep)));
}
