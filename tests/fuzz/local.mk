# SPDX-License-Identifier: BSD-3-Clause
# The trace that was interrupted or damaged.
check_PROGRAMS += trace_stops
TESTS += tests/fuzz/trace_stops.t
EXTRA_DIST += tests/fuzz/trace_stops.t

# trace_stops.c includes trace_writer.c. The table of requests is the real one.
sample_sources = tests/fuzz/sample_trace.h preload/pages.c preload/request.c
trace_stops_SOURCES = tests/fuzz/trace_stops.c $(sample_sources)
trace_stops_LDADD = libtrace.la

damage_sources = $(sample_sources) schema/error.c schema/regular_file.c schema/trace_outstanding.c \
	schema/trace_reader.c schema/trace_statistics.c schema/trace_writer.c

# Only tools read traces.
if !PRELOAD_ONLY
check_PROGRAMS += trace_damage live_damage
TESTS += tests/fuzz/trace_damage.t tests/fuzz/live_damage.t
EXTRA_DIST += tests/fuzz/trace_damage.t tests/fuzz/live_damage.t
trace_damage_SOURCES = tests/fuzz/trace_damage.c $(damage_sources)
trace_damage_CFLAGS = $(AM_CFLAGS) -O2 $(SANITIZE_CFLAGS)
live_damage_SOURCES = tests/fuzz/live_damage.c $(damage_sources) \
	merge/clock.c merge/communicators.c merge/duration.c merge/exits.c merge/file_limit.c \
	merge/flight.c merge/live.c merge/live_group.c merge/live_text.c merge/members.c merge/names.c \
	merge/outstanding.c merge/rank_end.c schema/exit_record.c schema/host_key.c schema/job_end.c
live_damage_CFLAGS = $(AM_CFLAGS) -O2 $(SANITIZE_CFLAGS)
live_damage_LDADD = -lm
endif

# An emulator does not let a program be traced.
if !PRELOAD_ONLY
check_PROGRAMS += trace_steps
TESTS += tests/fuzz/trace_steps.t
EXTRA_DIST += tests/fuzz/trace_steps.t
trace_steps_SOURCES = tests/fuzz/trace_steps.c $(sample_sources)
trace_steps_LDADD = libtrace.la
endif

# make fuzz FUZZ_SECONDS=600: libFuzzer on what reads files and texts; needs clang.
if !PRELOAD_ONLY
FUZZ_SECONDS = 60
check_PROGRAMS += sample_trace
sample_trace_SOURCES = tests/fuzz/sample_trace.c $(sample_sources)
sample_trace_LDADD = libtrace.la
EXTRA_DIST += tests/fuzz/fuzz.mk tests/fuzz/fuzz.sh tests/fuzz/fuzz_input.h \
	tests/fuzz/fuzz_container.c tests/fuzz/fuzz_merge.c tests/fuzz/fuzz_text.c tests/fuzz/fuzz_trace.c tests/fuzz/seeds.py
fuzz_sources = $(libtrace_la_SOURCES) $(libprofile_la_SOURCES) $(libmerge_la_SOURCES) \
	$(sp_report_SOURCES) merge/live_json.c merge/live_view.c
fuzz: make_traces sample_trace
	@$(MAKE) --no-print-directory -f $(top_srcdir)/tests/fuzz/fuzz.mk top_srcdir='$(top_srcdir)' \
		top_builddir='$(top_builddir)' SOURCES='$(fuzz_sources)' \
		INCLUDES='$(HDF5_CFLAGS) $(JSONC_CFLAGS) $(ZLIB_CFLAGS)' \
		LIBS='$(HDF5_LIBS) $(JSONC_LIBS) $(ZLIB_LIBS) -lpthread'
	@top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
		bash $(top_srcdir)/tests/fuzz/fuzz.sh $(FUZZ_SECONDS)
.PHONY: fuzz
clean-local:
	rm -rf fuzz
endif
