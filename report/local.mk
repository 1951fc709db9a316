# SPDX-License-Identifier: BSD-3-Clause
# sp-report answers questions to a profile file.
bin_PROGRAMS += sp-report
sp_report_CFLAGS = $(AM_CFLAGS) $(SP_HARDEN) -O2 $(JSONC_CFLAGS)
sp_report_LDFLAGS = $(SP_LDHARDEN)
sp_report_LDADD = libprofile.la libtrace.la $(JSONC_LIBS)
sp_report_SOURCES = report/sp_report.c \
	report/ends.c report/ends.h \
	report/fence.c report/fence.h \
	report/functions.c report/functions.h \
	report/json.c report/json.h \
	report/line.c report/line.h \
	report/rank_set.c report/rank_set.h \
	report/short_name.c report/short_name.h \
	report/summary.c report/summary.h \
	report/table.c report/table.h \
	report/text.c report/text.h
