# SPDX-License-Identifier: BSD-3-Clause
# Ranks that are killed at random instants, of the stand-ins for MPI libraries and of real ones.
check_PROGRAMS += killer
TESTS += tests/kill/kill.t
EXTRA_DIST += tests/kill/kill.t tests/kill/victim.c
killer_SOURCES = tests/kill/killer.c tests/kill/sequence.h
killer_LDADD = libtrace.la

victims = tests/kill/openmpi/victim tests/kill/mpich/victim
victim_source = $(top_srcdir)/tests/kill/victim.c
victim_inputs = $(victim_source) $(top_srcdir)/tests/kill/sequence.h
if HAVE_OPENMPI
victims += tests/kill/real/openmpi
endif
if HAVE_MPICH
victims += tests/kill/real/mpich
endif
check_DATA += $(victims)
CLEANFILES += $(victims)
tests/kill/openmpi/victim: $(victim_inputs) $(standin)/openmpi/libmpi.so
	$(standin_made) $(standin_cc) -DSTANDIN -DSTANDIN_OPENMPI -o $@ $(victim_source) \
		$(openmpi_link) -lpthread
tests/kill/mpich/victim: $(victim_inputs) $(standin)/mpich/libmpich.so
	$(standin_made) $(standin_cc) -DSTANDIN -o $@ $(victim_source) $(mpich_link) -lpthread
tests/kill/real/openmpi: $(victim_inputs)
	$(standin_made) $(MPICC_OPENMPI) $(AM_CPPFLAGS) -O1 -o $@ $(victim_source) -lpthread
tests/kill/real/mpich: $(victim_inputs)
	$(standin_made) $(MPICC_MPICH) $(AM_CPPFLAGS) -O1 -o $@ $(victim_source) -lpthread
