# SPDX-License-Identifier: BSD-3-Clause
# sp-run: the same without Slurm.
bin_PROGRAMS += sp-run
sp_run_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSP_PRELOAD_PATH='"$(pkglibdir)/libscope_preload.so"' \
	-DSP_MERGE_PATH='"$(bindir)/sp-merge"'
sp_run_CFLAGS = $(AM_CFLAGS) -O2 $(SP_HARDEN)
sp_run_LDFLAGS = $(SP_LDHARDEN)
sp_run_LDADD = libtrace.la
sp_run_SOURCES = \
	launch/child.c launch/child.h \
	launch/installation.c launch/installation.h \
	launch/sp-run.c \
	schema/streams.c schema/streams.h
