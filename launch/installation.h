/* SPDX-License-Identifier: BSD-3-Clause */
/* The other files of this package: beside the running program first, so that a copy of the package
 * and a build that is not installed work by themselves. */
#ifndef SCOPE_INSTALLATION_H
#define SCOPE_INSTALLATION_H

#include <stddef.h>

#include "schema/error.h"

/* Writes the path of the preload library, or of sp-merge, to path[size].
 * Returns 0, or -1 and err, which names the places where it is not. */
int installation_preload(char *path, size_t size, struct error *err);
int installation_merge(char *path, size_t size, struct error *err);

#endif
