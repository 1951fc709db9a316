// SPDX-License-Identifier: BSD-3-Clause
// Exceptions and jumps out of an error handler, and then calls from deeper frames: each is the
// program's own, whatever frames MPI never came back to.
#include <csetjmp>
#include <stdexcept>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
extern "C" {
#include "conformance.h"
}

static jmp_buf back;

static void throws(MPI_Comm *, int *, ...)
{
    throw std::runtime_error("MPI");
}

static void jumps(MPI_Comm *, int *, ...)
{
    longjmp(back, 1);
}

static void handle_with(MPI_Comm_errhandler_function *function)
{
    MPI_Errhandler handler;
    tally_local("comm_create_errhandler", "other", "-1");
    MPI_Comm_create_errhandler(function, &handler);
    set_errhandler(handler);
    tally_local("errhandler_free", "other", "-1");
    MPI_Errhandler_free(&handler);
}

static void wrong_call(int tag)
{
    tally_message("send", INT, 99, tag);
    tally_failure(0);
    MPI_Send(&rank, 1, MPI_INT, 99, tag, MPI_COMM_WORLD);
}

// 1,000 calls, made by a function that lies depth frames below the caller.
__attribute__((noinline)) static void calls_from_below(int depth, int tag)
{
    if (depth > 0) {
        calls_from_below(depth - 1, tag);
        asm volatile(""); // no tail call: each has a frame
        return;
    }
    for (int i = 0; i < 1000; i++) {
        tally_message("send", INT, PROC_NULL, tag);
        MPI_Send(&rank, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
    }
}

void unwinding()
{
    handle_with(throws);
    for (int i = 0; i < 3; i++) {
        try {
            wrong_call(201);
            MPI_Abort(MPI_COMM_WORLD, 2);
        } catch (const std::runtime_error &) {
        }
        calls_from_below(10, 202);
    }
    calls_from_below(0, 203);

    handle_with(jumps);
    if (setjmp(back) == 0)
        wrong_call(204);
    calls_from_below(10, 205);
    set_errhandler(MPI_ERRORS_ARE_FATAL);
}
