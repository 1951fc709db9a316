/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that appears under its name only when it is complete. */
#ifndef SCOPE_PUBLISH_H
#define SCOPE_PUBLISH_H

#include <stdbool.h>
#include <sys/types.h>

#include "schema/error.h"

struct publication {
    char *path;      /* where the file is to appear */
    char *directory; /* of path */
    char *temporary; /* where it is written: beside it, so that a rename suffices */
    bool overwrite;
};

/* Chooses a temporary name beside path and makes sure that it is removed should SIGINT, SIGTERM or
 * SIGHUP end the process; one publication at a time. Returns 0, or -1 and err if path is there
 * already (unless overwrite) or the directory cannot be written to. */
int publish_begin(struct publication *publication, const char *path, bool overwrite,
                  struct error *err);

/* Gives the temporary file (written, synced and closed by the caller) its name, on disk. Without
 * overwrite a file that has come there in the meantime is left alone, and an error. Ends the
 * publication in any case; returns 0, or -1 and err. */
int publish_commit(struct publication *publication, struct error *err);

/* Removes what the process merger, which is no more, left of a file for path. */
void publish_discard(const char *path, pid_t merger);

/* Removes the temporary file and ends the publication. */
void publish_abandon(struct publication *publication);

#endif
