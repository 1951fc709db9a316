#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The binary interface of the MPI that MPICC_OPENMPI compiles for.
family=openmpi mpicc=${MPICC_OPENMPI:?}
. "${top_srcdir:?}/tests/abi/abi.sh"
