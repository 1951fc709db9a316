# SPDX-License-Identifier: BSD-3-Clause
# Unit tests of what is pure: formats and parsers.

# Options, names, the job record, LD_PRELOAD.
if HAVE_CRITERION
SCHEMA_TESTS = test_options test_run_path test_job_record test_ld_preload
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
test_ld_preload_SOURCES = tests/unit/test_ld_preload.c
test_ld_preload_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_ld_preload_LDADD = libtrace.la $(CRITERION_LIBS)
endif
