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
    is "$(measure "$cpus" "$events")" \
        "$(printf 'rank 0 is done, on CPUs %#x' $((1 << ${cpus##*,})))" \
        "$name: the program says what it always says"
    is "$(without_times "$directory/marker")" \
        "$(without_times "$top_srcdir/tests/likwid/markers/$name")" \
        "$name: the values are predicted"
done

# --- names ---------------------------------------------------------------------------------------

# on_simulation CMD...: it sees no other process either
on_simulation() {
    unshare --mount --pid --fork --mount-proc bash -c '
        . "$0/tests/likwid/simulation.sh" && simulation_mount "$1" || exit
        mount -t tmpfs registers /dev/shm || exit
        PATH=$1/bin:$PATH exec "${@:2}"' "$(readlink -f "$top_srcdir")" "$directory" "$@" 2>&1
}
# named N: of so many event sets, how the record ends and how many it has
named() {
    local record
    record=$(on_simulation "$top_builddir/sp-likwid-try" \
        "$(printf 'MEM_DP|%.0s' $(seq $(($1 - 1))))MEM_DP" 0)
    printf '%s, %d' "$(tail -n 1 <<<"$record")" "$(grep -c ^group= <<<"$record")"
}
is "$(named 146)" 'end=1, 146' "as many groups as likwid= takes have their names"
why='the names of so many events and metrics cannot be kept: ask for fewer groups'
is "$(named 300)" "reason=$why, 0" "of more it is said that they do not fit"

# --- metrics -------------------------------------------------------------------------------------

# Two threads of a rank, of which the first counts the memory's traffic for the socket.
"$top_builddir/make_traces" "$directory/run" plain
rank=$directory/run/made-up.0/rank-000000
{
    on_simulation "$top_builddir/sp-likwid-try" MEM_DP 0,1
    printf '%s\n' LIKWID_EVENTS=MEM_DP LIKWID_THREADS=0,1
} >"$rank.likwid"
printf '%s\n' '2 2 1' 0:both-0 1:second-0 \
    '0 0 0 1 5.0e-01 8 4e+08 2e+08 8e+08 6e+08 3e+08 0 5e+06 6e+06 ' \
    '0 0 1 2 2.5e-01 8 8e+08 4e+08 9e+08 7e+08 6e+08 0 0 0 ' \
    '1 0 -1 0 0 8 0 0 0 0 0 0 0 0 ' '1 0 1 2 1.5e-01 8 8e+08 4e+08 9e+08 7e+08 6e+08 0 0 0 ' \
    >"$rank.markers"
is "$(on_simulation "$top_builddir/sp-merge" -o "$directory/full.h5" "$directory/run")" \
    "sp-merge: 4 ranks, 56 MPI calls -> $directory/full.h5" "LIKWID reads what was made of the file"
on_simulation "$top_builddir/sp-merge" --likwid-read=0 -o "$directory/own.h5" "$directory/run" \
    >/dev/null
is "$(/usr/bin/python3 -c '
import sys
import h5py
import numpy
full, own = (h5py.File(path)["rank0/likwid/regions"] for path in sys.argv[1:])
print(*(full[tag].attrs["source"] + "-" + own[tag].attrs["source"] for tag in ("both", "second")))
for tag in ("both", "second"):
    left, right = full[tag]["metrics"][:], own[tag]["metrics"][:]
    near = [0.2 if name.startswith(("Clock", "Runtime unhalted")) else 1e-9
            for name in full[tag].attrs["metric_names"]]
    for name, *values, limit in zip(full[tag].attrs["metric_names"], left, right, near):
        if not numpy.allclose(*values, rtol=limit, atol=0, equal_nan=True):
            print(tag, name, *values)' "$directory"/{full,own}.h5)" \
    'full_api-marker_file full_api-marker_file' "its metrics are those of the formulas"
done_testing
