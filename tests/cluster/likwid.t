#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hardware counters of programs with LIKWID's markers, under Open MPI and MPICH, on nodes with a
# simulated processor; and what happens where they cannot be read.
. "$(dirname "$0")/scenario.sh"
plan 25
fresh_directory

# shellcheck source-path=SCRIPTDIR source=../likwid/nodes.sh
. "$SP_TOP/tests/likwid/nodes.sh"

mpicc_openmpi -DLIKWID_PERFMON -DWITH_MPI -o openmpi "$SP_TOP/tests/likwid/marked.c" -llikwid
mpicc_mpich -DLIKWID_PERFMON -DWITH_MPI -o mpich "$SP_TOP/tests/likwid/marked.c" -llikwid

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
