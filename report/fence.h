/* SPDX-License-Identifier: BSD-3-Clause */
/* Work on an untrusted file in a child process.
 *
 * The HDF5 library crashes, loops or allocates without end on some damaged files. In a child with
 * limits in proportion to the file, that becomes an error like any other.
 */
#ifndef SCOPE_FENCE_H
#define SCOPE_FENCE_H

#include "schema/error.h"

/* Runs work(data) in a child and returns its result (0 to 127), or -1 and err if the child did not
 * come to its end. path is the file whose size sets the limits. The child shares the standard
 * streams; what is buffered in stdout must be flushed by work. */
int fence_run(const char *path, int (*work)(void *data), void *data, struct error *err);

#endif
