/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of the MPI that nobody has heard of; it ends with 7. */
#include <stdio.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);

int main(int argc, char **argv)
{
    if (MPI_Init(&argc, &argv) != 0 || MPI_Finalize() != 0)
        return 1;
    puts("computed");
    return 7;
}
