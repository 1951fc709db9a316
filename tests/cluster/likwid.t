#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hardware counters of programs with LIKWID's markers, under Open MPI and MPICH, on nodes with a
# simulated processor; and what happens where they cannot be read.
. "$(dirname "$0")/scenario.sh"
# shellcheck source-path=SCRIPTDIR source=../likwid/simulation.sh
. "$SP_TOP/tests/likwid/simulation.sh"
plan 26
fresh_directory

simulation=$work/simulation
gcc -O1 -o access_daemon "$SP_TOP/tests/likwid/access_daemon.c"
simulation_make "$simulation" access_daemon
mpicc_openmpi -DLIKWID_PERFMON -DWITH_MPI -o openmpi "$SP_TOP/tests/likwid/marked.c" -llikwid
mpicc_mpich -DLIKWID_PERFMON -DWITH_MPI -o mpich "$SP_TOP/tests/likwid/marked.c" -llikwid

# on_nodes CMD...: on each host, as root
on_nodes() {
    local node
    for node in 1 2; do
        "$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --root --node "$node" -- "$@"
    done
}
on_nodes mount -t overlay overlay -o "lowerdir=$simulation/etc:/etc" /etc
trap 'cd /; on_nodes umount /etc; rm -rf "$work" "$results"' EXIT

# counted WHAT ARGUMENT...: runs srun with two ranks on each host, and the daemon in PATH; leaves
# what run does, the output sorted, and the profile's name in $file
counted() {
    rm -f scope-profile-*.h5
    run env PATH="$daemon:$PATH" srun -N2 -n4 ${1:+"--scope-profile=$1"} "${@:2}"
    out=$(sort <<<"$out") file=$(echo scope-profile-*)
}
daemon=$simulation/bin
bound=--cpu-bind=map_cpu:0,1

# events FILE: for each rank and region its CPUs, calls and counters, as the package reads them
events() {
    "$SP_PYTHON" -c '
import sys
import scope_profiler
results = scope_profiler.read_h5(sys.argv[1])
for rank in sorted(results.likwid_ranks):
    for tag, region in sorted(results.get_likwid_regions(rank).items()):
        print(rank, tag, region.source, region.group_name, *region.cpus, *region.call_counts,
              *(f"{n}={v:.0f}" for n, v in zip(region.event_labels, region.events[:, 0])))
' "$1"
}

# A counter of CPU c grows by c + 1 steps for each call, and rank r was in "solve" 3 + r times.
predicted() {
    local rank
    for rank in 0 1 2 3; do
        row "$rank" a/b-c 1
        row "$rank" solve $((3 + rank))
    done
}
row() {
    local cpu=$(($1 % 2)) calls=$3
    local steps=$(((cpu + 1) * calls))
    echo "$1 $2 marker_file CLOCK $cpu $calls ACTUAL_CPU_CLOCK=$((2000000 * steps))" \
        "MAX_CPU_CLOCK=$((1000000 * steps)) RETIRED_INSTRUCTIONS=$((400000 * steps))" \
        "CPU_CLOCKS_UNHALTED=$((600000 * steps)) RAPL_PKG_ENERGY=$((8 * steps))"
}

counted '' --mpi=pmix "$bound" ./openmpi
plain=$out
for mpi in openmpi mpich; do
    [[ $mpi == openmpi ]] && type=pmix || type=pmi2
    counted mpi-calls,likwid=CLOCK --mpi=$type "$bound" ./$mpi
    is "$status" 0 "$mpi: exit status"
    is "$out" "$plain" "$mpi: the program's output and affinity are as without counters"
    like "$err" '^scope-profile: 4 ranks, 12 MPI calls -> [^;]*$' "$mpi: nothing but the usual line"
    is "$(events "$file")" "$(predicted)" "$mpi: each rank's counters are those predicted"
    is "$(listing .)" "access_daemon mpich openmpi $file simulation" "$mpi: nothing else is left"
done

mpif90.openmpi -O1 -o fortran "$SP_TOP/tests/likwid/marked.f90" -llikwid
counted mpi-calls,likwid=CLOCK --mpi=pmix "$bound" ./fortran
is "$status$out" 0 "a Fortran program: exit status and output"
is "$(events "$file")" "$(predicted)" "and its counters"

is "$("$SP_PYTHON" -c '
import sys
import h5py
import scope_profiler
region = scope_profiler.read_h5(sys.argv[1]).get_likwid_regions(3)["solve"]
clock = float(h5py.File(sys.argv[1])["rank3/likwid"].attrs["scope_profile_clock_hz"])
for name, (value,) in zip(region.metric_names, region.metrics):
    if name.startswith("Clock"):
        value /= 2e-6 * clock
    if name.startswith(("CPI", "Clock", "Energy")):
        print(f"{name}={value:g}", end=" ")' "$file")" \
    "Clock [MHz]=1 CPI=1.5 Energy [J]=96 " "metrics are what LIKWID's formulas say"

inspected=$("$SP_PYTHON" -m scope_profiler inspect "$file")
like "$inspected" 'LIKWID counters \(rank 3, group CLOCK\)' "inspect shows a table of each rank"

like "$("$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --node 1 -- \
    env PATH="$daemon:$PATH" "$SP_STAGE/libexec/scope-profile/doctor")" 'ok    hardware counters: LIKWID can read them' \
    "doctor says that they can be read"

# --- where they cannot be read -------------------------------------------------------------------

# uncounted NAME REASON: two tests
uncounted() {
    is "$status:$out" "0:${3-$plain}" "$1: the program runs as ever"
    like "$err" "scope-profile: hardware counters are not read: $2.*\
scope-profile: 4 ranks, 12 MPI calls -> .*; hardware counters are missing: .*$2" "$1: is told"
}
counted mpi-calls,likwid=NOSUCH --mpi=pmix "$bound" ./openmpi
uncounted "an unknown group" 'LIKWID .*Cannot read group file NOSUCH.txt'
counted mpi-calls,likwid=RETIRED_INSTRUCTIONS:PMC0+NOSUCH:PMC1 --mpi=pmix "$bound" ./openmpi
uncounted "an unknown event" 'NOSUCH cannot be counted on PMC1'
counted mpi-calls,likwid=CLOCK --mpi=pmix --cpu-bind=none ./openmpi
uncounted "ranks that share CPUs" 'the task shares its CPUs with another one' \
    "$(sed 's/0x[12]$/0x3/' <<<"$plain")"
daemon=/nowhere
counted mpi-calls,likwid=CLOCK --mpi=pmix "$bound" ./openmpi
uncounted "no access daemon" 'LIKWID (does not take|ended|crashed)'
is "$(events "$file")" "" "and the file has no counters"
is "$("$SP_PYTHON" -c '
import sys
import h5py
print(all("LIKWID" in group["likwid"].attrs["scope_profile_reason"]
          for name, group in h5py.File(sys.argv[1]).items() if name.startswith("rank")
          and name[4:].isdigit()))' "$file")" True "but the reason of each rank"

daemon=$simulation/bin
mpicc_openmpi -o unmarked "$SP_TOP/examples/stencil.c" -lm
counted mpi-calls,likwid=CLOCK --mpi=pmix "$bound" ./unmarked
like "$err" 'ranks 0-3: the rank wrote none: its program has no LIKWID markers' \
    "a program without markers: is told"
