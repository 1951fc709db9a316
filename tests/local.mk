# SPDX-License-Identifier: BSD-3-Clause
# All tests: unit (Criterion), fuzz (damaged and interrupted traces), abi (our MPI headers against
# real ones), dispatch (a stand-in MPI library), threads (the recorder under ThreadSanitizer), kill
# (ranks at random instants), cluster (a real Slurm, real MPI), libraries (MPI libraries from PyPI),
# likwid (counters of a simulated processor).
#
# A test whose name ends in .t speaks TAP; all others are programs that tell by their exit status.
TEST_EXTENSIONS = .t
T_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
# What a cross build's tests run under is told from these (tests/dispatch/tap.sh).
AM_TESTS_ENVIRONMENT += host_cpu='$(host_cpu)'; build_cpu='$(build_cpu)'; \
	export host_cpu build_cpu;

include tests/unit/local.mk
include tests/fuzz/local.mk
include tests/dispatch/local.mk
include tests/threads/local.mk
if !PRELOAD_ONLY
include tests/abi/local.mk
include tests/cluster/local.mk
include tests/libraries/local.mk
include tests/likwid/local.mk
include tests/bench/local.mk
include tests/kill/local.mk
endif

# The tests of what runs inside the application alone, without building the rest: for a build with
# other compiler flags.
if HAVE_CRITERION
RECORDER_TESTS = $(TRACE_TESTS) $(TABLE_TESTS) tests/threads/recorder_threads.t
recorder-check: $(mpi_generated) recorder_threads
	$(MAKE) check-TESTS TESTS='$(RECORDER_TESTS)'
.PHONY: recorder-check
endif
