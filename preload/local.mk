# SPDX-License-Identifier: BSD-3-Clause
# The preload library: needs no MPI to build, and only libc to run.
pkglib_LTLIBRARIES += libscope_preload.la

mpi_generated = preload/mpi_names.h preload/mpi_wrappers.h preload/mpi_trampolines.S \
	preload/mpi_check.h
BUILT_SOURCES += $(mpi_generated)
CLEANFILES += $(mpi_generated)
mpi_generate = $(AM_V_GEN)$(MKDIR_P) preload && $(PYTHON) $(top_srcdir)/preload/generate.py
mpi_table = $(top_srcdir)/preload/mpi_functions.def
mpi_inputs = $(mpi_table) $(top_srcdir)/preload/generate.py

preload/mpi_names.h: $(mpi_inputs)
	$(mpi_generate) names $(mpi_table) > $@.tmp && mv $@.tmp $@
preload/mpi_wrappers.h: $(mpi_inputs)
	$(mpi_generate) wrappers $(mpi_table) > $@.tmp && mv $@.tmp $@
preload/mpi_trampolines.S: $(mpi_inputs)
	$(mpi_generate) trampolines $(mpi_table) > $@.tmp && mv $@.tmp $@
preload/mpi_check.h: $(mpi_inputs)
	$(mpi_generate) check $(mpi_table) > $@.tmp && mv $@.tmp $@

# The families, which are large, come last: what every process runs at its start lies together.
libscope_preload_la_SOURCES = \
	preload/abi/callbacks.h preload/abi/mpich.h preload/abi/openmpi.h preload/abi/standard.h \
	preload/clock.c preload/clock.h \
	preload/communicator.c preload/communicator.h \
	preload/dispatch.c preload/dispatch.h \
	preload/exports.c preload/exports.h \
	preload/glibc_compat.h \
	preload/identity.c preload/identity.h \
	preload/image.c preload/image.h \
	preload/likwid.c preload/likwid.h \
	preload/memo.h \
	preload/mpirun_run.c preload/mpirun_run.h \
	preload/objects.c preload/objects.h \
	preload/pages.c preload/pages.h \
	preload/recorder.c preload/recorder.h \
	preload/report.c preload/report.h \
	preload/request.c preload/request.h \
	preload/sanitizer.c \
	preload/selection.c preload/selection.h \
	preload/signature_table.c preload/signature_table.h \
	preload/symbol.c preload/symbol.h \
	preload/trace_limit.c preload/trace_limit.h \
	preload/trampolines.S \
	preload/wrappers.h \
	preload/family_mpich.c \
	preload/family_openmpi.c \
	preload/family_standard.c
# -fexceptions: a C++ error handler may throw through a wrapper. No stack protector: on aarch64 its
# guard lives in the loader, which would then be needed beside libc.
libscope_preload_la_CFLAGS = $(AM_CFLAGS) -O2 -fvisibility=hidden -ftls-model=initial-exec \
	-fexceptions -fno-tree-vectorize -ffunction-sections -fno-stack-protector -D_FORTIFY_SOURCE=2
libscope_preload_la_CCASFLAGS = $(AM_CPPFLAGS)
# separate-code: exports.c writes to the symbol table, which must not lie among code.
libscope_preload_la_LDFLAGS = -module -avoid-version -Wl,-z,relro -Wl,-z,defs \
	-Wl,-z,separate-code -Wl,--as-needed -Wl,--gc-sections \
	-Wl,--version-script=$(top_srcdir)/preload/exports.map
libscope_preload_la_LIBADD = libtrace.la
EXTRA_libscope_preload_la_DEPENDENCIES = preload/exports.map

EXTRA_DIST += preload/exports.map preload/generate.py preload/mpi_functions.def
$(libscope_preload_la_OBJECTS): $(mpi_generated)
