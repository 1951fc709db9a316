#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Spins: polls that find nothing are counted exactly and cost the trace next to nothing, also on a
# machine that takes the processor away now and then.
. "$(dirname "$0")/scenario.sh"
plan 6
fresh_directory

for mpi in openmpi mpich; do
    rm -rf ./*
    "mpicc_$mpi" -o spin "$programs/spin.c"
    run srun -N1 -n2 --mpi="${launcher[$mpi]}" --scope-profile=mpi-calls ./spin 300000
    is "$status" 0 "$mpi: a rank polls half a million times"
    passes "$mpi: each poll is counted, by what it asked for" agrees "$(echo scope-profile-*.h5)"
    passes "$mpi: they cost less than a byte in a hundred polls" python '
import h5py
first, second = h5py.File(sys.argv[1])["scope_profile/ranks/trace_bytes"][:].tolist()
assert first - second < 6000, (first, second)' "$(echo scope-profile-*.h5)"
done
