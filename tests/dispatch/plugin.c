/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin that brings MPI with it: nothing in the program's search order is the MPI library. */
#include "tests/dispatch/standin.h"

int plugin_run(int sends);
int plugin_run(int sends)
{
    int failed = MPI_Init(0, 0);
    for (int i = 0; i < sends; i++)
        failed |= MPI_Send(0, 2, MPI_INT, 1, 5, MPI_COMM_WORLD);
    return failed | MPI_Finalize();
}
