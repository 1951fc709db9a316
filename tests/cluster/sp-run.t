#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Without Slurm: sp-run gives the same profile of a program that mpirun starts.
. "$(dirname "$0")/scenario.sh"
plan 40
fresh_directory

# profiled MPI MPIRUN...: the program's calls are all in one file
profiled() {
    local file
    rm -rf ./*
    build_conformance "$1"
    run sp-run "mpi-calls,out=$1" -- "${@:2}" -n 4 ./conformance completion collectives
    is "$status" 0 "$1: the program runs"
    file=$(echo "$1"/*)
    like "$file" "^$1/scope-profile-[A-Za-z0-9._-]+-[0-9]+\.h5\$" "$1: one file appears in out="
    like "$err" "scope-profile: 4 ranks, $(mpi_calls "$file") MPI calls -> \./$file(\$|"$'\n)' \
        "$1: one line tells of it"
    passes "$1: it has exactly the calls that the program counted" \
        agrees "$file"
    is "$(listing .)" "conformance $1 tally.0 tally.1 tally.2 tally.3" "$1: nothing else is left"
}
profiled openmpi mpirun.openmpi --oversubscribe
profiled mpich mpirun.mpich
rm -rf ./*

# --- the end of the command is sp-run's own --------------------------------------------------------
mpicc_openmpi -o death "$programs/death.c"
run sp-run mpi-calls -- mpirun.openmpi --oversubscribe -n 2 ./death exit3
is "$status" 3 "exit status 3"
is "$(ends_in "$(echo scope-profile-*.h5)")" "ranks 0-1: its launcher ended with exit status 3" \
    "exit status 3: the file tells how mpirun ended"
passes "exit status 3: there is a merged file" test -f "$(echo scope-profile-*.h5)"
passes "exit status 3: with every call up to the end" \
    "$SP_PYTHON" "$programs/compare_tally.py" "$(echo scope-profile-*.h5)" .
rm -rf tally.* scope-profile-*
# MPI libraries cannot live there: a command that comes as far as its run directory.
run bash -c '(ulimit -f 0; exec sp-run mpi-calls -- bash -c "mkdir \"\$SCOPE_PROFILE_RUN\"; exit 7") 2>&1 |
    cat; exit "${PIPESTATUS[0]}"'
is "$status" 7 "where no file may be written: its exit status all the same"
rm -rf scope-profile-*
# One process without mpirun.
run sp-run mpi-calls -- ./death segv
is "$status" 139 "a program that dies by SIGSEGV: 128 + 11"
like "$(ends_in "$(echo scope-profile-*.h5)")" '^rank 0: signal 11 \(SIGSEGV\)(, core dumped)?$' \
    "SIGSEGV: the file tells how it ended"
passes "SIGSEGV: there is a merged file" test -f "$(echo scope-profile-*.h5)"
passes "SIGSEGV: with every call up to the death" \
    "$SP_PYTHON" "$programs/compare_tally.py" "$(echo scope-profile-*.h5)" .
rm -rf tally.* scope-profile-*
run sp-run mpi-calls -- bash -c 'echo out; echo err >&2; exit 9'
is "$status: $out, $err" "9: out, err" "a command without MPI: its status and output, nothing more"
is "$(listing .)" death "and nothing is left"
run sp-run mpi-calls -- ./nowhere
is "$status" 127 "no such program: 127"
like "$err" "nowhere" "and it is named"
is "$(listing .)" death "and nothing is left"
run sp-run mpi-calls -- /
is "$status" 126 "what cannot be run: 126"

# --- words -----------------------------------------------------------------------------------------
run sp-run mpi-cals -- touch started
is "$status" 64 "a wrong word: 64"
like "$err" "^sp-run: .*mpi-cals" "it is named"
like "$err" "mpi-calls.*merge=" "the right ones are listed"
is "$(listing .)" death "and nothing was started"
run sp-run help
is "$status" 0 "help: status 0"
like "$out" 'mpi-calls.*off.*out=DIR.*merge=' "help prints the words"
run sp-run mpi-calls
is "$status" 64 "no command: 64"
run sp-run mpi-calls,merge=epilog -- touch started
is "$status: $err" "64: sp-run: merge=epilog is for jobs of Slurm: leave it out, or say merge=off
Try \"sp-run --help\" for more information." "merge=epilog, where nobody would merge, is refused"
is "$(listing .)" death "and nothing was started"
run sp-run off -- ./death exit3
is "$status: $(echo scope-profile*)" "3: scope-profile*" "off: runs it unprofiled"
rm -f tally.*
run sp-run mpi-calls,merge=off -- ./death exit3
directory=$(echo scope-profile-*)
passes "merge=off keeps the traces" test -f "$(echo "$directory"/*/rank-000000.sptrace)"
run sp-merge "$directory" -o mine.h5
passes "and sp-merge makes the file" test -s mine.h5
rm -rf tally.* mine.h5 scope-profile-*
run env LD_PRELOAD=/lib/x86_64-linux-gnu/libm.so.6: sp-run mpi-calls -- printenv LD_PRELOAD
like "$out" "libscope_preload\.so:/lib/x86_64-linux-gnu/libm\.so\.6:\$" \
    "the user's own LD_PRELOAD follows ours"
run sp-run --help
like "$status: $out" '^0: Usage: sp-run' "--help"
run sp-run --version
like "$status: $out" '^0: sp-run.* [0-9]+\.[0-9]+' "--version"
