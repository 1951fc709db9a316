# SPDX-License-Identifier: BSD-3-Clause
# Scripts around the programs, of which the check of a host is installed, and the example that the
# quickstart profiles.
dist_pkglibexec_SCRIPTS = contrib/doctor

EXTRA_DIST += contrib/mini-cluster contrib/packages.sh contrib/quickstart.sh contrib/run-tests.sh \
	contrib/steps.sh examples/stencil.c tests/cluster/lib.sh tests/cluster/mini-cluster.t \
	tests/skips-allowed
