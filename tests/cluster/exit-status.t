#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# However a program ends, srun's exit status is what it is without profiling, and a merged file has
# every call up to the death.
. "$(dirname "$0")/scenario.sh"
plan 52
fresh_directory

# ends MPI "WAY [RANK]" WORD...: two ranks of ./death end so, started by srun with the options WORD
ends() {
    local name="$1, $2" without with file words
    local -A types=([openmpi]=pmix [mpich]=pmi2)
    read -ra words <<<"./death.$1 $2"
    rm -rf tally.* scope-profile-*
    run srun -N2 -n2 --mpi="${types[$1]}" "${@:3}" "${words[@]}"
    without=$status
    rm -rf tally.*
    run srun -N2 -n2 --mpi="${types[$1]}" "${@:3}" --scope-profile=mpi-calls "${words[@]}"
    with=$status
    is "$with" "$without" "$name: srun's status is $without as without profiling"
    file=$(echo scope-profile-*.h5)
    passes "$name: there is a merged file" test -f "$file"
    passes "$name: it has every call up to the death" \
        "$SP_PYTHON" "$programs/compare_tally.py" "$file" .
    is "$(grep -c '^scope-profile: ' "$results/err")" 1 "$name: one line tells of it"
}

mpicc_openmpi -o death.openmpi "$programs/death.c"
ends openmpi finalize3
ends openmpi exit3
ends openmpi exit0
ends openmpi _exit3
ends openmpi abort
ends openmpi segv
ends openmpi "segv 1" --kill-on-bad-exit=1
ends openmpi "kill 1" --kill-on-bad-exit=1
ends openmpi "mpi_abort 0"

mpicc_mpich -o death.mpich "$programs/death.c"
ends mpich finalize3
ends mpich segv
ends mpich "kill 1" --kill-on-bad-exit=1
ends mpich "mpi_abort 1"
