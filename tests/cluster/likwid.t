#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hardware counters of programs with LIKWID's markers, under Open MPI and MPICH, on nodes with a
# simulated processor; and what happens where they cannot be read.
. "$(dirname "$0")/scenario.sh"
plan 37
fresh_directory

# shellcheck source-path=SCRIPTDIR source=../likwid/nodes.sh
. "$SP_TOP/tests/likwid/nodes.sh"
cp "$plugstack" "$results/plugstack.conf"
trap 'cat "$results/plugstack.conf" >"$plugstack"; cd /; on_nodes umount /etc
    rm -rf "$work" "$results"' EXIT

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
    # Both ranks of a host are on one socket, whose energy the first of them tells.
    local energy=$((cpu == 0 ? 8 * steps : 0))
    echo "$1 $2 ${source:-marker_file} CLOCK $cpu $calls ACTUAL_CPU_CLOCK=$((2000000 * steps))" \
        "MAX_CPU_CLOCK=$((1000000 * steps)) RETIRED_INSTRUCTIONS=$((400000 * steps))" \
        "CPU_CLOCKS_UNHALTED=$((600000 * steps)) RAPL_PKG_ENERGY=$energy"
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

# Traces whose counters lie beside them go to the run directory at once.
mkdir -m 755 "$results/spool"
chmod 755 "$results"
site "spool=$results/spool"
counted mpi-calls,likwid=CLOCK --mpi=pmix "$bound" ./openmpi
is "$status: $(events "$file")" "0: $(predicted)" "where the site has a spool, counters are there as well"
like "$err" '^scope-profile: 4 ranks, 12 MPI calls -> [^;]*$' "and nothing is missing"
site ''

mpif90.openmpi -O1 -o fortran "$SP_TOP/tests/likwid/marked.f90" -llikwid
counted mpi-calls,likwid=CLOCK --mpi=pmix "$bound" ./fortran
is "$status$out" 0 "a Fortran program: exit status and output"
is "$(events "$file")" "$(predicted)" "and its counters"

is "$("$SP_PYTHON" -c '
import sys
import h5py
import scope_profiler
region = scope_profiler.read_h5(sys.argv[1]).get_likwid_regions(2)["solve"]
clock = float(h5py.File(sys.argv[1])["rank2/likwid"].attrs["scope_profile_clock_hz"])
for name, (value,) in zip(region.metric_names, region.metrics):
    if name.startswith("Clock"):
        value /= 2e-6 * clock
    if name.startswith(("CPI", "Clock", "Energy")):
        print(f"{name}={value:g}", end=" ")' "$file")" \
    "Clock [MHz]=1 CPI=1.5 Energy [J]=40 " "metrics are what LIKWID's formulas say"

inspected=$("$SP_PYTHON" -m scope_profiler inspect "$file")
like "$inspected" 'LIKWID counters \(rank 3, group CLOCK\)' "inspect shows a table of each rank"

# --- where LIKWID computes metrics itself ---------------------------------------------------------

# alone CMD...: as run, on $host; it sees none of the processes of others who test on this machine
ids=$(as_user bash -c 'echo --reuid=$(id -u) --regid=$(id -g)')
alone() {
    status=0
    # shellcheck disable=SC2086 # two words each
    timeout --kill-after=5 60 "$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --root $host \
        -- unshare --pid --fork --mount-proc setpriv $ids --init-groups \
        env --chdir="$work" PATH="$daemon:$PATH" "$@" \
        >"$results/out" 2>"$results/err" </dev/null || status=$?
    err=$(<"$results/err")
}
host='--node 1'
rm -f "$file"
alone srun -N2 -n4 --scope-profile=mpi-calls,likwid=CLOCK --mpi=pmix "$bound" ./openmpi
file=$(echo scope-profile-*)
is "$(events "$file")" "$(source=full_api predicted)" \
    "srun on a host like the ranks': LIKWID is asked, events are those predicted"
like "$("$SP_PYTHON" -m scope_profiler inspect "$file")" \
    'LIKWID counters \(rank 3, group CLOCK\)' "inspect shows these tables, too"

rm -f "$file"
alone srun -N2 -n4 '--scope-profile=mpi-calls,likwid=MEM_DP|CLOCK,merge=off' --mpi=pmix \
    "$bound" ./openmpi
directory=$(echo scope-profile-*)
# merged FILE OPTION...: by hand
merged() {
    alone "${tool:-sp-merge}" -o "$1" "${@:2}" "$directory"
}
merged full.h5
merged formulas.h5 --likwid-read=0
is "$("$SP_PYTHON" -c '
import math
import sys
import scope_profiler
full, formulas = (scope_profiler.read_h5(path) for path in sys.argv[1:])
compared = 0
for rank in full.likwid_ranks:
    others = formulas.get_likwid_regions(rank)
    for tag, region in full.get_likwid_regions(rank).items():
        other = others[tag]
        assert (region.source, other.source) == ("full_api", "marker_file")
        assert region.metric_names == other.metric_names
        assert region.event_labels == other.event_labels
        assert (region.events == other.events).all()
        for name, left, right in zip(region.metric_names, region.metrics, other.metrics):
            # What depends on the clock differs by how well that is measured.
            near = 0.2 if name.startswith(("Clock", "Runtime unhalted")) else 1e-9
            assert math.isclose(left[0], right[0], rel_tol=near), (rank, tag, name, left, right)
            compared += 1
print(compared)' full.h5 formulas.h5 2>&1)" 64 "both sources have the same events and metrics"
is "$("$SP_PYTHON" -c '
import sys
import h5py
ranks = h5py.File(sys.argv[1])
names = {"cpus", "times", "call_counts", "events", "metrics"}
regions = [r for n in range(4) for r in ranks[f"rank{n}/likwid/regions"].values()]
print(len(regions), all(set(r) == names for r in regions),
      ranks["rank1/likwid"].attrs["LIKWID_EVENTS"])
' full.h5)" "8 True MEM_DP|CLOCK" "each region has its five datasets, each rank its environment"

# The login host has no simulation: it is another kind of processor than that of the ranks.
host='' merged other.h5
like "$err" "they are by the formulas .*: the ranks' processor is of type 23/49/[0-9]+, this one" \
    "on another type of processor than the ranks' LIKWID is not asked for metrics"
is "$(events other.h5)" "$(events formulas.h5)" "but the file tells what was counted"

as_user cp "$SP_STAGE/bin/sp-merge" "$work"
# instead CODE: a script as sp-likwid-read, which is found beside sp-merge
instead() {
    printf '#!/bin/bash\n%s\n' "$1" >sp-likwid-read
    chmod 755 sp-likwid-read
    tool=./sp-merge merged "${2##* }.h5" --likwid-read=2
    like "$err" "LIKWID did not compute its metrics, they are by the formulas .*: $2" "$3: is told"
    is "$(events "${2##* }.h5" | awk '{ print $3 }' | sort -u)" marker_file \
        "$3: the marker file is what remains"
}
instead 'kill -SEGV $$' 'it crashed with signal 11' 'sp-likwid-read crashes'
instead 'exec sleep 1000' 'it did not come back within 2 s' 'sp-likwid-read hangs'
rm -rf sp-merge sp-likwid-read "$directory"

like "$("$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --node 1 -- \
    env PATH="$daemon:$PATH" "$SP_STAGE/libexec/scope-profile/doctor")" \
    'ok    hardware counters: LIKWID can read them' \
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
