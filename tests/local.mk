# SPDX-License-Identifier: BSD-3-Clause
# All tests: unit (Criterion), dispatch (a stand-in MPI library), cluster (a real Slurm, real MPI).
include tests/unit/local.mk
include tests/dispatch/local.mk
if !PRELOAD_ONLY
include tests/cluster/local.mk
include tests/bench/local.mk
endif
