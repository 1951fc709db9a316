# SPDX-License-Identifier: BSD-3-Clause
# sp-merge folds the traces of a run into a profile file; sp-dump prints one trace, or what the ranks
# of a run that goes on do.
noinst_LTLIBRARIES += libmerge.la
libmerge_la_CFLAGS = $(AM_CFLAGS) $(SP_HARDEN) -O2
libmerge_la_LIBADD = libprofile.la libtrace.la -lm -lpthread
libmerge_la_SOURCES = \
	merge/alignment.c merge/alignment.h \
	merge/clock.c merge/clock.h \
	merge/communicators.c merge/communicators.h \
	merge/containers.c merge/containers.h \
	merge/duration.c merge/duration.h \
	merge/epilog.c merge/epilog.h \
	merge/epilog_step.c merge/epilog_step.h \
	merge/mpirun_runs.c merge/mpirun_runs.h merge/run_nodes.c merge/run_nodes.h \
	merge/exits.c merge/exits.h \
	merge/file_limit.c merge/file_limit.h \
	merge/flight.c merge/flight.h \
	merge/fenced_tool.c merge/fenced_tool.h \
	merge/fold.c merge/fold.h \
	merge/formula.c merge/formula.h \
	merge/fold_tables.c \
	merge/folding.c merge/folding.h \
	merge/host_pairs.c merge/host_pairs.h \
	merge/hosts.c merge/hosts.h \
	merge/labels.c merge/labels.h \
	merge/lane.c merge/lane.h \
	merge/last_calls.c merge/last_calls.h \
	merge/likwid.c merge/likwid.h \
	merge/likwid_marker.c merge/likwid_marker.h \
	merge/likwid_metrics.c merge/likwid_metrics.h \
	merge/likwid_rank.c merge/likwid_rank.h \
	merge/likwid_read.c merge/likwid_read.h \
	merge/likwid_record.c merge/likwid_record.h \
	merge/likwid_snapshot.c merge/likwid_snapshot.h \
	merge/likwid_sockets.c merge/likwid_sockets.h \
	merge/likwid_text.c merge/likwid_text.h \
	merge/live.c merge/live.h \
	merge/live_group.c merge/live_group.h \
	merge/live_text.c merge/live_text.h \
	merge/losses.c merge/losses.h \
	merge/members.c merge/members.h \
	merge/metadata.c merge/metadata.h \
	merge/names.c merge/names.h \
	merge/outstanding.c merge/outstanding.h \
	merge/pauses.c merge/pauses.h \
	merge/progress.c merge/progress.h \
	merge/publish.c merge/publish.h \
	merge/rank.c merge/rank.h \
	merge/rank_end.c merge/rank_end.h \
	merge/regions.c merge/regions.h \
	merge/run.c merge/run.h \
	merge/run_choice.c merge/run_choice.h \
	merge/running_steps.c merge/running_steps.h \
	merge/skew.c merge/skew.h \
	merge/system_log.c merge/system_log.h \
	merge/tally.c merge/tally.h \
	merge/timeline.c merge/timeline.h \
	merge/traffic.c merge/traffic.h \
	merge/unrecorded.c merge/unrecorded.h \
	merge/user_child.c merge/user_child.h \
	merge/workers.c merge/workers.h \
	merge/world.c merge/world.h \
	schema/likwid_answer.h \
	schema/processor.c schema/processor.h \
	schema/registry.c schema/registry.h \
	schema/spool_files.c schema/spool_files.h \
	schema/spool_place.c schema/spool_place.h \
	schema/step_record.c schema/step_record.h

bin_PROGRAMS += sp-merge sp-dump
sp_merge_CFLAGS = $(AM_CFLAGS) $(SP_HARDEN) -O2
sp_merge_LDFLAGS = $(SP_LDHARDEN)
sp_merge_LDADD = libmerge.la
sp_merge_SOURCES = merge/sp_merge.c

sp_dump_CFLAGS = $(AM_CFLAGS) $(SP_HARDEN) -O2 $(JSONC_CFLAGS)
sp_dump_LDFLAGS = $(SP_LDHARDEN)
sp_dump_LDADD = libmerge.la $(JSONC_LIBS)
sp_dump_SOURCES = merge/sp_dump.c \
	merge/live_json.c merge/live_json.h \
	merge/live_view.c merge/live_view.h

# Where there is LIKWID: the only program that is built from its header, and under its licence.
if HAVE_LIKWID
pkglibexec_PROGRAMS += sp-likwid-read
sp_likwid_read_CFLAGS = $(AM_CFLAGS) $(SP_HARDEN) -O2
sp_likwid_read_LDFLAGS = $(SP_LDHARDEN)
sp_likwid_read_LDADD = $(LIKWID_LIBS) -ldl
sp_likwid_read_SOURCES = merge/sp_likwid_read.c schema/likwid_answer.h
endif
