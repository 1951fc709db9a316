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

if !PRELOAD_ONLY
check_PROGRAMS += live_damage
TESTS += tests/fuzz/live_damage.t
EXTRA_DIST += tests/fuzz/live_damage.t
live_damage_SOURCES = tests/fuzz/live_damage.c tests/fuzz/sample_trace.h $(damage_sources) \
	merge/clock.c merge/communicators.c merge/duration.c merge/exits.c merge/flight.c \
	merge/live.c merge/live_group.c merge/live_text.c merge/members.c merge/names.c \
	merge/rank_end.c schema/exit_record.c schema/host_key.c schema/job_end.c
live_damage_CFLAGS = $(AM_CFLAGS) -O2 $(SANITIZE_CFLAGS)
live_damage_LDADD = -lm
endif

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
fuzz: trace_damage live_damage
	./trace_damage $(ROUNDS) $(SEED)
	./live_damage $(ROUNDS) $(SEED)
.PHONY: fuzz
