#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Four ranks on two hosts, under Open MPI and MPICH, from the same plugstack line and preload path:
# the profile has exactly the calls that the program counted itself, group by group.
. "$(dirname "$0")/scenario.sh"
plan 24
fresh_directory

# Debian's Open MPI leaves out the component that serves windows over two hosts.
export OMPI_MCA_osc=pt2pt,sm

# compare MPI NAME: the program built for MPI; NAME is what the library calls itself
compare() {
    local file
    rm -rf tally.* ./*.h5
    passes "$1: the program is built" build_conformance "$1"
    run srun -N2 -n4 --mpi="${launcher[$1]}" --scope-profile=mpi-calls ./conformance
    is "$status" 0 "$1: the program runs"
    file=$(echo scope-profile-*.h5)
    like "$file" '^scope-profile-[0-9]+\.0\.h5$' "$1: one profile appears"
    is "$(python 'print(scope_profiler.read_h5(sys.argv[1]).num_ranks)' "$file")" 4 \
        "$1: read_h5 finds four ranks"
    is "$(python 'print(scope_profiler.read_h5_summary(sys.argv[1]).num_ranks)' "$file")" 4 \
        "$1: read_h5_summary finds four ranks"
    passes "$1: each region has the calls that the program counted, rank by rank" agrees "$file"
    passes "$1: calls nest in the session: call_stack, summary and to_dataframe" \
        python '
results = scope_profiler.read_h5(sys.argv[1])
for rank in range(4):
    stack = results.call_stack(rank=rank)
    roots = [stack[i]["name"] for i in scope_profiler.call_stack_roots(stack)]
    assert roots.count("scope_profiler.session") == 1, roots
    assert {r.split()[0] for r in roots} <= {"scope_profiler.session", "mpi:init",
                                             "mpi:finalize"}, roots
assert results.summary() and len(results.to_dataframe()) == len(results.region_names)' "$file"
    is "$(python '
metadata = scope_profiler.read_h5(sys.argv[1]).metadata
print(metadata["mpi_size"], metadata["num_nodes"], metadata["start_time_ns"])' "$file")" "4 2 0" \
        "$1: the metadata tell ranks, nodes and the start"
    passes "$1: the metadata tell the job, the command and the MPI library" python '
metadata = scope_profiler.read_h5(sys.argv[1]).metadata
assert sys.argv[1].split("-")[2].split(".")[0] == metadata["SLURM_JOB_ID"], metadata
assert any("./conformance" in str(value) for value in metadata.values()), metadata
assert any(sys.argv[2] in str(value) for value in metadata.values()), metadata' "$file" "$2"
    is "$(listing .)" "conformance $file tally.0 tally.1 tally.2 tally.3" \
        "$1: nothing else is left"

    rm -rf tally.* ./*.h5
    run srun -N2 -n4 --mpi="${launcher[$1]}" --scope-profile=mpi-calls=all ./conformance
    is "$status" 0 "$1, mpi-calls=all: the program runs"
    passes "$1, mpi-calls=all: local calls as well, and nothing that the program did not call" \
        agrees "$(echo scope-profile-*.h5)"
}

compare openmpi "Open MPI"
compare mpich MPICH
