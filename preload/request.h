/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in flight, and the calls that started them.
 *
 * Handles are not unique: MPI libraries give every small send that completed at once the same one.
 * A request is therefore known by its handle and by the address where the program keeps it. Where
 * no address matches (the program copied its requests, a Fortran layer keeps them elsewhere), the
 * handle alone decides if all requests that have it agree, and the oldest is taken to be the one;
 * else the origin is unknown. Once two requests of a handle were started at one address, which the
 * program must have copied one away from, addresses decide nothing until no request has the handle.
 *
 * Every call costs the same however many requests there are, and one takes 32 bytes. The table's
 * memory lies in areas of the trace where there are such, so that others can look at it.
 */
#ifndef SCOPE_REQUEST_H
#define SCOPE_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "schema/trace_format.h"

/* What the call was that started a request. */
struct request_origin {
    int64_t bytes;
    int32_t peer, tag, communicator;
    uint32_t operation; /* as trace_signature.origin: number + 1, or ORIGIN_UNKNOWN */
};

/* The id of "not known": operation ORIGIN_UNKNOWN, the numbers -1. */
enum { REQUEST_ORIGIN_UNKNOWN = 0 };

/* The id of an origin, the same for equal ones. Takes no lock. REQUEST_ORIGIN_UNKNOWN when memory,
 * or the number of origins that are kept, is exhausted. */
uint32_t request_origin_id(const struct request_origin *origin);

/* The origin with this id. Valid for good. */
const struct request_origin *request_origin(uint32_t id);

/* Must be called before the first request if several threads may start some. */
void request_use_threads(void);

/* The same from now on, by one thread while no other starts or finishes any. */
void request_use_locks(void);

/* Where requests and their origins are kept for others to look at. */
struct request_areas {
    /* Returns zeroed memory of area->size bytes, which begins with the area, or NULL: plain memory
     * is taken instead, at which nobody can look. Keeps errno. Called from several threads. */
    void *(*take)(const struct trace_area *area);
    /* Sets kind and name of an origin, whose operation is as in struct request_origin. */
    void (*name)(uint32_t operation, struct trace_request_origin *origin);
};

/* Must be called before the first request, if at all. */
void request_use_areas(const struct request_areas *areas);

/* In the child of fork(), in which no other thread runs: all requests are forgotten, and the
 * parent's areas are not touched any more. */
void request_forked(void);

/* Keeps the origin of a request that the program keeps at address. Where memory is exhausted it is
 * not kept, and what cannot be told from it is unknown from then on. */
void request_started(uint64_t handle, const void *address, uint32_t origin);

/* The id of a request's origin. */
uint32_t request_look(uint64_t handle, const void *address);

/* The same, and forgets the request: it has been completed or freed. */
uint32_t request_finished(uint64_t handle, const void *address);

/* How many requests are kept. For tests, while no other thread uses the table. */
size_t request_count(void);

/* How many requests a call may have to pass, or to move, at most as the table stands. For tests; as
 * request_count, and it passes all. */
size_t request_longest_chain(void);

#endif
