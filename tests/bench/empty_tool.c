/* SPDX-License-Identifier: BSD-3-Clause */
/* A QMPI tool that does nothing in the calls of call_cost but call on. */
#include <scope_qmpi.h>

#define EMPTY(name, NUMBER, parameters, arguments)                                                 \
    static int empty_##name parameters                                                             \
    {                                                                                              \
        void (*next)(void);                                                                        \
        int next_id;                                                                               \
        QMPI_Get_function(tool_id, NUMBER, &next, &next_id);                                       \
        return ((QMPI_##name##_t *)next)arguments;                                                 \
    }
EMPTY(Send, MPI_SEND_T,
      (QMPI_Context context, int tool_id, const void *buf, int count, MPI_Datatype datatype,
       int dest, int tag, MPI_Comm comm),
      (context, next_id, buf, count, datatype, dest, tag, comm))
EMPTY(Isend, MPI_ISEND_T,
      (QMPI_Context context, int tool_id, const void *buf, int count, MPI_Datatype datatype,
       int dest, int tag, MPI_Comm comm, MPI_Request *request),
      (context, next_id, buf, count, datatype, dest, tag, comm, request))
EMPTY(Wait, MPI_WAIT_T,
      (QMPI_Context context, int tool_id, MPI_Request *request, MPI_Status *status),
      (context, next_id, request, status))

static void init(int tool_id)
{
    QMPI_Register_function(tool_id, MPI_SEND_T, (void (*)(void))empty_Send);
    QMPI_Register_function(tool_id, MPI_ISEND_T, (void (*)(void))empty_Isend);
    QMPI_Register_function(tool_id, MPI_WAIT_T, (void (*)(void))empty_Wait);
}

__attribute__((constructor)) static void announce(void)
{
    QMPI_Register_tool_name("empty", init);
}
