#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A run directory that another run left under the same number (Slurm's numbers can begin anew) is
# neither mixed with the new run nor merged nor removed: the step runs without profiling.
. "$(dirname "$0")/scenario.sh"
plan 6
fresh_directory
mpicc_openmpi -o speaker "$programs/speaker.c"
cat >taken.sh <<'TAKEN'
taken=scope-profile-$SLURM_JOB_ID.0
mkdir -p "$taken/old-0"
echo kept >"$taken/old-0/rank-000000.sptrace"
srun -N2 -n2 --mpi=pmix --scope-profile=mpi-calls ./speaker
TAKEN
run salloc -N2 -n2 bash taken.sh
is "$status" 0 "the program runs"
like "$err" "scope-profile: .*scope-profile-[0-9]+\.0 is there already, from another run" \
    "one line says why there is no profile"
is "$(grep -c '^scope-profile: ' "$results/err")" 1 "one line, not one per task"
is "$(cat scope-profile-*/old-0/rank-000000.sptrace)" kept "the old run's trace is as it was"
is "$(find scope-profile-* -type f | wc -l)" 1 "nothing was added to it"
is "$(find . -name '*.h5' | wc -l)" 0 "and nothing merged"
