# SPDX-License-Identifier: BSD-3-Clause
# The scenarios under MPI libraries and with mpi4py from PyPI; contrib/run-tests.sh gets them.
EXTRA_DIST += \
	tests/libraries/libraries.t \
	tests/libraries/mpi4py.t \
	tests/libraries/run_suite.py \
	tests/libraries/unknown_mpi.c \
	tests/libraries/unknown_program.c \
	tests/libraries/weak_reference.c
