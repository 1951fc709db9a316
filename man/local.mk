# SPDX-License-Identifier: BSD-3-Clause
# Manual pages, in mdoc. tests/unit/man.t holds them against what the programs say of themselves.
dist_man_MANS = \
	man/qmpi.7 \
	man/scope-profile.1 \
	man/scope_profile.8 \
	man/sp-dump.1 \
	man/sp-merge.1 \
	man/sp-report.1 \
	man/sp-run.1
