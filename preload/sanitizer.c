/* SPDX-License-Identifier: BSD-3-Clause */
/* What AddressSanitizer asks of a program: to bear us in front of it. */

/* Its runtime ends a program where another library comes first in order. The plugin leaves such
 * programs alone, but those that a script starts inherit us. This is the runtime's own way to ask a
 * program for its defaults, read before the order is looked at; ASAN_OPTIONS is read later, and a
 * program's own definition is found instead of this one. */
const char *__asan_default_options(void);

__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
