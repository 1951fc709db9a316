# SPDX-License-Identifier: BSD-3-Clause
# The scenarios on a real Slurm cluster with real MPI, which contrib/run-tests.sh runs.
check_PROGRAMS += shift_clock
shift_clock_SOURCES = tests/cluster/shift_clock.c
shift_clock_LDADD = libtrace.la -lm

EXTRA_DIST += \
	tests/cluster/chosen-kinds.t \
	tests/cluster/conformance-fortran.t \
	tests/cluster/ctrl-c.t \
	tests/cluster/doctor.t \
	tests/cluster/environment-untouched.t \
	tests/cluster/exit-status.t \
	tests/cluster/file-systems.t \
	tests/cluster/how-ranks-end.t \
	tests/cluster/lib.sh \
	tests/cluster/limits.t \
	tests/cluster/live.t \
	tests/cluster/living-with-others.t \
	tests/cluster/mini-cluster.t \
	tests/cluster/mpi4py.t \
	tests/cluster/mpirun.t \
	tests/cluster/netpipe.t \
	tests/cluster/no-mpi-leaves-nothing.t \
	tests/cluster/one-clock.t \
	tests/cluster/options.t \
	tests/cluster/outstanding.t \
	tests/cluster/own-output-unchanged.t \
	tests/cluster/plugstack.t \
	tests/cluster/polls.t \
	tests/cluster/programs/by_handle.py \
	tests/cluster/programs/callbacks.c \
	tests/cluster/programs/caller.c \
	tests/cluster/programs/chroot_plugin.c \
	tests/cluster/programs/collectives.c \
	tests/cluster/programs/communicators.c \
	tests/cluster/programs/compare_tally.py \
	tests/cluster/programs/completion.c \
	tests/cluster/programs/conformance.c \
	tests/cluster/programs/conformance.h \
	tests/cluster/programs/control.c \
	tests/cluster/programs/death.c \
	tests/cluster/programs/errors.c \
	tests/cluster/programs/every_group.F90 \
	tests/cluster/programs/exchange.py \
	tests/cluster/programs/io.c \
	tests/cluster/programs/library.c \
	tests/cluster/programs/local_queries.c \
	tests/cluster/programs/many.c \
	tests/cluster/programs/message_order.py \
	tests/cluster/programs/mpi4.c \
	tests/cluster/programs/neighbours.c \
	tests/cluster/programs/never_started.c \
	tests/cluster/programs/one_sided.c \
	tests/cluster/programs/outstanding.F90 \
	tests/cluster/programs/outstanding.c \
	tests/cluster/programs/overrun.c \
	tests/cluster/programs/plain.c \
	tests/cluster/programs/point_to_point.c \
	tests/cluster/programs/prober.c \
	tests/cluster/programs/processes.c \
	tests/cluster/programs/sessions_alone.c \
	tests/cluster/programs/spawn.c \
	tests/cluster/programs/speaker.c \
	tests/cluster/programs/spin.c \
	tests/cluster/programs/stuck.c \
	tests/cluster/programs/tally.h \
	tests/cluster/programs/tally_fortran.c \
	tests/cluster/programs/threads.c \
	tests/cluster/programs/tool.c \
	tests/cluster/programs/unwinding.cc \
	tests/cluster/programs/waiter.c \
	tests/cluster/programs/wildcards.c \
	tests/cluster/scenario.sh \
	tests/cluster/site-defaults.t \
	tests/cluster/sp-dump.t \
	tests/cluster/sp-merge.t \
	tests/cluster/sp-report.t \
	tests/cluster/sp-run.t \
	tests/cluster/spawn.t \
	tests/cluster/stopped-merge.t \
	tests/cluster/symbol-versions.t \
	tests/cluster/taken-directory.t \
	tests/cluster/threads-and-processes.t \
	tests/cluster/three-concurrent-steps.t \
	tests/cluster/two-hosts-two-mpis.t \
	tests/cluster/wildcards.t
