# SPDX-License-Identifier: BSD-3-Clause
# The trace that was interrupted or damaged.
check_PROGRAMS += trace_stops trace_damage
TESTS += tests/fuzz/trace_stops.t tests/fuzz/trace_damage.t
EXTRA_DIST += tests/fuzz/trace_stops.t tests/fuzz/trace_damage.t

# trace_stops.c includes trace_writer.c
trace_stops_SOURCES = tests/fuzz/trace_stops.c tests/fuzz/sample_trace.h
trace_stops_LDADD = libtrace.la

damage_sources = schema/error.c schema/regular_file.c schema/trace_reader.c schema/trace_statistics.c schema/trace_writer.c
trace_damage_SOURCES = tests/fuzz/trace_damage.c tests/fuzz/sample_trace.h $(damage_sources)
trace_damage_CFLAGS = $(AM_CFLAGS) -O2 $(SANITIZE_CFLAGS)

# An emulator does not let a program be traced.
if !PRELOAD_ONLY
check_PROGRAMS += trace_steps
TESTS += tests/fuzz/trace_steps.t
EXTRA_DIST += tests/fuzz/trace_steps.t
trace_steps_SOURCES = tests/fuzz/trace_steps.c tests/fuzz/sample_trace.h
trace_steps_LDADD = libtrace.la
endif

# make fuzz ROUNDS=10000000 SEED=7
ROUNDS = 1000000
SEED = 1
fuzz: trace_damage
	./trace_damage $(ROUNDS) $(SEED)
.PHONY: fuzz
