/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted for a whole socket, such as energy, is told once.
 *
 * liblikwid counts it on one CPU of each socket in a process, but each of the ranks on a socket
 * sees all of it: their sum would be several times what there was. So in each region and event set
 * the first rank that counted it on a host's socket owns it; others have 0, as threads of a rank
 * have that do not count for their socket. */
#ifndef SCOPE_LIKWID_SOCKETS_H
#define SCOPE_LIKWID_SOCKETS_H

#include <stddef.h>

#include "merge/likwid_rank.h"

struct likwid_sockets {
    struct likwid_claim *claims; /* a hash table */
    size_t count, room;
};

/* Settles who owns what in the regions of a rank, whose metrics are computed already; ranks come in
 * their order. sockets is zero at first. Returns 0, or -1 if memory is out. */
int likwid_sockets_settle(struct likwid_sockets *sockets, struct likwid_rank *rank);

void likwid_sockets_release(struct likwid_sockets *sockets);

#endif
