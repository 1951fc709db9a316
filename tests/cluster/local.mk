# SPDX-License-Identifier: BSD-3-Clause
# The scenarios on a real Slurm cluster with real MPI, which contrib/run-tests.sh runs.
EXTRA_DIST += \
	tests/cluster/mpi4py.t \
	tests/cluster/programs/compare_tally.py \
	tests/cluster/programs/every_call.c \
	tests/cluster/programs/exchange.py \
	tests/cluster/programs/tally.h \
	tests/cluster/scenario.sh \
	tests/cluster/two-hosts-two-mpis.t
