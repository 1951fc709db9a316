# SPDX-License-Identifier: BSD-3-Clause
# make bench: what recording costs, under each MPI that configure found.
bench_mpi_programs = tests/bench/call_cost tests/bench/clock_samples tests/bench/footprint \
	tests/bench/halo tests/bench/partners tests/bench/worst_call
EXTRA_DIST += $(bench_mpi_programs:=.c) tests/bench/ticks.h tests/bench/calls.py \
	tests/bench/clocks.py tests/bench/footprint.py tests/bench/machine.py tests/bench/merging.py \
	tests/bench/request_table.py tests/bench/run.py tests/bench/runs.py tests/bench/sizes.py \
	tests/bench/tools.py tests/bench/empty_tool.c \
	tests/bench/worst.py

EXTRA_PROGRAMS = tests/bench/clock_error tests/bench/request_cost
tests_bench_request_cost_SOURCES = tests/bench/request_cost.c preload/clock.c preload/pages.c \
	preload/request.c
tests_bench_request_cost_CFLAGS = $(libscope_preload_la_CFLAGS)
tests_bench_request_cost_LDADD = libtrace.la
tests_bench_clock_error_SOURCES = tests/bench/clock_error.c merge/clock.c
tests_bench_clock_error_LDADD = libtrace.la -lm

bench_programs =
if HAVE_OPENMPI
bench_programs += $(bench_mpi_programs:=.openmpi) tests/bench/qmpi.openmpi/empty.so
endif
if HAVE_MPICH
bench_programs += $(bench_mpi_programs:=.mpich) tests/bench/qmpi.mpich/empty.so
endif
CLEANFILES += $(bench_programs) $(EXTRA_PROGRAMS)

SUFFIXES = .openmpi .mpich
.c.openmpi:
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(MPICC_OPENMPI) -O2 -I$(srcdir) -o $@ $< -lpthread -lm
.c.mpich:
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(MPICC_MPICH) -O2 -I$(srcdir) -o $@ $< -lpthread -lm

empty_tool = $(srcdir)/tests/bench/empty_tool.c preload/scope_qmpi.h
empty_tool_flags = -O2 -shared -fPIC -Ipreload -o $@ $<
tests/bench/qmpi.openmpi/empty.so: $(empty_tool)
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(MPICC_OPENMPI) $(empty_tool_flags)
tests/bench/qmpi.mpich/empty.so: $(empty_tool)
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(MPICC_MPICH) $(empty_tool_flags)

.PHONY: bench
bench: libscope_preload.la sp-merge make_run $(EXTRA_PROGRAMS) $(bench_programs)
	$(PYTHON) -B $(srcdir)/tests/bench/run.py .libs/libscope_preload.so tests/bench

# Makes up runs of any size, for the bench of the merge.
check_PROGRAMS += make_run
make_run_SOURCES = tests/bench/make_run.c
make_run_CFLAGS = $(AM_CFLAGS) -O2
make_run_LDADD = libtrace.la
