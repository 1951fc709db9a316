# SPDX-License-Identifier: BSD-3-Clause
# LIKWID without the hardware.
check_PROGRAMS += access_daemon
access_daemon_SOURCES = tests/likwid/access_daemon.c
TESTS += tests/likwid/markers.t
EXTRA_DIST += tests/likwid/markers.t tests/likwid/simulation.sh tests/likwid/nodes.sh \
	tests/likwid/marked.c tests/likwid/marked.f90 \
	tests/likwid/unmarked.c tests/likwid/standin.c \
	tests/likwid/markers/memory tests/likwid/markers/one-cpu tests/likwid/markers/two-cpus \
	tests/likwid/markers/two-groups tests/likwid/markers/version-5.4 \
	tests/likwid/markers/version-5.5 tests/likwid/markers/decimal-comma \
	tests/likwid/markers/many-threads
