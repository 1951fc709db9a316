#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Three steps of one job at the same time give three files, each with its own step's calls.
. "$(dirname "$0")/scenario.sh"
plan 12
fresh_directory
mpicc_openmpi -o death "$programs/death.c"
cat >steps.sh <<'STEPS'
for step in 0 1 2; do
    mkdir -p "$step"
    (cd "$step" && exec srun --overlap -N2 -n2 --mpi=pmix --scope-profile=mpi-calls,out=.. \
        ../death finalize3 2>err) &
done
wait
STEPS
run salloc -N2 -n2 bash steps.sh
is "$(echo scope-profile-*)" "$(echo scope-profile-*.{0,1,2}.h5)" "three files, one per step"
is "$(find . -maxdepth 1 -name 'scope-profile-*.h5' | wc -l)" 3 "three of them"
is "$(find . -maxdepth 1 -type d -name 'scope-profile-*' | wc -l)" 0 "no run directory is left"
for step in 0 1 2; do
    number=$(sed -n 's/^scope-profile: .*\.\([0-2]\)\.h5$/\1/p' "$step/err")
    like "$number" '^[012]$' "step in directory $step: its line names a file"
    passes "step in directory $step: the file has its calls" \
        "$SP_PYTHON" "$programs/compare_tally.py" "$(echo scope-profile-*."$number".h5)" "$step"
    is "$(grep -c '^scope-profile: ' "$step/err")" 1 "step in directory $step: one line"
done
