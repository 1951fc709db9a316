# SPDX-License-Identifier: BSD-3-Clause
# The SPANK plugin: nothing but libc, and no symbol for Slurm but those it looks for.
slurmplugin_LTLIBRARIES = scope_profile.la
scope_profile_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSP_PRELOAD_PATH='"$(pkglibdir)/libscope_preload.so"' \
	-DSP_MERGE_PATH='"$(bindir)/sp-merge"' \
	-DSP_LIKWID_TRY_PATH='"$(pkglibexecdir)/sp-likwid-try"'
scope_profile_la_CFLAGS = $(AM_CFLAGS) -O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong
scope_profile_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,relro -Wl,-z,now \
	-Wl,--version-script=$(top_srcdir)/spank/scope_profile.map
scope_profile_la_LIBADD = libtrace.la
scope_profile_la_DEPENDENCIES = libtrace.la spank/scope_profile.map
scope_profile_la_SOURCES = \
	schema/registry.c schema/registry.h \
	schema/spool_files.c schema/spool_files.h \
	schema/spool_place.c schema/spool_place.h \
	schema/step_record.c schema/step_record.h \
	spank/bounded_child.c spank/bounded_child.h \
	spank/elf_check.c spank/elf_check.h \
	spank/exit_child.c spank/exit_child.h \
	spank/job_end_child.c spank/job_end_child.h \
	spank/likwid.c spank/likwid.h \
	spank/merge_child.c spank/merge_child.h \
	spank/mpirun.c spank/mpirun.h \
	spank/multi_prog.c spank/multi_prog.h \
	spank/node_done.c spank/node_done.h \
	spank/node_end.c spank/node_end.h \
	spank/plugin.c \
	spank/program.c spank/program.h \
	spank/root_change.c spank/root_change.h \
	spank/run_place.c spank/run_place.h \
	spank/settings.c spank/settings.h \
	spank/spool.c spank/spool.h \
	spank/spool_child.c spank/spool_child.h \
	spank/spool_leftovers.c spank/spool_leftovers.h \
	spank/srun.c spank/srun.h \
	spank/step_entry.c spank/step_entry.h \
	spank/stepd.c spank/stepd.h \
	spank/task.c spank/task.h \
	spank/task_cpus.c spank/task_cpus.h \
	spank/task_end.c spank/task_end.h \
	spank/task_run.c spank/task_run.h \
	spank/tool_output.c spank/tool_output.h \
	spank/tools.c spank/tools.h

# They open liblikwid, whose headers they do not need.
pkglibexec_PROGRAMS = sp-likwid-count sp-likwid-try
sp_likwid_count_CFLAGS = $(AM_CFLAGS) -O2 $(SP_HARDEN)
sp_likwid_count_LDFLAGS = $(SP_LDHARDEN)
sp_likwid_count_LDADD = -ldl
sp_likwid_count_SOURCES = schema/descriptors.c schema/descriptors.h \
	spank/sp_likwid_count.c
sp_likwid_try_CFLAGS = $(AM_CFLAGS) -O2 $(SP_HARDEN)
sp_likwid_try_LDFLAGS = $(SP_LDHARDEN)
sp_likwid_try_LDADD = -ldl
sp_likwid_try_SOURCES = schema/processor.c schema/processor.h \
	spank/likwid_formulas.c spank/likwid_formulas.h spank/sp_likwid_try.c

EXTRA_DIST += spank/README.md spank/scope_profile.map
