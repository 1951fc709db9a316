/* SPDX-License-Identifier: BSD-3-Clause */
/* What takes MPI as it comes, as a part of a program or as a plugin. */
#ifndef SCOPE_OPTIONAL_H
#define SCOPE_OPTIONAL_H

/* Prints whether each of its references to MPI_Scan and PMPI_Scan is there, or none. */
void optional_ask(const char *who);

/* Calls MPI where there is one: MPI_Init; MPI_Scan, or else MPI_Send; MPI_Finalize. */
void optional_init(void);
void optional_use(void);
void optional_finalize(void);

#endif
