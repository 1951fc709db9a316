/* SPDX-License-Identifier: BSD-3-Clause */
/* A QMPI tool's wrapper that is in another library than the tool: it calls MPI by its plain name. */
#include "scope_qmpi.h"

int apart_send(QMPI_Context context, int id, const void *buf, int count, MPI_Datatype datatype,
               int dest, int tag, MPI_Comm comm);
int apart_send(QMPI_Context context, int id, const void *buf, int count, MPI_Datatype datatype,
               int dest, int tag, MPI_Comm comm)
{
    void (*next)(void);
    int next_id;
    MPI_Barrier(comm);
    QMPI_Get_function(id, MPI_SEND_T, &next, &next_id);
    return ((QMPI_Send_t *)next)(context, next_id, buf, count, datatype, dest, tag, comm);
}
