/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that run a program in another root directory, where a path means another file. */
#ifndef SCOPE_ROOT_CHANGE_H
#define SCOPE_ROOT_CHANGE_H

#include "schema/error.h"

/* Looks whether the command argv[0..argc-1] changes the root directory on the way to its program
 * (chroot, unshare --root, nsenter, container runtimes), and if so, whether library (an absolute
 * path) is known to be readable there.
 * Returns 0: the root stays, or library is there too. Returns -1 and reason, which begins with the
 * command: the library cannot be relied on there, and ld.so would complain to the user. */
int root_change_check(int argc, char *const argv[], const char *library, struct error *reason);

#endif
