#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpirun of Open MPI and mpiexec of MPICH inside a batch script: each has a run of its own, which
# the ranks on all nodes share, those below the script and those below mpirun's daemons.
. "$(dirname "$0")/scenario.sh"
plan 29
fresh_directory
cp "$plugstack" "$results/plugstack.conf"
trap 'cat "$results/plugstack.conf" >"$plugstack"; cd /; rm -rf "$work" "$results"' EXIT
mpicc_openmpi -o openmpi "$programs/neighbours.c"
mpicc_mpich -o mpich "$programs/neighbours.c"

# batch OPTION... -- LINE...: a job of two nodes and four tasks, whose script has these lines
batch() {
    find . -mindepth 1 -maxdepth 1 ! -name openmpi ! -name mpich -exec rm -rf {} +
    submit --wait "$@"
}

# runs: the run directories, without the job's number
runs() {
    listing . | tr ' ' '\n' | sed -n "s/^scope-profile-$job\.//p" | xargs
}

# traces RUN: of how many ranks, in how many worlds, on how many nodes
traces() {
    local directory=scope-profile-$job.$1
    echo "$(find "$directory" -name 'rank-*.sptrace' | wc -l)" \
        "$(find "$directory" -mindepth 1 -type d | wc -l)" \
        "$(find "$directory" -name 'rank-*.sptrace' -exec sp-dump --header {} \; |
            sed -n 's/^node *//p' | sort -u | wc -l)"
}

# complete RUN: sp-merge has nothing to complain of, and names the ranks' own command
complete() {
    run sp-merge "scope-profile-$job.$1" -o "$1.h5"
    is "$status" 0 "$1: sp-merge makes a complete profile"
    like "$(sp-report "$1.h5")" "./(openmpi|mpich) 0.2" "$1: of the program, not of its launcher"
}

# --- one after another, at once, and a step of srun's between them --------------------------------
# Of two at once, the one that ends first removes what the other sets up in the same directory.
# shellcheck disable=SC2016 # the job's shell expands
batch --scope-profile=mpi-calls -- 'mpirun.openmpi ./openmpi 0.2' 'srun --mpi=pmix ./openmpi 0.1' \
    'mpiexec.mpich ./mpich 0.2' \
    'mkdir one two; for own in one two; do' \
    'mpirun.openmpi --mca orte_tmpdir_base "$PWD/$own" ./openmpi 0.2 & done; wait' \
    'mpiexec.mpich ./mpich 0.2 & mpiexec.mpich ./mpich 0.2 & wait'
is "$status" 0 "a job of six mpiruns and a srun"
diag "$(cat job.out)"
is "$(runs)" "1.h5 mpirun-1 mpirun-2 mpirun-3 mpirun-4 mpirun-5 mpirun-6" \
    "there is a run of each mpirun, and srun's, which is merged"
for number in 1 2 3 4 5 6; do
    is "$(traces "mpirun-$number")" "4 1 2" "mpirun-$number: four ranks of one world on two nodes"
    complete "mpirun-$number"
done
is "$(find . -name '.scope*')" "" "nothing else is left"

# --- who says nothing, and who says no ------------------------------------------------------------
# shellcheck disable=SC2016 # the job's shell expands
batch -- 'mpirun.openmpi ./openmpi 0.1' 'env | grep SCOPE' 'echo "$LD_PRELOAD"'
is "$(listing .): $(xargs <job.out)" "job.out mpich openmpi: " \
    "a job that did not ask has no run, and nothing of ours in its environment"
batch --scope-profile=mpi-calls -- hostname 'mpirun.openmpi hostname' 'mpiexec.mpich hostname'
is "$status: $(grep -v '^srun: ' job.out | sort -u | xargs)" "0: node1 node2" "programs without MPI run as ever"
is "$(listing .)" "job.out mpich openmpi" "and leave nothing"

site default=mpi-calls
batch -- 'mpirun.openmpi ./openmpi 0.1'
is "$(runs)" mpirun-1 "default=mpi-calls: mpirun is profiled"
batch --scope-profile=off -- 'mpirun.openmpi ./openmpi 0.1' 'mpiexec.mpich ./mpich 0.1'
is "$(listing .)" "job.out mpich openmpi" "--scope-profile=off has the last word"
cat "$results/plugstack.conf" >"$plugstack"

# --- other ways to ask, other places --------------------------------------------------------------
run env SCOPE_PROFILE=mpi-calls,out=there/%j-%s sbatch --parsable --wait --export=NONE -N2 -n4 \
    --output=job.out --wrap "unset SLURM_EXPORT_ENV; mpirun.openmpi $work/openmpi 0.1"
is "$(find there -name 'rank-*.sptrace' -printf '%P\n' | sed 's|-1/[^/]*/|-1/|' | sort | xargs)" \
    "$(printf "$out-mpirun/scope-profile-$out.mpirun-1/rank-00000%d.sptrace\n" 0 1 2 3 | xargs)" \
    "SCOPE_PROFILE asks as well, --export=NONE or not, and out= is heeded"
rm -rf there
run salloc --nodes=2 --ntasks=4 --scope-profile=mpi-calls mpirun.openmpi ./openmpi 0.1
job=$(sed -n 's/^salloc: Granted job allocation //p' "$results/err")
is "$status $(runs) $(traces mpirun-1)" "0 mpirun-1 4 1 2" "salloc: mpirun is profiled"
run salloc --nodes=2 --ntasks=4 --scope-profile=mpi-calls mpiexec.mpich ./mpich 0.1
job=$(sed -n 's/^salloc: Granted job allocation //p' "$results/err")
is "$status $(runs) $(traces mpirun-1)" "0 mpirun-1 4 1 2" "salloc: so is mpiexec"
