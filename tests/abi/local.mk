# SPDX-License-Identifier: BSD-3-Clause
# Our MPI headers and prototypes against every real MPI that configure found.
AM_TESTS_ENVIRONMENT += MPICC_OPENMPI='$(MPICC_OPENMPI)'; MPICC_MPICH='$(MPICC_MPICH)'; \
	export MPICC_OPENMPI MPICC_MPICH;
EXTRA_DIST += tests/abi/abi.sh tests/abi/abi_check.c tests/abi/abi_openmpi.t tests/abi/abi_mpich.t \
	tests/abi/prototypes.t
TESTS += tests/abi/prototypes.t
if HAVE_OPENMPI
TESTS += tests/abi/abi_openmpi.t
endif
if HAVE_MPICH
TESTS += tests/abi/abi_mpich.t
endif
