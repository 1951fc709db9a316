#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# QMPI tools, compiled from one source for each MPI, on four ranks of two hosts: two instances of
# one, and a second tool, count what the program did, and the profile is as without them. From C,
# Fortran and Python; a call's address is the program's; a delay is in a call or between calls; and
# what the tools of contrib/qmpi-tools say, and what is said of one that a host lacks.
#
# SP_MPI: the directory in which contrib/run-tests.sh has put MPICH 5 with an mpi4py.
. "$(dirname "$0")/scenario.sh"
: "${SP_MPI:?set by contrib/run-tests.sh}"
plan 71
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
flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$SP_STAGE" -name scope-qmpi.pc)") \
    pkg-config --define-variable=prefix="$SP_STAGE" --cflags scope-qmpi)
is "${flags% }" "-I$header" "pkg-config knows where the header is"
for mpi in openmpi mpich; do
    in_work mkdir "$mpi"
    "mpicc.$mpi" -w -O1 -shared -fPIC -I"$header" -I"$results" -o "$mpi/all.so" \
        "$SP_TOP/tests/dispatch/qmpi_tool.c" -ldl
    for tool in delay limits; do
        # shellcheck disable=SC2086 # flags are words
        "mpicc.$mpi" -Wall -Wextra -Werror -shared -fPIC $flags -o "$mpi/$tool.so" \
            "$SP_TOP/contrib/qmpi-tools/$tool.c"
    done
    "mpicxx.$mpi" -std=c++11 -Wall -Wextra -Werror -pedantic -shared -fPIC -I"$header" \
        -DOMPI_SKIP_MPICXX "-DQMPI_OF_${mpi^^}" -o "$mpi/cxx.so" \
        "$SP_TOP/tests/dispatch/qmpi_cxx.cc"
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

# slow LIST [NAME=VALUE]...: by rank, whether the delay of the four broadcasts is in them, or
# between the end of each and the start of the next
slow() {
    rm -rf scope-profile-*
    run env SCOPE_PROFILE_QMPI_TOOLS="$1" SCOPE_PROFILE_QMPI_PATH="$work/$mpi" srun -n2 \
        --mpi="${launcher[$mpi]}" --export=NONE --scope-profile=mpi-calls \
        /usr/bin/env DELAY_CALLS=MPI_Bcast=150000 "${@:2}" ./late
    python '
region, = (region for region in scope_profiler.read_h5(sys.argv[1]).get_regions()
           if region.name.startswith("mpi:bcast"))
where = []
for rank in region.ranks:
    starts, durations = region[rank].start_times, region[rank].durations
    between = [starts[i + 1] - starts[i] - durations[i] for i in range(len(starts) - 1)]
    where += ["in" if min(durations) >= 0.15 else "between" if min(between) >= 0.15 else "nowhere"]
print(*where if len(starts) == 4 else "other calls")' "$(echo scope-profile-*.h5)"
}

for mpi in openmpi mpich; do
    build "$mpi"
    run srun --label -N2 -n4 --mpi="${launcher[$mpi]}" --export=ALL,QMPI_TOOL_ADDRESS=1 \
        --scope-profile="mpi-calls,qmpi=first+scope+second,qmpi-path=$work/$mpi/all.so" ./late
    is "$(grep ' from ' <<<"$out" | sort | uniq -c | xargs)" \
        "2 0: MPI_Send from deliver 2 1: MPI_Send from deliver 2 2: MPI_Send from deliver 2 3: \
MPI_Send from deliver" "$mpi: the calling address is in the function that calls"
    is "$(slow delay)" "between between" "$mpi: a delay in front of the recorder lies between calls"
    is "$(slow scope+delay)" "in in" "$mpi: one behind it in the call"
    is "$(slow scope+delay DELAY_RANK=1)" "nowhere in" "$mpi: in the calls of the chosen rank alone"
    run srun -n1 --mpi="${launcher[$mpi]}" \
        --scope-profile="mpi-calls,qmpi=cxx,qmpi-path=$work/$mpi" ./late
    is "$status$out" "0cxx 1: 1 sends" "$mpi: a tool in C++"
done
is "$(slow scope+delay DELAY_RANK=5 PMIX_RANK=5)" "in in" "the launcher's rank comes before Slurm's"
sed 's/scope_qmpi.h/mpi.h/' "$SP_TOP/contrib/qmpi-tools/delay.c" >plain.c
mv mpich/delay.so delay.so
mpicc.mpich -shared -fPIC -o mpich/delay.so plain.c
is "$(slow scope+delay)" "in in" \
    "a tool that was compiled with MPICH's own header alone"

mv delay.so mpich/delay.so

# --- what the examples say ------------------------------------------------------------------------
cat >sends.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int value = 0, other = 0, sends = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
#define TO 1, MPI_INT, MPI_PROC_NULL, 40000
#define SEND(name) sends++, MPI_##name(&value, TO, MPI_COMM_WORLD);
#define START(name) sends++, MPI_##name(&value, TO, MPI_COMM_WORLD, &request); \
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#define INIT(name) sends++, MPI_##name(&value, TO, MPI_COMM_WORLD, &request); \
    MPI_Request_free(&request);
#define FROM &other, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD
#define ALL(SUFFIX) \
    SEND(Send##SUFFIX) SEND(Bsend##SUFFIX) SEND(Rsend##SUFFIX) SEND(Ssend##SUFFIX) \
    START(Isend##SUFFIX) START(Ibsend##SUFFIX) START(Irsend##SUFFIX) START(Issend##SUFFIX) \
    INIT(Send_init##SUFFIX) INIT(Bsend_init##SUFFIX) INIT(Rsend_init##SUFFIX) \
    INIT(Ssend_init##SUFFIX) \
    sends++, MPI_Sendrecv##SUFFIX(&value, TO, FROM, MPI_STATUS_IGNORE); \
    sends++, MPI_Sendrecv_replace##SUFFIX(&value, TO, MPI_PROC_NULL, 1, MPI_COMM_WORLD, \
                                          MPI_STATUS_IGNORE);
/* To itself: with MPI_PROC_NULL those of MPICH 4.0.2 never complete. */
#define MORE(SUFFIX) \
    sends++, MPI_Isendrecv##SUFFIX(&value, 1, MPI_INT, 0, 40000, &other, 1, MPI_INT, 0, 40000, \
                                   MPI_COMM_SELF, &request); \
    MPI_Wait(&request, MPI_STATUS_IGNORE); \
    sends++, MPI_Isendrecv_replace##SUFFIX(&value, 1, MPI_INT, 0, 40000, 0, 40000, \
                                           MPI_COMM_SELF, &request); \
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ALL()
#if MPI_VERSION >= 4
    ALL(_c) MORE() MORE(_c)
#endif
    printf("%d sends\n", sends);
    MPI_Finalize();
    return 0;
}
END
# says TOOL [NAME=VALUE]...: what the tool says of a run of sends on four ranks
says() {
    run srun -N2 -n4 --mpi="${launcher[$mpi]}" \
        --scope-profile="mpi-calls,qmpi=$1,qmpi-path=$work/$mpi" env "${@:2}" ./sends
    sends=${out%% *}
    said=$(grep "^$1: " <<<"$err" | sort)
}
for mpi in openmpi mpich; do
    "mpicc.$mpi" -o sends sends.c
    says limits
    is "$(grep -c "^limits: rank [0-3]: ${sends:-no} tags above 32767, the first: 40000, from 0x" \
        <<<"$said")" 4 "$mpi: the tags of each rank's $sends sends are found"
    is "$(wc -l <<<"$said")" 4 "$mpi: and nothing else"
done
says limits LIMITS_TAG=40000 LIMITS_BYTES=3
is "$(grep -c "^limits: rank [0-3]: $sends messages of bytes above 3, the first: 4, from 0x" \
    <<<"$said")" 4 "the limits are those of the variables"
is "$(wc -l <<<"$said")" 4 "and tags up to theirs are none too high"
says limits LIMITS_TAG=much LIMITS_BYTES=-1
is "$(head -n 2 <<<"$said")" "limits: \"-1\" is no limit of messages of bytes: $((2 ** 63 - 1)) was
limits: \"much\" is no limit of tags: 32767 was" "what is no limit is told once"
says delay DELAY_CALLS=MPI_Sent=5,MPI_Send=-3,MPI_Recv=2x,MPI_Wait,MPI_Barrier=1 DELAY_RANK=x
is "$said" "delay: DELAY_CALLS: \"MPI_Recv=2x\" has no number of microseconds
delay: DELAY_CALLS: \"MPI_Send=-3\" has no number of microseconds
delay: DELAY_CALLS: \"MPI_Sent=5\" is none of the calls that can be late
delay: DELAY_CALLS: \"MPI_Wait\" has no number of microseconds
delay: DELAY_RANK: \"x\" is no rank: no call is late" "so is what is no delay"
run srun -n1 --mpi=pmi2 --export=NONE \
    --scope-profile="mpi-calls,qmpi=limits,qmpi-path=$work/mpich/limits.so" ./late
like "$err" "limits: rank 0: 1 tags above 32767, the first: 40000, from 0x" \
    "a tool reaches a task with nothing of the environment"

# --- a tool that is missing -----------------------------------------------------------------------
# /dev/shm is each host's own.
run srun -N1 -n1 -w node1 sh -c 'mkdir "$1" && cp "$2" "$1"' sh "/dev/shm/tools-$$" \
    "$work/mpich/limits.so"
run srun -N2 -n4 --mpi=pmi2 \
    --scope-profile="mpi-calls,qmpi=limits,qmpi-path=/dev/shm/tools-$$" ./late
is "$status" 0 "a tool that one host lacks: the program runs"
is "$(grep -c "^limits: rank [01]: 1 tags" <<<"$err")" 2 "the ranks of the other have it"
is "$(grep "there is no QMPI tool" <<<"$err" | cut -d : -f 1,2)" "scope-profile: node2" \
    "and one line names the host that has not"
run srun -N1 -n1 -w node1 rm -r "/dev/shm/tools-$$"
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
