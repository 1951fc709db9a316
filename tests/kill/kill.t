#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank that is killed at any instant leaves a trace of what it has done, and of nothing else.
#
# Environment: SEED=N repeats a run, KILLS=N is how often a rank is killed that is out of MPI_Init.
# shellcheck source=tests/dispatch/tap.sh
. "${top_srcdir:?}/tests/dispatch/tap.sh"

# Where traces are mapped: /tmp may be a file system of another kind.
work=$(mktemp -d -p /dev/shm sp-kill.XXXXXX) || exit
trap 'rm -rf "$work"' EXIT
seed=${SEED:-$(date +%s)}
kills=${KILLS:-500}
here=$top_builddir/tests/kill
export KILLER_PRELOAD=$top_builddir/.libs/libscope_preload.so
# A real library keeps its own files with ours, and nothing of it outlives a kill.
export TMPDIR=$work OMPI_MCA_btl=self OMPI_MCA_ess_singleton_isolated=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# kill_test NAME KILLS VICTIM
kill_test() {
    local said status=0
    said=$("$top_builddir/killer" "$2" "$seed" "$work" "$here/$3") || status=$?
    result "$status" "$1: $2 kills, seed $seed"
    echo "$said"
}

# A real library takes long to start: it has one kill in twenty.
real=()
for mpi in openmpi mpich; do
    [[ ! -x $here/real/$mpi ]] || real+=("$mpi")
done
each=$((kills / 20))
left=$((kills - ${#real[@]} * each))
kill_test "like Open MPI" $((left - left / 2)) openmpi/victim
kill_test "like MPICH" $((left / 2)) mpich/victim
for mpi in "${real[@]}"; do
    kill_test "$mpi" "$each" "real/$mpi"
done
done_testing
