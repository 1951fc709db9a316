/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI library that nobody has heard of: enough of one to be found and asked for its name. */
#include <string.h>

int PMPI_Get_library_version(char *version, int *length)
{
    *length = (int)strlen(strcpy(version, "Homegrown MPI 0.9 (tests)"));
    return 0;
}

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int PMPI_Finalize(void)
{
    return 0;
}

int MPI_Get_library_version(char *version, int *length)
    __attribute__((alias("PMPI_Get_library_version")));
int MPI_Init(int *argc, char ***argv) __attribute__((alias("PMPI_Init")));
int MPI_Finalize(void) __attribute__((alias("PMPI_Finalize")));
