# SPDX-License-Identifier: BSD-3-Clause
# The recorder under many threads, without MPI; with ThreadSanitizer where the compiler has it.
check_PROGRAMS += recorder_threads
TESTS += tests/threads/recorder_threads.t
EXTRA_DIST += tests/threads/recorder_threads.t
# Of libtrace what threads share: it is to be watched as well.
recorder_threads_SOURCES = tests/threads/recorder_threads.c \
	preload/clock.c preload/communicator.c preload/identity.c preload/image.c preload/likwid.c \
	preload/likwid_helper.c preload/likwid_regions.c preload/likwid_snapshot.c \
	preload/mpirun_run.c preload/objects.c preload/pages.c \
	preload/recorder.c preload/report.c preload/request.c preload/signature_table.c \
	preload/trace_limit.c schema/trace_statistics.c schema/trace_writer.c
recorder_threads_CPPFLAGS = $(libscope_preload_la_CPPFLAGS)
recorder_threads_CFLAGS = $(AM_CFLAGS) -O1 $(THREAD_SANITIZE_CFLAGS)
recorder_threads_LDADD = libtrace.la -ldl -lpthread
$(recorder_threads_OBJECTS): $(mpi_generated)
