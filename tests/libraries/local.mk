# SPDX-License-Identifier: BSD-3-Clause
# The scenarios under MPI libraries from PyPI wheels, which contrib/run-tests.sh gets and runs.
EXTRA_DIST += \
	tests/libraries/libraries.t \
	tests/libraries/unknown_mpi.c \
	tests/libraries/unknown_program.c
