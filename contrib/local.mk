# SPDX-License-Identifier: BSD-3-Clause
# Scripts around the programs, of which the check of a host is installed, and the example that the
# quickstart profiles.
dist_pkglibexec_SCRIPTS = contrib/doctor

# QMPI tools as examples: their source is what shows how to write one.
qmpi_toolsdir = $(docdir)/qmpi-tools
dist_qmpi_tools_DATA = contrib/qmpi-tools/delay.c contrib/qmpi-tools/limits.c

# What slurm.conf is to name: it knows where sp-merge was installed.
epilogdir = $(pkglibexecdir)/epilog.d
epilog_SCRIPTS = contrib/epilog.d/90-scope-profile
CLEANFILES += contrib/epilog.d/90-scope-profile
contrib/epilog.d/90-scope-profile: contrib/epilog.d/90-scope-profile.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e 's|@bindir[@]|$(bindir)|g' \
		-e 's|@pkglibexecdir[@]|$(pkglibexecdir)|g' $(srcdir)/$@.in >$@.tmp && \
		chmod +x $@.tmp && mv $@.tmp $@

EXTRA_DIST += contrib/epilog.d/90-scope-profile.in contrib/mini-cluster contrib/packages.sh contrib/quickstart.sh contrib/run-tests.sh \
	contrib/steps.sh examples/stencil.c tests/cluster/lib.sh tests/cluster/mini-cluster.t \
	tests/skips-allowed
