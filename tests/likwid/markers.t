#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The simulated processor: the real liblikwid writes marker files with the values that were
# predicted, and they are those in markers/, from which the parser is tested.
# shellcheck source-path=SCRIPTDIR source=../dispatch/tap.sh
. "${top_srcdir:?make check sets it}/tests/dispatch/tap.sh"
# shellcheck source-path=SCRIPTDIR source=simulation.sh
. "$top_srcdir/tests/likwid/simulation.sh"

if ! unshare --mount true 2>/dev/null || [[ ! -e /usr/include/likwid.h ]]; then
    echo "1..0 # SKIP needs root, and LIKWID"
    exit 0
fi

directory=$(mktemp -d /tmp/scope-likwid.XXXXXX)
trap 'rm -rf "$directory"' EXIT
simulation_make "$directory" "$top_builddir/access_daemon"
gcc -O1 -DLIKWID_PERFMON -o "$directory/marked" "$top_srcdir/tests/likwid/marked.c" -llikwid

# without_times FILE: threads' seconds are the only thing that no rule says
without_times() {
    awk 'NF > 6 { $5 = "t" } { print }' "$1"
}

# measure CPUS EVENTS: its exit status and output
measure() {
    rm -f "$directory/marker"
    unshare --mount bash -c '
        . "$0/tests/likwid/simulation.sh" && simulation_mount "$1" || exit
        mount -t tmpfs registers /dev/shm || exit
        PATH=$1/bin:$PATH LIKWID_MODE=1 LIKWID_FORCE=1 LIKWID_FILEPATH=$1/marker \
            LIKWID_THREADS=$2 LIKWID_EVENTS=$3 exec taskset -c "${2##*,}" "$1/marked"
    ' "$(readlink -f "$top_srcdir")" "$directory" "$1" "$2" 2>&1
}

for case in 'one-cpu 0 CLOCK' 'two-cpus 0,1 CLOCK' 'memory 1 MEM_DP' \
    'two-groups 1 CLOCK|ENERGY'; do
    read -r name cpus events <<<"$case"
    is "$(measure "$cpus" "$events")" "$(printf 'rank 0 is done, on CPUs %#x' $((1 << ${cpus##*,})))" \
        "$name: the program says what it always says"
    is "$(without_times "$directory/marker")" \
        "$(without_times "$top_srcdir/tests/likwid/markers/$name")" "$name: the values are predicted"
done
done_testing
