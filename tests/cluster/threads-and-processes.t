#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks whose threads all call MPI, and ranks that start other processes.
. "$(dirname "$0")/scenario.sh"
plan 14
fresh_directory

for mpi in openmpi mpich; do
    "mpicc_$mpi" -pthread -o threads "$programs/threads.c"
    run srun -N2 -n2 --mpi="${launcher[$mpi]}" --scope-profile=mpi-calls ./threads
    is "$status" 0 "$mpi: eight threads of each rank call MPI at once"
    file=$(echo scope-profile-*.h5)
    passes "$mpi: every thread has a lane with exactly its calls, and each lane nests" agrees "$file"
    passes "$mpi: call_stack, summary and to_dataframe work on it" python '
results = scope_profiler.read_h5(sys.argv[1])
for rank in range(2):
    stack = results.call_stack(rank=rank)
    names = [stack[i]["name"] for i in scope_profiler.call_stack_roots(stack)]
    assert names.count("scope_profiler.session") == 1, names
assert results.summary() and len(results.to_dataframe()) == len(results.region_names)' "$file"
    rm -rf ./*

    "mpicc_$mpi" -o processes "$programs/processes.c"
    run srun -N1 -n2 --mpi="${launcher[$mpi]}" --scope-profile=mpi-calls ./processes
    is "$status" 0 "$mpi: ranks fork, and the children exit or become other programs"
    passes "$mpi: the profile has the calls of the ranks, and theirs alone" \
        agrees "$(echo scope-profile-*.h5)"
    is "$(python 'import h5py
print(*h5py.File(sys.argv[1])["scope_profile/ranks/state"].asstr()[:])' "$(echo scope-profile-*.h5)")" \
        "complete complete" "$mpi: both ranks are complete"
    rm -rf ./*
done

# A rank that becomes another program has its calls up to then.
mpicc_openmpi -o processes "$programs/processes.c"
run sp-run mpi-calls -- ./processes exec
is "$status" 9 "a rank becomes another program: its status"
passes "a rank becomes another program: its calls up to then are there" \
    agrees "$(echo scope-profile-*.h5)"
