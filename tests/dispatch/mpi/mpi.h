/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in's mpi.h, for what is compiled as if for a real MPI library. */
#ifndef SCOPE_STANDIN_MPI_H
#define SCOPE_STANDIN_MPI_H

#include "tests/dispatch/standin.h"

#define MPI_VERSION 4
#define MPI_ABI_VERSION 1 /* the library may have the standard ABI as well */
#ifdef STANDIN_OPENMPI
#define OPEN_MPI 1
#else
#define MPICH_NAME 4
#endif

#endif
