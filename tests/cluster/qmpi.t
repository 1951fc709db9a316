#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# QMPI tools, compiled from one source for each MPI, on four ranks of two hosts: two instances of
# one, and a second tool, count what the program did, and the profile is as without them. From C,
# Fortran and Python; a call's address is the program's; and a delay is in a call or between calls.
#
# SP_MPI: the directory in which contrib/run-tests.sh has put MPICH 5 with an mpi4py.
. "$(dirname "$0")/scenario.sh"
: "${SP_MPI:?set by contrib/run-tests.sh}"
plan 54
fresh_directory
export OMPI_MCA_osc=pt2pt,sm # as in two-hosts-two-mpis.t

mkdir "$results/preload"
for maker in names check; do
    python3 -B "$SP_TOP/preload/generate.py" "$maker" "$SP_TOP/preload/mpi_functions.def" \
        >"$results/preload/mpi_$maker.h"
done
for maker in ways numbers; do
    python3 -B "$SP_TOP/preload/generate_qmpi.py" "$maker" "$SP_TOP/preload/mpi_functions.def" \
        "$SP_TOP/preload/qmpi_numbers.def" >"$results/preload/qmpi_$maker.h"
done
header=$(dirname "$(find "$SP_STAGE" -name scope_qmpi.h)")
for mpi in openmpi mpich; do
    in_work mkdir "$mpi"
    "mpicc.$mpi" -w -O1 -shared -fPIC -I"$header" -I"$results" -o "$mpi/all.so" \
        "$SP_TOP/tests/dispatch/qmpi_tool.c" -ldl
    for tool in delay limits; do
        "mpicc.$mpi" -Wall -Wextra -Werror -shared -fPIC -I"$header" -o "$mpi/$tool.so" \
            "$SP_TOP/contrib/qmpi-tools/$tool.c"
    done
done

# counts ID: "FUNCTION CALLS" that the instance counted, of all ranks
counts() {
    cat counts."$1".* | awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | LC_ALL=C sort
}

# profiled: the same from the profile
profiled() {
    regions "$(echo scope-profile-*.h5)" | sed -n 's/^mpi:\([a-z_0-9]*\) .* \([0-9]*\)$/\1 \2/p' |
        awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | LC_ALL=C sort
}

# order: in which order the instances of a rank saw its call, if it is the same in all ranks
order() {
    local rank
    for rank in 0 1 2 3; do
        sed -n "s/^$rank: \(.*\) MPI_Finalize$/\1/p" <<<"$out" | paste -sd,
    done | sort -u
}

# counted MPI NAME LIST COMMAND...: under these tools each instance counts what the profile tells
counted() {
    local mpi=$1 name=$2 list=$3
    rm -rf tally.* counts.* scope-profile-*
    run srun --label -N2 -n4 --mpi="${launcher[$mpi]}" \
        --export=ALL,QMPI_TOOL_COUNTS=1,QMPI_TOOL_LOG=MPI_Finalize \
        --scope-profile="mpi-calls=all,polls=all,qmpi=$list,qmpi-path=$work/$mpi/all.so" "${@:4}"
    is "$status$(grep -v '^scope-profile: 4 ranks, ' <<<"$err")" 0 "$name: it ends as without tools"
    is "$(order)" "all 1,another 2,all 3" "$name: each rank has three instances in the order asked"
    local told
    told=$(profiled)
    for id in 1 2 3; do
        is "$(counts "$id")" "$told" "$name: instance $id counts the calls of the profile"
    done
}

for mpi in openmpi mpich; do
    build_conformance "$mpi"
    counted "$mpi" "$mpi, C" all+another+all ./conformance
    passes "$mpi, C: which are the program's" agrees "$(echo scope-profile-*.h5)"
done
for mpi in openmpi mpich; do
    "mpicc.$mpi" -c -o fortran.o "$programs/tally_fortran.c"
    "mpifort.$mpi" -g -w -fallow-argument-mismatch -DMPI_F08 -o fortran \
        "$programs/every_group.F90" fortran.o
    counted "$mpi" "$mpi, mpi_f08" all+another+scope+all ./fortran
    passes "$mpi, mpi_f08: which are the program's" agrees "$(echo scope-profile-*.h5)"
done

# events: what the profile has of each rank, in the order in which it began
events() {
    python '
events = []
for region in scope_profiler.read_h5(sys.argv[1]).get_regions():
    for rank in region.ranks:
        events += [(rank, start, region.name) for start in region[rank].start_times]
print("\n".join(f"{rank} {name}" for rank, _, name in sorted(events)))' \
        "$(echo scope-profile-*.h5)"
}

cp "$programs/exchange.py" exchange.py
# Two pairs of ranks.
sed -i 's|comm = MPI.COMM_WORLD$|comm = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank // 2)|' exchange.py
declare -A interpreter=([openmpi]=/usr/bin/python3 [mpich]=$SP_MPI/mpich/bin/python)
for mpi in openmpi mpich; do
    rm -rf scope-profile-*
    run srun -N2 -n4 --mpi="${launcher[$mpi]}" --scope-profile=mpi-calls=all,polls=all \
        "${interpreter[$mpi]}" exchange.py
    without=$(events)
    counted "$mpi" "$mpi, mpi4py" scope+all+another+all "${interpreter[$mpi]}" exchange.py
    is "$(events)" "${without:-events}" "$mpi, mpi4py: the profile is as without tools"
done

# --- order, and a delay ---------------------------------------------------------------------------
build() {
    cat >late.c <<'END'
#include <mpi.h>
void deliver(void)
{
    int value = 0;
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 40000, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
    int value = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 4; i++)
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_SELF);
    deliver();
    MPI_Finalize();
    return 0;
}
END
    "mpicc.$1" -rdynamic -o late late.c
}

# slow LIST: the milliseconds of the broadcasts in the profile, and whether they are the delay's 600
slow() {
    rm -rf scope-profile-*
    run env SCOPE_PROFILE_QMPI_TOOLS="$1" SCOPE_PROFILE_QMPI_PATH="$work/$mpi" srun -n1 \
        --mpi="${launcher[$mpi]}" --export=NONE --scope-profile=mpi-calls \
        /usr/bin/env DELAY_CALLS=MPI_Bcast=150000 ./late
    python '
spent = sum(sum(r.durations) for r in scope_profiler.read_h5(sys.argv[1]).get_regions()
            if r.name.startswith("mpi:bcast"))
print("in" if spent > 0.6 else "out")' "$(echo scope-profile-*.h5)"
}

for mpi in openmpi mpich; do
    build "$mpi"
    run srun --label -N2 -n4 --mpi="${launcher[$mpi]}" --export=ALL,QMPI_TOOL_ADDRESS=1 \
        --scope-profile="mpi-calls,qmpi=first+scope+second,qmpi-path=$work/$mpi/all.so" ./late
    is "$(grep ' from ' <<<"$out" | sort | uniq -c | xargs)" \
        "2 0: MPI_Send from deliver 2 1: MPI_Send from deliver 2 2: MPI_Send from deliver 2 3: \
MPI_Send from deliver" "$mpi: the calling address is in the function that calls"
    is "$(slow delay)" out "$mpi: a delay in front of the recorder lies between calls"
    is "$(slow scope+delay)" in "$mpi: one behind it in the call"
done
run env SCOPE_PROFILE_QMPI_TOOLS=limits SCOPE_PROFILE_QMPI_PATH="$work/mpich" srun -n1 \
    --mpi=pmi2 --export=NONE --scope-profile=mpi-calls ./late
like "$err" "limits: rank 0: 1 tags above 32767, the first: 40000, from 0x" \
    "the other example says what it found"
sed 's/scope_qmpi.h/mpi.h/' "$SP_TOP/contrib/qmpi-tools/delay.c" >plain.c
mpicc.mpich -shared -fPIC -o mpich/delay.so plain.c
is "$(slow scope+delay)" in "a tool that was compiled with MPICH's own header alone"
run srun -n1 --mpi=pmi2 --scope-profile="mpi-calls,qmpi=unheard-of" ./late
is "$status" 0 "an unknown tool: the program runs"
like "$err" "scope-profile: there is no QMPI tool \"unheard-of\"" "and srun's user is told"

# --- what the site says ---------------------------------------------------------------------------
plugstack=$SP_CLUSTER/plugstack.conf
cp "$plugstack" "$results/plugstack.conf"
trap 'cat "$results/plugstack.conf" >"$plugstack"; cd /; rm -rf "$work" "$results"' EXIT
mkdir -p site/qmpi
cp "$(find "$SP_STAGE" -name libscope_preload.so)" site
cp mpich/limits.so site/qmpi

# under WORD [NAME=VALUE]...: a step, where this stands behind the plugin in plugstack.conf
under() {
    sed "/scope_profile\.so/s|\$| preload=$work/site/libscope_preload.so $1|" \
        "$results/plugstack.conf" >"$plugstack"
    run env "${@:2}" srun -n1 --mpi=pmi2 --scope-profile=mpi-calls ./late
}
found="limits: rank 0: 1 tags above 32767"
under qmpi-tools=limits
is "$status" 0 "a tool of the site's: the program runs"
like "$err" "$found" "and the tool finds what is to be found"
under qmpi-tools=limits SCOPE_PROFILE_QMPI_TOOLS=delay++limits
is "$status" 0 "a user's list with a mistake: the program runs"
like "$err" "^scope-profile: \"\" cannot be the name of a QMPI tool: the step is run without your" \
    "the user is told"
like "$err" "$found" "and has the site's tool all the same"
under qmpi-tools=off SCOPE_PROFILE_QMPI_TOOLS=limits SCOPE_PROFILE_QMPI_PATH="$work/mpich"
is "$status" 0 "tools that are forbidden: the program runs"
like "$err" "^scope-profile: this site does not let you load QMPI tools" "the user is told"
unlike "$err" "$found" "and there is no tool"
