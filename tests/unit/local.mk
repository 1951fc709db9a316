# SPDX-License-Identifier: BSD-3-Clause
# Unit tests of what is pure: formats and parsers.

# Options, names, the job and exit records, LD_PRELOAD.
if HAVE_CRITERION
SCHEMA_TESTS = test_options test_run_path test_job_record test_exit_record test_job_end \
	test_ld_preload test_size_text test_node_marker test_trace_container
check_PROGRAMS += $(SCHEMA_TESTS)
TESTS += $(SCHEMA_TESTS)
test_options_SOURCES = tests/unit/test_options.c
test_options_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_options_LDADD = libtrace.la $(CRITERION_LIBS)
test_run_path_SOURCES = tests/unit/test_run_path.c
test_run_path_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_run_path_LDADD = libtrace.la $(CRITERION_LIBS)
test_job_record_SOURCES = tests/unit/test_job_record.c
test_job_record_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_job_record_LDADD = libtrace.la $(CRITERION_LIBS)
test_exit_record_SOURCES = tests/unit/test_exit_record.c
test_exit_record_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_exit_record_LDADD = libtrace.la $(CRITERION_LIBS)
test_job_end_SOURCES = tests/unit/test_job_end.c
test_job_end_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_job_end_LDADD = libtrace.la $(CRITERION_LIBS)
test_ld_preload_SOURCES = tests/unit/test_ld_preload.c
test_ld_preload_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_ld_preload_LDADD = libtrace.la $(CRITERION_LIBS)
test_size_text_SOURCES = tests/unit/test_size_text.c
test_size_text_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_size_text_LDADD = libtrace.la $(CRITERION_LIBS)
test_node_marker_SOURCES = tests/unit/test_node_marker.c
test_node_marker_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_node_marker_LDADD = libtrace.la $(CRITERION_LIBS)
test_trace_container_SOURCES = tests/unit/test_trace_container.c
test_trace_container_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_trace_container_LDADD = libtrace.la $(CRITERION_LIBS)
endif

# The plugin's parts that do not need Slurm, and sp-run's.
if HAVE_CRITERION
if !PRELOAD_ONLY
SPANK_TESTS = test_program test_spank_parts test_child test_step_record test_registry \
	test_spool_files test_user_child
check_PROGRAMS += $(SPANK_TESTS)
TESTS += $(SPANK_TESTS)
test_program_SOURCES = tests/unit/test_program.c spank/elf_check.c spank/program.c
test_program_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_program_LDADD = libtrace.la $(CRITERION_LIBS)
test_spank_parts_SOURCES = tests/unit/test_spank_parts.c spank/bounded_child.c \
	spank/exit_child.c spank/multi_prog.c spank/node_done.c spank/root_change.c \
	spank/run_place.c spank/settings.c spank/tools.c
test_spank_parts_CPPFLAGS = $(AM_CPPFLAGS) -DSP_PRELOAD_PATH='"/lib/preload.so"' \
	-DSP_MERGE_PATH='"/bin/sp-merge"' -DSP_LIKWID_TRY_PATH='"/libexec/sp-likwid-try"'
test_spank_parts_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_spank_parts_LDADD = libtrace.la $(CRITERION_LIBS)
test_child_SOURCES = tests/unit/test_child.c launch/child.c
test_child_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_child_LDADD = $(CRITERION_LIBS)
test_step_record_SOURCES = tests/unit/test_step_record.c schema/step_record.c
test_step_record_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_step_record_LDADD = libtrace.la $(CRITERION_LIBS)
test_spool_files_SOURCES = tests/unit/test_spool_files.c schema/spool_files.c
test_spool_files_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_spool_files_LDADD = libtrace.la $(CRITERION_LIBS)
test_user_child_SOURCES = tests/unit/test_user_child.c merge/user_child.c
test_user_child_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_user_child_LDADD = libtrace.la $(CRITERION_LIBS)
test_registry_SOURCES = tests/unit/test_registry.c schema/registry.c schema/step_record.c
test_registry_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_registry_LDADD = libtrace.la $(CRITERION_LIBS)
endif
endif

# The trace.
if HAVE_CRITERION
TRACE_TESTS = test_varint test_trace test_trace_glance
check_PROGRAMS += $(TRACE_TESTS)
TESTS += $(TRACE_TESTS)
test_varint_SOURCES = tests/unit/test_varint.c
test_varint_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_varint_LDADD = $(CRITERION_LIBS)
test_trace_SOURCES = tests/unit/test_trace.c
test_trace_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_trace_LDADD = libtrace.la $(CRITERION_LIBS) -lpthread
test_trace_glance_SOURCES = tests/unit/test_trace_glance.c
test_trace_glance_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_trace_glance_LDADD = libtrace.la $(CRITERION_LIBS)
endif

# The profile file, the merge and the report.
if !PRELOAD_ONLY
MERGE_TAP = tests/unit/epilog.t tests/unit/form.t tests/unit/likwid.t tests/unit/live.t \
	tests/unit/man.t tests/unit/merge.t \
	tests/unit/report.t tests/unit/reader_python.t
check_PROGRAMS += make_traces
TESTS += $(MERGE_TAP)
EXTRA_DIST += $(MERGE_TAP) tests/unit/made_up.sh tests/unit/check_profile.py \
	tests/fixtures/schema-2.h5 tests/fixtures/schema-3.h5
make_traces_SOURCES = tests/unit/make_traces.c
make_traces_LDADD = libtrace.la
if HAVE_CRITERION
MERGE_TESTS = test_region_label test_profile_writer test_clock test_exits test_flight test_fold test_formula \
	test_labels test_likwid_marker test_likwid_record test_skew test_traffic \
	test_live test_outstanding test_progress test_rank_set test_short_name test_line
check_PROGRAMS += $(MERGE_TESTS)
TESTS += $(MERGE_TESTS)
test_region_label_SOURCES = tests/unit/test_region_label.c
test_region_label_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_region_label_LDADD = libtrace.la $(CRITERION_LIBS)
test_profile_writer_SOURCES = tests/unit/test_profile_writer.c
test_profile_writer_CFLAGS = $(AM_CFLAGS) $(HDF5_CFLAGS) $(CRITERION_CFLAGS)
test_profile_writer_LDADD = libprofile.la libtrace.la $(HDF5_LIBS) $(CRITERION_LIBS)
test_clock_SOURCES = tests/unit/test_clock.c
test_clock_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_clock_LDADD = libmerge.la $(CRITERION_LIBS)
test_exits_SOURCES = tests/unit/test_exits.c
test_exits_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_exits_LDADD = libmerge.la $(CRITERION_LIBS)
test_flight_SOURCES = tests/unit/test_flight.c
test_flight_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_flight_LDADD = libmerge.la $(CRITERION_LIBS)
test_fold_SOURCES = tests/unit/test_fold.c
test_fold_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_fold_LDADD = libmerge.la $(CRITERION_LIBS)
test_formula_SOURCES = tests/unit/test_formula.c
test_formula_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_formula_LDADD = libmerge.la $(CRITERION_LIBS) -lm
test_labels_SOURCES = tests/unit/test_labels.c
test_labels_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_labels_LDADD = libmerge.la $(CRITERION_LIBS)
test_likwid_marker_SOURCES = tests/unit/test_likwid_marker.c
test_likwid_marker_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_likwid_marker_LDADD = libmerge.la $(CRITERION_LIBS)
test_likwid_record_SOURCES = tests/unit/test_likwid_record.c spank/likwid_formulas.c \
	spank/task_cpus.c \
	spank/tool_output.c
test_likwid_record_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_likwid_record_LDADD = libmerge.la $(CRITERION_LIBS)
test_skew_SOURCES = tests/unit/test_skew.c
test_skew_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_skew_LDADD = libmerge.la $(CRITERION_LIBS) -lm
test_traffic_SOURCES = tests/unit/test_traffic.c
test_traffic_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_traffic_LDADD = libmerge.la $(CRITERION_LIBS)
test_live_SOURCES = tests/unit/test_live.c
test_live_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_live_LDADD = libmerge.la $(CRITERION_LIBS)
test_outstanding_SOURCES = tests/unit/test_outstanding.c preload/pages.c preload/request.c
test_outstanding_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_outstanding_LDADD = libmerge.la $(CRITERION_LIBS)
test_progress_SOURCES = tests/unit/test_progress.c
test_progress_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_progress_LDADD = libmerge.la $(CRITERION_LIBS)
test_rank_set_SOURCES = tests/unit/test_rank_set.c report/rank_set.c
test_rank_set_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_rank_set_LDADD = libtrace.la $(CRITERION_LIBS)
test_short_name_SOURCES = tests/unit/test_short_name.c report/short_name.c
test_short_name_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_short_name_LDADD = libtrace.la $(CRITERION_LIBS)
test_line_SOURCES = tests/unit/test_line.c report/line.c
test_line_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_line_LDADD = $(CRITERION_LIBS)
endif
endif

# The preload library's tables, and its limit on traces.
if HAVE_CRITERION
TABLE_TESTS = test_request test_communicator test_selection test_signature_table test_trace_limit \
	test_mpirun_run
check_PROGRAMS += $(TABLE_TESTS)
TESTS += $(TABLE_TESTS)
test_request_SOURCES = tests/unit/test_request.c preload/pages.c preload/request.c
test_request_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_request_LDADD = $(CRITERION_LIBS) -lpthread
test_communicator_SOURCES = tests/unit/test_communicator.c preload/communicator.c preload/pages.c
test_communicator_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_communicator_LDADD = $(CRITERION_LIBS) -lpthread
test_selection_SOURCES = tests/unit/test_selection.c preload/selection.c
test_selection_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_selection_LDADD = libtrace.la $(CRITERION_LIBS)
test_signature_table_SOURCES = tests/unit/test_signature_table.c preload/pages.c \
	preload/signature_table.c
test_signature_table_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_signature_table_LDADD = $(CRITERION_LIBS)
test_trace_limit_SOURCES = tests/unit/test_trace_limit.c preload/trace_limit.c
test_trace_limit_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_trace_limit_LDADD = libtrace.la $(CRITERION_LIBS)
test_mpirun_run_SOURCES = tests/unit/test_mpirun_run.c preload/mpirun_run.c
test_mpirun_run_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_mpirun_run_LDADD = libtrace.la $(CRITERION_LIBS)
endif
