/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in flight, and the calls that started them.
 *
 * Handles are not unique: MPI libraries give every small send that completed at once the same one.
 * A request is therefore known by its handle and by the address where the program keeps it. Where
 * no address matches (the program copied its requests, a Fortran layer keeps them elsewhere), the
 * handle alone decides if all requests that have it agree; else the origin is unknown.
 */
#ifndef SCOPE_REQUEST_H
#define SCOPE_REQUEST_H

#include <stddef.h>
#include <stdint.h>

/* What the call was that started a request. */
struct request_origin {
    int64_t bytes;
    int32_t peer, tag, communicator;
    uint32_t operation; /* as trace_signature.origin: number + 1, or ORIGIN_UNKNOWN */
};

/* Must be called before the first request if several threads may start some. */
void request_use_threads(void);

/* Keeps the origin of a request that the program keeps at address. */
void request_started(uint64_t handle, const void *address, const struct request_origin *origin);

/* Tells the origin of a request. Where it is not known, operation is ORIGIN_UNKNOWN and the numbers
 * are -1. */
void request_look(uint64_t handle, const void *address, struct request_origin *origin);

/* The same, and forgets the request: it has been completed or freed. */
void request_finished(uint64_t handle, const void *address, struct request_origin *origin);

/* How many requests are kept. */
size_t request_count(void);

#endif
