#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# NetPIPE as Debian ships it for Open MPI and for MPICH, unmodified: its profile opens, and what one
# rank sent the other received.
. "$(dirname "$0")/scenario.sh"
plan 12
fresh_directory

# netpipe MPI TYPE PROGRAM SECONDS: what hangs is ended after these
netpipe() {
    local file try
    # MPICH over UCX at times hangs in MPI_Finalize, with or without a profile (programs/tally.h).
    for try in 1 2 3 4; do
        rm -rf scope-profile-* np.out
        in_work timeout --kill-after=5 "$4" srun -N2 -n2 --mpi="$2" --scope-profile=mpi-calls \
            "$3" -l 1 -u 2048 -n 20 -p 1 >"$results/out" 2>"$results/err"
        status=$?
        [[ $1 == mpich && $status == 124 ]] || break
        diag "try $try: NetPIPE did not end"
    done
    is "$status" 0 "$1: NetPIPE runs"
    like "$(<"$results/err")$(<"$results/out")" ' Mbps in ' "$1: it measured"
    file=$(echo scope-profile-*.h5)
    like "$(grep '^scope-profile: ' "$results/err")" \
        "^scope-profile: 2 ranks, [0-9,]+ MPI calls -> \./$file\$" "$1: one line names the profile"
    is "$(python 'print(scope_profiler.read_h5(sys.argv[1]).num_ranks)' "$file")" 2 \
        "$1: read_h5 finds two ranks"
    passes "$1: each rank received what the other sent" python '
from collections import Counter
results = scope_profiler.read_h5(sys.argv[1])
sent, received = Counter(), Counter()
for region in results.get_regions():
    label = scope_profiler.parse_mpi_region(region.name)
    operation = region.name.split()[0]
    for rank in region.ranks:
        calls = region[rank].num_calls
        if operation in ("mpi:send", "mpi:isend"):
            sent[rank, label.peer, label.bytes] += calls
        if operation in ("mpi:recv", "mpi:irecv"):
            received[label.peer, rank, label.bytes] += calls
assert sent == received and sum(sent.values()) > 100, (sent - received, received - sent)
assert {pair[:2] for pair in sent} == {(0, 1), (1, 0)}, sent' "$file"
    passes "$1: the package draws its table" scope-profiler inspect "$file"
}

netpipe openmpi pmix NPopenmpi 60
netpipe mpich pmi2 NPmpich2 20
