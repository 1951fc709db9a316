/* SPDX-License-Identifier: BSD-3-Clause */
/* The serial MPI that some programs bring along: one process, no PMPI names. */
int MPI_Init(int *argc, char ***argv);
int MPI_Send(const void *buf, int count, int datatype, int dest, int tag, int comm);
int MPI_Finalize(void);

int MPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

int MPI_Send(const void *buf, int count, int datatype, int dest, int tag, int comm)
{
    (void)buf, (void)count, (void)datatype, (void)dest, (void)tag, (void)comm;
    return 0;
}

int MPI_Finalize(void)
{
    return 0;
}
