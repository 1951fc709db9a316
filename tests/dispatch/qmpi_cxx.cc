/* SPDX-License-Identifier: BSD-3-Clause */
/* A QMPI tool in C++: it says how many sends there were. */
#include <cstdio>
#include <type_traits>

#include "scope_qmpi.h"

#ifdef QMPI_OF_MPICH /* with an enumeration that ends far below our numbers */
static_assert(!std::is_enum<decltype(MPI_SEND_T)>::value, "an enumeration that cannot have it");
#endif

namespace {

struct sends {
    long count = 0;
};
sends all;

int count_send(QMPI_Context context, int tool_id, const void *buf, int count, MPI_Datatype datatype,
               int dest, int tag, MPI_Comm comm)
{
    void *storage = nullptr;
    void (*next)();
    int next_id;
    QMPI_Get_tool_storage(context, tool_id, &storage);
    static_cast<sends *>(storage)->count++;
    QMPI_Get_function(tool_id, MPI_SEND_T, &next, &next_id);
    return reinterpret_cast<QMPI_Send_t *>(next)(context, next_id, buf, count, datatype, dest, tag,
                                                 comm);
}

int tell(QMPI_Context context, int tool_id)
{
    void (*next)();
    int next_id;
    std::printf("cxx %d: %ld sends\n", tool_id, all.count);
    QMPI_Get_function(tool_id, MPI_FINALIZE_T, &next, &next_id);
    return reinterpret_cast<QMPI_Finalize_t *>(next)(context, next_id);
}

void init(int tool_id)
{
    QMPI_Register_tool_storage(tool_id, &all);
    QMPI_Register_function(tool_id, MPI_SEND_T, reinterpret_cast<void (*)()>(count_send));
    QMPI_Register_tool_function(tool_id, MPI_FINALIZE_T, reinterpret_cast<void (*)()>(tell));
}

__attribute__((constructor)) void announce()
{
    QMPI_Register_tool_name("cxx", init);
}

} // namespace
