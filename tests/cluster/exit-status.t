#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# However a program ends, srun's exit status is what it is without profiling, and a merged file has
# every call up to the death and tells how each rank ended.
. "$(dirname "$0")/scenario.sh"
plan 72
fresh_directory

# ends MPI "WAY [RANK]" ENDS WORD...: two ranks of ./death end so, started by srun with the options
# WORD, and the merged file tells of it what matches ENDS
ends() {
    local name="$1, $2" expected=$3 without with file words
    local -A types=([openmpi]=pmix [mpich]=pmi2)
    read -ra words <<<"./death.$1 $2"
    rm -rf tally.* scope-profile-*
    run srun -N2 -n2 --mpi="${types[$1]}" "${@:4}" "${words[@]}"
    without=$status
    rm -rf tally.*
    run srun -N2 -n2 --mpi="${types[$1]}" "${@:4}" --scope-profile=mpi-calls "${words[@]}"
    with=$status
    is "$with" "$without" "$name: srun's status is $without as without profiling"
    file=$(echo scope-profile-*.h5)
    passes "$name: there is a merged file" test -f "$file"
    passes "$name: it has every call up to the death" agrees "$file"
    is "$(grep -c '^scope-profile: ' "$results/err")" 1 "$name: one line tells of it"
    like "$(ends_in "$file")" "^$expected\$" "$name: the file tells how it ended"
}

mpicc_openmpi -o death.openmpi "$programs/death.c"
ends openmpi finalize0 'ranks 0-1: normal'
ends openmpi finalize3 'ranks 0-1: exit status 3'
ends openmpi exit3 'ranks 0-1: exit status 3 without MPI_Finalize'
ends openmpi exit0 'ranks 0-1: exit status 0 without MPI_Finalize'
ends openmpi _exit3 'ranks 0-1: exit status 3 without MPI_Finalize'
ends openmpi abort 'ranks 0-1: signal 6 \(SIGABRT\)(, core dumped)?'
ends openmpi segv 'ranks 0-1: signal 11 \(SIGSEGV\)(, core dumped)?'
killed='signal (9 \(SIGKILL\)|15 \(SIGTERM\)), cause unknown' # whichever of Slurm's comes first
ends openmpi "segv 1" "rank 0: $killed; rank 1: signal 11 \\(SIGSEGV\\)(, core dumped)?" \
    --kill-on-bad-exit=1
ends openmpi "kill 1" "rank.*[ -]1: signal 9 \\(SIGKILL\\), cause unknown" --kill-on-bad-exit=1
ends openmpi "mpi_abort 0" "rank 0: exit status 5 without MPI_Finalize; rank 1: $killed"

mpicc_mpich -o death.mpich "$programs/death.c"
ends mpich finalize3 'ranks 0-1: exit status 3'
ends mpich segv 'ranks 0-1: signal 11 \(SIGSEGV\)(, core dumped)?'
ends mpich "kill 1" "rank.*[ -]1: signal 9 \\(SIGKILL\\), cause unknown" --kill-on-bad-exit=1
ends mpich "mpi_abort 1" "rank.*[ -]1: signal 9 \\(SIGKILL\\), cause unknown"

# A rank that is a child of the task: only the task's end is seen.
rm -rf tally.* scope-profile-*
run srun -N2 -n2 --mpi=pmix --scope-profile=mpi-calls bash -c './death.openmpi exit3; exit 6'
is "$status" 6 "a rank that a script starts: srun's status is the script's"
is "$(ends_in "$(echo scope-profile-*.h5)")" 'ranks 0-1: its task ended with exit status 6' \
    "a rank that a script starts: the file tells how the script ended"
