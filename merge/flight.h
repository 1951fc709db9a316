/* SPDX-License-Identifier: BSD-3-Clause */
/* A call in flight in words: what it is, and with whom. */
#ifndef SCOPE_FLIGHT_H
#define SCOPE_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/region_label.h"
#include "schema/trace_format.h"

/* room for two names, and for numbers and words of every part */
enum { FLIGHT_SIZE = 2 * TRACE_NAME_MAX + 224 };

struct flight {
    struct region_label call; /* its bytes and kind are not told */
    int64_t world_peer;       /* the peer's rank in MPI_COMM_WORLD; -1: not known */
    bool is_common;           /* of several calls: a field of -1 is one in which they differ */
    bool has_several_peers;   /* and the peer is one */
};

/* Writes the call as a sentence goes on behind "in", terminated: "mpi:recv from 1 (tag 7)",
 * "mpi:bcast with root 0 on comm 2", "mpi:wait for irecv from any (tag 7)". The communicator is
 * left out where it is MPI_COMM_WORLD and a peer or a tag is told. Returns text. */
const char *flight_print(const struct flight *flight, char text[static FLIGHT_SIZE]);

/* Whether a call of this name asks whether something has come, and returns in any case. */
bool flight_is_poll(const char *operation);

#endif
