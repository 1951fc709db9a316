#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The application's own output is what it is without profiling, but for one line on stderr; what is
# left is one file, the user's.
. "$(dirname "$0")/scenario.sh"
plan 9
fresh_directory

# Lines sorted, for ranks write in any order, and without srun's own on the wait for resources.
sorted() {
    grep -av '^srun: job [0-9]* \(queued\|has been allocated\)' "$1" | LC_ALL=C sort
}

mpicc_openmpi -o speaker "$programs/speaker.c"
run srun -N2 -n4 --mpi=pmix ./speaker
is "$status" 0 "the program runs without the option" || diag "$err"
sorted "$results/out" >"$results/out.without"
sorted "$results/err" >"$results/err.without"
is "$(listing .)" speaker "without the option nothing is written"

run srun -N2 -n4 --mpi=pmix --scope-profile=mpi-calls ./speaker
is "$status" 0 "the program runs with it"
passes "its standard output is unchanged" \
    cmp "$results/out.without" <(sorted "$results/out")
passes "its standard error is unchanged but for lines of scope-profile" \
    cmp "$results/err.without" <(sorted "$results/err" | grep -av '^scope-profile: ')

file=$(echo scope-profile-*.h5)
is "$(listing .)" "$file speaker" "the run directory is gone after the merge, one file is there"
is "$(grep -a '^scope-profile: ' "$results/err")" \
    "scope-profile: 4 ranks, $(mpi_calls "$file") MPI calls -> ./$file" \
    "one line tells ranks, the file's calls and its path"
like "$(mpi_calls "$file")" '^1,2[0-9][0-9]$' "thousands are separated"
is "$(stat --format=%U "$file")" "$(as_user id -un)" "the file is the user's"
