#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Four ranks on two hosts, under Open MPI and MPICH, from the same plugstack line and preload path:
# the profile has exactly the calls that the program counted itself.
. "$(dirname "$0")/scenario.sh"
plan 20
fresh_directory
communicators=(copy even/odd three pair ring)

# compare MPI TYPE NAME [ARGUMENT]: the program built for MPI, started by srun --mpi=TYPE; NAME is
# what the library calls itself
compare() {
    local file
    rm -rf tally.* ./*.h5
    passes "$1: the program is built" "mpicc_$1" -Wno-stringop-overflow -o every_call "$programs/every_call.c"
    run srun -N2 -n4 --mpi="$2" --scope-profile=mpi-calls ./every_call "${@:4}"
    is "$status" 0 "$1: the program runs"
    file=$(echo scope-profile-*.h5)
    like "$file" '^scope-profile-[0-9]+\.0\.h5$' "$1: one profile appears"
    is "$(python 'print(scope_profiler.read_h5(sys.argv[1]).num_ranks)' "$file")" 4 \
        "$1: read_h5 finds four ranks"
    is "$(python 'print(scope_profiler.read_h5_summary(sys.argv[1]).num_ranks)' "$file")" 4 \
        "$1: read_h5_summary finds four ranks"
    passes "$1: each region has the calls that the program counted, rank by rank" \
        "$SP_PYTHON" "$programs/compare_tally.py" "$file" . "${communicators[@]}"
    passes "$1: calls nest in the session: call_stack, summary and to_dataframe" \
        python '
results = scope_profiler.read_h5(sys.argv[1])
for rank in range(4):
    stack = results.call_stack(rank=rank)
    roots = [stack[i]["name"] for i in scope_profiler.call_stack_roots(stack)]
    assert roots.count("scope_profiler.session") == 1, roots
    assert {r.split()[0] for r in roots} <= {"scope_profiler.session", "mpi:init", "mpi:init_thread",
                                             "mpi:finalize"}, roots
assert results.summary() and len(results.to_dataframe()) == len(results.region_names)' "$file"
    is "$(python '
metadata = scope_profiler.read_h5(sys.argv[1]).metadata
print(metadata["mpi_size"], metadata["num_nodes"], metadata["start_time_ns"])' "$file")" "4 2 0" \
        "$1: the metadata tell ranks, nodes and the start"
    passes "$1: the metadata tell the job, the command and the MPI library" python '
metadata = scope_profiler.read_h5(sys.argv[1]).metadata
assert sys.argv[1].split("-")[2].split(".")[0] == metadata["SLURM_JOB_ID"], metadata
assert any("./every_call" in str(value) for value in metadata.values()), metadata
assert any(sys.argv[2] in str(value) for value in metadata.values()), metadata' "$file" "$3"
    is "$(listing .)" "every_call $file tally.0 tally.1 tally.2 tally.3" \
        "$1: nothing else is left"
}

compare openmpi pmix "Open MPI"
compare mpich pmi2 MPICH init_thread
