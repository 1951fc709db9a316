#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The binary interface of the MPI that MPICC_MPICH compiles for.
family=mpich mpicc=${MPICC_MPICH:?}
. "${top_srcdir:?}/tests/abi/abi.sh"
