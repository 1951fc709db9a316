#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The recorder, as it is installed, under valgrind's memcheck: in a program that ends as without it,
# nothing that was not set is used and no memory that is not ours, also by who reads the trace.
# shellcheck source=tests/dispatch/tap.sh
. "${top_srcdir:?}/tests/dispatch/tap.sh"

type valgrind >/dev/null 2>&1 || {
    echo "1..0 # SKIP no valgrind"
    exit 0
}
program=${top_builddir:?}/tests/dispatch/openmpi/program
preload=$(realpath "$top_builddir")/.libs/libscope_preload.so
work=$(mktemp -d "${TMPDIR:-/tmp}/sp-memcheck-XXXXXX")
trap 'rm -rf "$work"' EXIT

# checked NAME WORD...: the words as a command, with no complaint of memcheck's
checked() {
    valgrind --quiet --trace-children=yes --error-exitcode=99 --log-file="$work/complaint.%p" \
        "${@:2}" >"$work/output"
    result $? "$1"
    cat "$work"/complaint.* | head -n 60 | sed 's/^/# /'
    rm "$work"/complaint.*
}

for scenario in every requests wildcards failures polls control threads fork; do
    checked "$scenario: the program" env LD_PRELOAD="$preload" SCOPE_PROFILE_RUN="$work/$scenario" \
        "$program" "$scenario"
done
for how in labels polls; do
    checked "requests, as $how: the reader" "$top_builddir/trace_list" $how \
        "$work"/requests/*/*.sptrace
done
done_testing
