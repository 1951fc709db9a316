# SPDX-License-Identifier: BSD-3-Clause
# libtrace: the rank trace, the job and exit records, labels and options (libc only).
# libprofile: the HDF5 profile file, and what the tools that use it share.
noinst_LTLIBRARIES += libtrace.la
libtrace_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -O2
libtrace_la_SOURCES = \
	schema/command_text.c schema/command_text.h \
	schema/descriptors.c schema/descriptors.h \
	schema/error.c schema/error.h \
	schema/exit_record.c schema/exit_record.h \
	schema/host_key.c schema/host_key.h \
	schema/job_end.c schema/job_end.h \
	schema/job_record.c schema/job_record.h \
	schema/ld_preload.c schema/ld_preload.h \
	schema/likwid_count.h schema/likwid_record.h \
	schema/lock.h \
	schema/mpi_kind.c schema/mpi_kind.h \
	schema/node_marker.c schema/node_marker.h \
	schema/options.c schema/options.h \
	schema/percent.c schema/percent.h \
	schema/region_label.c schema/region_label.h \
	schema/regular_file.c schema/regular_file.h \
	schema/run_environment.h \
	schema/run_path.c schema/run_path.h \
	schema/trace_format.h \
	schema/size_limit.h \
	schema/size_text.c schema/size_text.h \
	schema/trace_container.c schema/trace_container.h \
	schema/trace_outstanding.c schema/trace_outstanding.h \
	schema/trace_reader.c schema/trace_reader.h \
	schema/trace_statistics.c schema/trace_statistics.h \
	schema/trace_writer.c schema/trace_writer.h \
	schema/user_ids.c schema/user_ids.h \
	schema/varint.h

EXTRA_DIST += schema/README.md schema/PROFILE.md

if !PRELOAD_ONLY
noinst_LTLIBRARIES += libprofile.la
libprofile_la_CFLAGS = $(AM_CFLAGS) -O2 $(HDF5_CFLAGS) $(JSONC_CFLAGS) $(ZLIB_CFLAGS)
libprofile_la_LIBADD = $(HDF5_LIBS) $(JSONC_LIBS) $(ZLIB_LIBS)
libprofile_la_SOURCES = \
	schema/profile_events.c schema/profile_events.h \
	schema/profile_groups.c \
	schema/profile_likwid.c schema/profile_likwid.h \
	schema/profile_reader.c schema/profile_reader.h \
	schema/profile_row.c schema/profile_row.h \
	schema/profile_stage.c schema/profile_stage.h \
	schema/profile_table.c schema/profile_table.h \
	schema/profile_writer.c schema/profile_writer.h schema/profile_writer_parts.h \
	schema/rank_groups.c schema/rank_groups.h \
	schema/streams.c schema/streams.h \
	schema/whole_io.c schema/whole_io.h
endif
