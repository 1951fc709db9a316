# SPDX-License-Identifier: BSD-3-Clause
# The preload library: needs no MPI to build, and only libc to run.
pkglib_LTLIBRARIES += libscope_preload.la

mpi_generated = preload/mpi_names.h preload/mpi_wrappers.h preload/mpi_trampolines.S \
	preload/mpi_check.h
qmpi_generated = preload/qmpi_numbers.h preload/qmpi_ways.h preload/scope_qmpi.h
BUILT_SOURCES += $(mpi_generated) $(qmpi_generated)
CLEANFILES += $(mpi_generated) $(qmpi_generated)
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

qmpi_generate = $(AM_V_GEN)$(MKDIR_P) preload && \
	$(PYTHON) -B $(top_srcdir)/preload/generate_qmpi.py
qmpi_tables = $(mpi_table) $(top_srcdir)/preload/qmpi_numbers.def
qmpi_inputs = $(qmpi_tables) $(top_srcdir)/preload/generate_qmpi.py \
	$(top_srcdir)/preload/generate.py
preload/qmpi_numbers.h: $(qmpi_inputs)
	$(qmpi_generate) numbers $(qmpi_tables) > $@.tmp && mv $@.tmp $@
preload/qmpi_ways.h: $(qmpi_inputs)
	$(qmpi_generate) ways $(qmpi_tables) > $@.tmp && mv $@.tmp $@
preload/scope_qmpi.h: $(qmpi_inputs)
	$(qmpi_generate) header $(qmpi_tables) > $@.tmp && mv $@.tmp $@

# What tools include, and how they find it.
nodist_include_HEADERS = preload/scope_qmpi.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = preload/scope-qmpi.pc

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
	preload/likwid_helper.c preload/likwid_helper.h \
	preload/likwid_regions.c preload/likwid_regions.h \
	preload/likwid_snapshot.c preload/likwid_snapshot.h \
	preload/memo.h \
	preload/mpirun_run.c preload/mpirun_run.h \
	preload/objects.c preload/objects.h \
	preload/pages.c preload/pages.h \
	preload/qmpi.c preload/qmpi.h \
	preload/qmpi_tools.c preload/qmpi_tools.h \
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
	preload/qmpi_way.c preload/qmpi_way.h \
	preload/family_mpich.c \
	preload/family_openmpi.c \
	preload/family_standard.c
# -fexceptions: a C++ error handler may throw through a wrapper. No stack protector: on aarch64 its
# guard lives in the loader, which would then be needed beside libc.
libscope_preload_la_CFLAGS = $(AM_CFLAGS) -O2 -fvisibility=hidden -ftls-model=initial-exec \
	-fexceptions -fno-tree-vectorize -ffunction-sections -fno-stack-protector -D_FORTIFY_SOURCE=2
libscope_preload_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSP_LIKWID_COUNT_PATH='"$(pkglibexecdir)/sp-likwid-count"'
libscope_preload_la_CCASFLAGS = $(AM_CPPFLAGS)
# separate-code: exports.c writes to the symbol table, which must not lie among code.
libscope_preload_la_LDFLAGS = -module -avoid-version -Wl,-z,relro -Wl,-z,defs \
	-Wl,-z,separate-code -Wl,--as-needed -Wl,--gc-sections \
	-Wl,--version-script=$(top_srcdir)/preload/exports.map
libscope_preload_la_LIBADD = libtrace.la
EXTRA_libscope_preload_la_DEPENDENCIES = preload/exports.map

EXTRA_DIST += preload/exports.map preload/generate.py preload/generate_qmpi.py \
	preload/mpi_functions.def preload/qmpi_numbers.def
$(libscope_preload_la_OBJECTS): $(mpi_generated) $(qmpi_generated)
