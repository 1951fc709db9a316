#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Many jobs one after another, all profiled by default: each has its profile, and the nodes are
# afterwards as they were. SP_SOAK_JOBS=200 is for by hand.
. "$(dirname "$0")/epilog.sh"
plan 6
jobs=${SP_SOAK_JOBS:-12}
epilog_on
mpicc_openmpi -o neighbours "$programs/neighbours.c"

# memory: KiB of each slurmd
memory() {
    local file
    for file in "$SP_CLUSTER"/run/slurmd-*.own-pid; do
        sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$(<"$file")/status"
    done
}

# work COUNT: so many jobs, merged by srun and by the epilog by turns, and some without MPI
work() {
    local i failed=0
    local -a step
    for ((i = 0; i < $1; i++)); do
        step=(--mpi=pmix ./neighbours 0)
        case $((i % 4)) in
        3) step=(hostname) ;;
        2) step=("--scope-profile=mpi-calls,merge=epilog" "${step[@]}") ;;
        esac
        run srun -N2 -n4 "${step[@]}"
        ((status == 0)) || {
            failed=1
            echo "job $i: status $status: $err"
        }
    done
    return "$failed"
}

site "default=mpi-calls out=$work"
work 4 # slurmd has then loaded what it loads
settle
mapfile -t before < <(memory)
rm -rf scope-profile-*
passes "$jobs jobs" work "$jobs"
settle
mapfile -t after < <(memory)
diag "slurmd: ${before[*]} KiB before, ${after[*]} KiB after"
jobs=$((jobs - jobs / 4))
is "$(find . -name 'scope-profile-*.h5' | wc -l)" "$jobs" "a profile of each with MPI"
is "$(registered | xargs)" '' "the registries are empty"
is "$(as_root sinfo --noheader --Node --format='%N %T %E' | xargs)" "node1 idle none node2 idle none" \
    "no node is drained"
is "$(processes sp-merge)$(processes slurmstepd)$(processes neighbours)" '' "no process is left"
# A block that malloc takes from the system is no leak; what each job leaves would be.
grown=$((after[0] - before[0] > after[1] - before[1] ? after[0] - before[0] : after[1] - before[1]))
passes "slurmd's memory has not grown" test "$grown" -le $((1024 + jobs))
