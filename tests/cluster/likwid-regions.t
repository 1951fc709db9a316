#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hardware counters of programs without LIKWID markers, on nodes with a simulated processor: the
# regions app and mpi, and that the program is none the wiser, whatever LIKWID does.
. "$(dirname "$0")/scenario.sh"
plan 33
fresh_directory
# shellcheck source-path=SCRIPTDIR source=../likwid/nodes.sh
. "$SP_TOP/tests/likwid/nodes.sh"

mpicc_openmpi -o openmpi "$SP_TOP/tests/likwid/unmarked.c"
mpicc_mpich -o mpich "$SP_TOP/tests/likwid/unmarked.c"
mpicc_openmpi -DLIKWID_PERFMON -DWITH_MPI -o marked "$SP_TOP/tests/likwid/marked.c" -llikwid

# by_cpu RANK REGION CPU CALLS STEPS: a counter of CPU c grows by c + 1 steps at each read
by_cpu() {
    local steps=$((($3 + 1) * $5)) energy
    # Both ranks of a host are on one socket, whose energy the first of them tells.
    energy=$(($3 == 0 ? 8 * steps : 0))
    echo "$1 $2 marker_file CLOCK $3 $4 ACTUAL_CPU_CLOCK=$((2000000 * steps))" \
        "MAX_CPU_CLOCK=$((1000000 * steps)) RETIRED_INSTRUCTIONS=$((400000 * steps))" \
        "CPU_CLOCKS_UNHALTED=$((600000 * steps)) RAPL_PKG_ENERGY=$energy"
}

# as_before TEXT NAME: two tests of what counted left: as without counters, but for one line of ours
as_before() {
    is "$status:$out" "$plain_status:$plain" "$2: exit status, output and affinity are as ever"
    like "$(grep -v '^srun: error: .*Exited with exit code' <<<"$err")" "$1" \
        "$2: one line tells the rest"
}

for mpi in openmpi mpich; do
    counted '' --mpi="${launcher[$mpi]}" "$bound" ./$mpi 7
    plain_status=$status plain=$out
    counted mpi-calls,likwid=CLOCK --mpi="${launcher[$mpi]}" "$bound" ./$mpi 7
    as_before '^scope-profile: 4 ranks, 48 MPI calls -> [^;]*$' "$mpi"
    is "$(events "$file")" "$(for rank in 0 1 2 3; do by_cpu $rank app $((rank % 2)) 1 1; done)" \
        "$mpi: the counters of app are those predicted"
    is "$(listing .)" "access_daemon marked mpich openmpi $file simulation" \
        "$mpi: nothing else is left"
done
looked="before MPI_Init, rank . on CPUs 0x.: no child, 0 signals of children, no LIKWID"
like "$plain" "($looked.*){4}" \
    "the program looked for traces of LIKWID"

counted mpi-calls,likwid=CLOCK,likwid-mpi=yes --mpi=pmix "$bound" ./openmpi 7
as_before '^scope-profile: 4 ranks, 48 MPI calls -> [^;]*$' "likwid-mpi=yes"
is "$(events "$file")" "$(for rank in 0 1 2 3; do
    by_cpu $rank app $((rank % 2)) 1 21
    by_cpu $rank mpi $((rank % 2)) 10 10
done)" "mpi has the ten barriers, and app what it cost to count them"

for more in '' ,likwid-mpi=yes; do
    run env PATH="$daemon:$PATH" srun -n1 -N1 --cpu-bind=map_cpu:0 --mpi=pmix \
        --scope-profile="mpi-calls,likwid=CLOCK$more" ./openmpi time 2000
    diag "a call that does nothing${more:+, with likwid-mpi=yes}: $(grep ' us$' <<<"$err")"
done

counted mpi-calls,likwid=CLOCK --mpi=pmix "$bound" ./openmpi kill
is "$((status != 0))" 1 "a rank is killed: exit status"
like "$(events "$file")" "$(by_cpu 1 app 1 1 1)" "and what it has counted so far is in the file"

counted mpi-calls,likwid=CLOCK --mpi=pmix -n2 --cpu-bind=none ./openmpi
is "$status" 0 "ranks with all CPUs of their nodes"
like "$(events "$file" | cut -d' ' -f1-8 | xargs)" \
    '^0 app marker_file CLOCK 0 1 1 1 1 app marker_file CLOCK 0 1 1 1$' \
    "are counted on each of them"

counted mpi-calls,likwid=CLOCK --mpi=pmix "$bound" ./openmpi wait 2
is "$(events "$file" | cut -d' ' -f1-6)" "$(for rank in 0 1 2 3; do
    echo "$rank app marker_file CLOCK $((rank % 2)) 1"
done)" "app is entered once, however often it is looked at"

# --- markers that were never closed --------------------------------------------------------------

# without_markers PROGRAM ARGUMENT...: the profile that is made of the traces alone
without_markers() {
    counted mpi-calls,likwid=CLOCK,merge=off --mpi=pmix "$bound" "$@"
    rm -f scope-profile-*/*/*.markers
    in_work sp-merge -o without.h5 scope-profile-* >"$results/merge" 2>&1
}
without_markers ./openmpi
is "$(events without.h5)" "$(for rank in 0 1 2 3; do
    by_cpu $rank app $((rank % 2)) 1 1
done | sed 's/marker_file/marker_api/')" "app without its file: the trace has the counters"
rm -f without.h5
without_markers ./marked
is "$(events without.h5)" "$(for rank in 0 1 2 3; do
    by_cpu $rank a/b-c $((rank % 2)) 1 1
    by_cpu $rank solve $((rank % 2)) $((3 + rank)) $((3 + rank))
done | sed 's/marker_file/marker_api/')" "markers of the program's own, likewise"
rm -f without.h5

# --- CPUs that are shared ------------------------------------------------------------------------

counted '' --mpi=pmix --overcommit -n8 --cpu-bind=none ./openmpi
plain_status=$status plain=$out
counted mpi-calls,likwid=CLOCK --mpi=pmix --overcommit -n8 --cpu-bind=none ./openmpi
as_before '; hardware counters are missing: ranks 0-7: the task shares its CPUs' \
    "more ranks than CPUs"
counted mpi-calls,likwid=CLOCK,likwid-shared=yes,likwid-mpi=yes --mpi=pmix --overcommit -n8 \
    --cpu-bind=none ./openmpi
as_before '^scope-profile: 8 ranks, 96 MPI calls -> [^;]*$' "likwid-shared=yes"
is "$(events "$file" | cut -d' ' -f1-8 | grep -c ' app marker_file CLOCK 0 1 1 1')" 8 \
    "each rank tells on which CPUs it was counted"

# --- a LIKWID that is up to something -------------------------------------------------------------

mkdir standin
gcc -O1 -shared -fPIC -o standin/liblikwid.so.5 "$SP_TOP/tests/likwid/standin.c"
counted '' --mpi=pmix "$bound" ./openmpi
plain_status=$status plain=$out
# misbehaving WHAT LINE: two tests
misbehaving() {
    echo "$1" >likwid-does
    counted mpi-calls,likwid=STANDIN --mpi=pmix "$bound" ./openmpi
    as_before "$2" "LIKWID: $1"
}
also=(HOME="$work" LD_LIBRARY_PATH="$work/standin")
missing='^scope-profile: 4 ranks, 48 MPI calls -> .*; hardware counters are missing: ranks 0-3: '
misbehaving print '^scope-profile: 4 ranks, 48 MPI calls -> [^;]*$'
is "$(events "$file" | grep -c ' app marker_file STANDIN 0 1 EVENT=1')" 4 \
    "LIKWID: print: the ranks are counted"
misbehaving exit "${missing}LIKWID ended the process with exit status 3"
misbehaving crash "${missing}LIKWID crashed with signal 6"
misbehaving stop "${missing}LIKWID does not come back"
