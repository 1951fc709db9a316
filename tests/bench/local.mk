# SPDX-License-Identifier: BSD-3-Clause
# make bench: what recording costs, under each MPI that configure found, and what requests cost.
EXTRA_DIST += tests/bench/call_cost.c tests/bench/run.py

EXTRA_PROGRAMS = tests/bench/request_cost
tests_bench_request_cost_SOURCES = tests/bench/request_cost.c preload/pages.c preload/request.c
tests_bench_request_cost_CFLAGS = $(libscope_preload_la_CFLAGS)

bench_programs =
if HAVE_OPENMPI
bench_programs += tests/bench/call_cost.openmpi
endif
if HAVE_MPICH
bench_programs += tests/bench/call_cost.mpich
endif
CLEANFILES += $(bench_programs) $(EXTRA_PROGRAMS)

tests/bench/call_cost.openmpi: tests/bench/call_cost.c
	$(AM_V_CC)$(MKDIR_P) tests/bench && $(MPICC_OPENMPI) -O2 -o $@ $(srcdir)/tests/bench/call_cost.c -lpthread
tests/bench/call_cost.mpich: tests/bench/call_cost.c
	$(AM_V_CC)$(MKDIR_P) tests/bench && $(MPICC_MPICH) -O2 -o $@ $(srcdir)/tests/bench/call_cost.c -lpthread

.PHONY: bench
bench: libscope_preload.la tests/bench/request_cost $(bench_programs)
	$(PYTHON) $(srcdir)/tests/bench/run.py .libs/libscope_preload.so tests/bench/request_cost \
		$(bench_programs)
