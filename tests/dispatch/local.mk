# SPDX-License-Identifier: BSD-3-Clause
# The preload library between programs and a stand-in MPI library, of which there is one like
# Open MPI and one like MPICH. Needs no MPI, so that a cross build can be tested too:
#
#     mkdir build-aarch64 && cd build-aarch64
#     ../configure --host=aarch64-linux-gnu --enable-preload-only && make check
#
# (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user.)
check_PROGRAMS += trace_list images
trace_list_SOURCES = tests/dispatch/trace_list.c
trace_list_LDADD = libtrace.la
images_SOURCES = tests/dispatch/images.c preload/image.c preload/image.h
images_CFLAGS = $(AM_CFLAGS)
images_LDADD = -ldl

# Made by hand: libtool would hide what is to be run and preloaded behind scripts of its own.
standin = tests/dispatch
standin_source = $(top_srcdir)/tests/dispatch
# Who calls is told by the return address, so no call may be the last jump of a function.
standin_cc = $(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -fexceptions \
	-fno-optimize-sibling-calls
standin_shared = $(standin_cc) -fPIC -shared
standin_inputs = $(standin_source)/standin.h $(mpi_generated)
standin_library = $(standin_source)/standin.c $(standin_source)/standin_exports.S $(standin_inputs)
standin_made = $(AM_V_CCLD)$(MKDIR_P) $(@D) &&
openmpi_link = -L$(standin)/openmpi -lmpi -Wl,-rpath,$(abs_top_builddir)/$(standin)/openmpi
mpich_link = -L$(standin)/mpich -lmpich -Wl,-rpath,$(abs_top_builddir)/$(standin)/mpich
standin_files = \
	$(standin)/openmpi/libmpi.so $(standin)/openmpi/program $(standin)/openmpi/program_fixed \
	$(standin)/openmpi/libtool.so $(standin)/openmpi/plugin.so \
	$(standin)/openmpi/lacking/libmpi.so $(standin)/openmpi/qmpi_tool.so \
	$(standin)/openmpi/qmpi_jumps.so $(standin)/openmpi/qmpi_apart.so \
	$(standin)/openmpi/optional $(standin)/openmpi/optional_now \
	$(standin)/openmpi/optional_fixed $(standin)/openmpi/optional.so \
	$(standin)/openmpi/optional_lazy.so \
	$(standin)/mpich/libmpich.so $(standin)/mpich/program $(standin)/mpich/program_fixed \
	$(standin)/mpich/libtool.so $(standin)/mpich/plugin.so \
	$(standin)/mpich/lacking/libmpich.so $(standin)/mpich/qmpi_tool.so \
	$(standin)/mpich/qmpi_jumps.so $(standin)/mpich/qmpi_apart.so \
	$(standin)/mpich/optional $(standin)/mpich/optional_now \
	$(standin)/mpich/optional_fixed $(standin)/mpich/optional.so \
	$(standin)/mpich/optional_lazy.so \
	$(standin)/mpich/unknown/libmpich.so $(standin)/mpich/hosting/libmpich.so \
	$(standin)/loader $(standin)/optional_alone \
	$(standin)/stub/libserial.so $(standin)/stub/plugin.so
check_DATA = $(standin_files)
CLEANFILES += $(standin_files)

$(standin)/openmpi/libmpi.so: $(standin_library)
	$(standin_made) $(standin_shared) -DSTANDIN_OPENMPI -Wl,-soname,libmpi.so -o $@ \
		$(standin_source)/standin.c $(standin_source)/standin_exports.S
$(standin)/openmpi/lacking/libmpi.so: $(standin_library)
	$(standin_made) $(standin_shared) -DSTANDIN_OPENMPI -DSTANDIN_LACKING -Wl,-soname,libmpi.so \
		-o $@ $(standin_source)/standin.c $(standin_source)/standin_exports.S
$(standin)/mpich/libmpich.so: $(standin_library)
	$(standin_made) $(standin_shared) -Wl,-soname,libmpich.so -o $@ \
		$(standin_source)/standin.c $(standin_source)/standin_exports.S
$(standin)/mpich/lacking/libmpich.so: $(standin_library)
	$(standin_made) $(standin_shared) -DSTANDIN_LACKING -Wl,-soname,libmpich.so -o $@ \
		$(standin_source)/standin.c $(standin_source)/standin_exports.S
$(standin)/mpich/unknown/libmpich.so: $(standin_library)
	$(standin_made) $(standin_shared) -DSTANDIN_UNKNOWN -Wl,-soname,libmpich.so -o $@ \
		$(standin_source)/standin.c $(standin_source)/standin_exports.S
$(standin)/mpich/hosting/libmpich.so: $(standin_library)
	$(standin_made) $(standin_shared) -DSTANDIN_QMPI -Wl,-soname,libmpich.so -o $@ \
		$(standin_source)/standin.c $(standin_source)/standin_exports.S

standin_program = $(standin_source)/program.c $(standin_source)/standin_call.S
$(standin)/openmpi/program: $(standin_program) $(standin)/openmpi/libmpi.so
	$(standin_made) $(standin_cc) -fPIE -pie -DSTANDIN_OPENMPI -o $@ $(standin_program) \
		$(openmpi_link) -ldl -lm -lpthread
$(standin)/openmpi/program_fixed: $(standin_program) $(standin)/openmpi/libmpi.so
	$(standin_made) $(standin_cc) -fno-PIE -no-pie -DSTANDIN_OPENMPI -o $@ $(standin_program) \
		$(openmpi_link) -ldl -lm -lpthread
$(standin)/mpich/program: $(standin_program) $(standin)/mpich/libmpich.so
	$(standin_made) $(standin_cc) -fPIE -pie -o $@ $(standin_program) $(mpich_link) -ldl -lm -lpthread
$(standin)/mpich/program_fixed: $(standin_program) $(standin)/mpich/libmpich.so
	$(standin_made) $(standin_cc) -fno-PIE -no-pie -o $@ $(standin_program) $(mpich_link) \
		-ldl -lm -lpthread

$(standin)/openmpi/libtool.so: $(standin_source)/tool.c $(standin)/openmpi/libmpi.so
	$(standin_made) $(standin_shared) -DSTANDIN_OPENMPI -o $@ $(standin_source)/tool.c
$(standin)/mpich/libtool.so: $(standin_source)/tool.c $(standin)/mpich/libmpich.so
	$(standin_made) $(standin_shared) -o $@ $(standin_source)/tool.c
$(standin)/openmpi/plugin.so: $(standin_source)/plugin.c $(standin)/openmpi/libmpi.so
	$(standin_made) $(standin_shared) -DSTANDIN_OPENMPI -o $@ $(standin_source)/plugin.c \
		$(openmpi_link)
$(standin)/mpich/plugin.so: $(standin_source)/plugin.c $(standin)/mpich/libmpich.so
	$(standin_made) $(standin_shared) -o $@ $(standin_source)/plugin.c $(mpich_link)

# A QMPI tool finds the stand-in by an mpi.h, as one for a real MPI does. To optimize all of its
# wrappers takes half a minute.
qmpi_tool_inputs = $(standin_source)/qmpi_tool.c $(standin_source)/mpi/mpi.h $(standin_inputs) \
	$(qmpi_generated)
qmpi_tool_cc = $(standin_shared) -O0 -Wno-unused-const-variable -I$(standin_source)/mpi -Ipreload
$(standin)/openmpi/qmpi_tool.so: $(qmpi_tool_inputs) $(standin)/openmpi/libmpi.so
	$(standin_made) $(qmpi_tool_cc) -DSTANDIN_OPENMPI -o $@ $(standin_source)/qmpi_tool.c \
		$(openmpi_link) -ldl -lpthread
$(standin)/mpich/qmpi_tool.so: $(qmpi_tool_inputs) $(standin)/mpich/libmpich.so
	$(standin_made) $(qmpi_tool_cc) -o $@ $(standin_source)/qmpi_tool.c $(mpich_link) -ldl -lpthread
# The same with wrappers that end in jumps.
$(standin)/openmpi/qmpi_jumps.so: $(qmpi_tool_inputs) $(standin)/openmpi/libmpi.so
	$(standin_made) $(qmpi_tool_cc) -O1 -foptimize-sibling-calls -DSTANDIN_OPENMPI -o $@ \
		$(standin_source)/qmpi_tool.c $(openmpi_link) -ldl -lpthread
$(standin)/mpich/qmpi_jumps.so: $(qmpi_tool_inputs) $(standin)/mpich/libmpich.so
	$(standin_made) $(qmpi_tool_cc) -O1 -foptimize-sibling-calls -o $@ \
		$(standin_source)/qmpi_tool.c $(mpich_link) -ldl -lpthread
$(standin)/openmpi/qmpi_apart.so: $(standin_source)/qmpi_apart.c preload/scope_qmpi.h \
		$(standin)/openmpi/libmpi.so
	$(standin_made) $(qmpi_tool_cc) -DSTANDIN_OPENMPI -o $@ $(standin_source)/qmpi_apart.c \
		$(openmpi_link)
$(standin)/mpich/qmpi_apart.so: $(standin_source)/qmpi_apart.c preload/scope_qmpi.h \
		$(standin)/mpich/libmpich.so
	$(standin_made) $(qmpi_tool_cc) -o $@ $(standin_source)/qmpi_apart.c $(mpich_link)

# Weak references, in each kind of program and of plugin. -fPIC: code at a fixed address would take
# what it was linked with for granted.
optional_inputs = $(standin_source)/optional.c $(standin_source)/optional.h \
	$(standin_source)/optional_program.c $(standin_inputs)
optional_program = $(standin_source)/optional.c $(standin_source)/optional_program.c -ldl
optional_openmpi = -DSTANDIN_OPENMPI -o $@ -Wl,--no-as-needed $(openmpi_link)
optional_mpich = -o $@ -Wl,--no-as-needed $(mpich_link)
$(standin)/openmpi/optional: $(optional_inputs) $(standin)/openmpi/libmpi.so
	$(standin_made) $(standin_cc) -fPIE -pie -Wl,-z,lazy $(optional_program) $(optional_openmpi)
$(standin)/openmpi/optional_now: $(optional_inputs) $(standin)/openmpi/libmpi.so
	$(standin_made) $(standin_cc) -fPIE -pie -Wl,-z,now $(optional_program) $(optional_openmpi)
$(standin)/openmpi/optional_fixed: $(optional_inputs) $(standin)/openmpi/libmpi.so
	$(standin_made) $(standin_cc) -fPIC -no-pie -DOPTIONAL_FIXED $(optional_program) \
		$(optional_openmpi)
$(standin)/openmpi/optional.so: $(optional_inputs) $(standin)/openmpi/libmpi.so
	$(standin_made) $(standin_shared) -Wl,-z,now $(standin_source)/optional.c \
		$(optional_openmpi)
$(standin)/openmpi/optional_lazy.so: $(optional_inputs) $(standin)/openmpi/libmpi.so
	$(standin_made) $(standin_shared) -Wl,-z,lazy $(standin_source)/optional.c \
		$(optional_openmpi)
$(standin)/mpich/optional: $(optional_inputs) $(standin)/mpich/libmpich.so
	$(standin_made) $(standin_cc) -fPIE -pie -Wl,-z,lazy $(optional_program) $(optional_mpich)
$(standin)/mpich/optional_now: $(optional_inputs) $(standin)/mpich/libmpich.so
	$(standin_made) $(standin_cc) -fPIE -pie -Wl,-z,now $(optional_program) $(optional_mpich)
$(standin)/mpich/optional_fixed: $(optional_inputs) $(standin)/mpich/libmpich.so
	$(standin_made) $(standin_cc) -fPIC -no-pie -DOPTIONAL_FIXED $(optional_program) \
		$(optional_mpich)
$(standin)/mpich/optional.so: $(optional_inputs) $(standin)/mpich/libmpich.so
	$(standin_made) $(standin_shared) -Wl,-z,now $(standin_source)/optional.c \
		$(optional_mpich)
$(standin)/mpich/optional_lazy.so: $(optional_inputs) $(standin)/mpich/libmpich.so
	$(standin_made) $(standin_shared) -Wl,-z,lazy $(standin_source)/optional.c \
		$(optional_mpich)
$(standin)/optional_alone: $(optional_inputs)
	$(standin_made) $(standin_cc) -fPIE -pie -o $@ $(optional_program)

$(standin)/stub/libserial.so: $(standin_source)/stub.c
	$(standin_made) $(standin_shared) -Wl,-soname,libserial.so -o $@ $(standin_source)/stub.c
$(standin)/stub/plugin.so: $(standin_source)/plugin.c $(standin)/stub/libserial.so
	$(standin_made) $(standin_shared) -o $@ $(standin_source)/plugin.c -L$(standin)/stub -lserial \
		-Wl,-rpath,$(abs_top_builddir)/$(standin)/stub
$(standin)/loader: $(standin_source)/loader.c
	$(standin_made) $(standin_cc) -o $@ $(standin_source)/loader.c -ldl

dispatch_tests = tests/dispatch/openmpi.t tests/dispatch/mpich.t tests/dispatch/elf.t \
	tests/dispatch/images.t tests/dispatch/qmpi_openmpi.t tests/dispatch/qmpi_mpich.t
TESTS += $(dispatch_tests)
EXTRA_DIST += $(dispatch_tests) tests/dispatch/tap.sh tests/dispatch/dispatch.sh \
	tests/dispatch/standin.h tests/dispatch/standin.c tests/dispatch/standin_exports.S \
	tests/dispatch/standin_call.S tests/dispatch/program.c tests/dispatch/tool.c \
	tests/dispatch/plugin.c tests/dispatch/loader.c tests/dispatch/stub.c \
	tests/dispatch/optional.c tests/dispatch/optional.h tests/dispatch/optional_program.c \
	tests/dispatch/throws.cc tests/dispatch/qmpi.sh tests/dispatch/qmpi_tool.c \
	tests/dispatch/qmpi_apart.c tests/dispatch/qmpi_cxx.cc tests/dispatch/mpi/mpi.h

# C++ is tried where there is a compiler for it: configure asks for none, make knows its name.
if !PRELOAD_ONLY
standin_cxx_files = $(standin)/openmpi/throws $(standin)/mpich/throws \
	$(standin)/openmpi/qmpi_cxx.so $(standin)/mpich/qmpi_cxx.so
check_DATA += $(standin_cxx_files)
CLEANFILES += $(standin_cxx_files)
standin_cxx = $(CXX) $(AM_CPPFLAGS) -Wall -Wextra -g
$(standin)/openmpi/throws: $(standin_source)/throws.cc $(standin)/openmpi/libmpi.so
	$(standin_made) $(standin_cxx) -DSTANDIN_OPENMPI -o $@ $(standin_source)/throws.cc $(openmpi_link)
$(standin)/mpich/throws: $(standin_source)/throws.cc $(standin)/mpich/libmpich.so
	$(standin_made) $(standin_cxx) -o $@ $(standin_source)/throws.cc $(mpich_link)
qmpi_cxx = $(standin_cxx) -shared -fPIC -I$(standin_source)/mpi -Ipreload -o $@ \
	$(standin_source)/qmpi_cxx.cc
$(standin)/openmpi/qmpi_cxx.so: $(standin_source)/qmpi_cxx.cc preload/scope_qmpi.h
	$(standin_made) $(qmpi_cxx) -DSTANDIN_OPENMPI
$(standin)/mpich/qmpi_cxx.so: $(standin_source)/qmpi_cxx.cc preload/scope_qmpi.h
	$(standin_made) $(qmpi_cxx)
endif

if !PRELOAD_ONLY
TESTS += tests/dispatch/memcheck.t
endif
EXTRA_DIST += tests/dispatch/memcheck.t
