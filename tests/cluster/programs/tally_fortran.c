/* SPDX-License-Identifier: BSD-3-Clause */
/* The tally for Fortran programs: what they bind to, with strings as C has them. */
#include "tally.h"

void tally_fortran_call(const char *what, const char *operation, const char *kind, long bytes,
                        int peer, int root, int tag, const char *communicator)
{
    tally_call_as(what, operation, kind, bytes, peer, root, tag, communicator);
}

void tally_fortran_requests(const char *operation, const char *kind, long bytes, int peer, int tag,
                            const char *communicator, const char *request)
{
    struct origin origin = {request, bytes, peer, NONE, tag, communicator};
    tally_completion(operation, kind, 1, &origin);
}

void tally_fortran_communicator(const char *name, const char *kind, const char *parent,
                                const char *members)
{
    tally_communicator(name, kind, parent, members);
}

void tally_fortran_leave(int rank, int size)
{
    tally_leave(rank, size);
}
