#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Traces that reach the limit of max-trace= or max-run=: the calls that follow are counted by what they
# were, and the program does not notice.
. "$(dirname "$0")/scenario.sh"
plan 17
fresh_directory
mpicc_openmpi -o many "$programs/many.c"

# limited WORDS ARGUMENT...: what is left of a run of ./many under --scope-profile=mpi-calls,WORDS
limited() {
    rm -rf tally.* scope-profile-*
    run srun -N2 -n4 --mpi=pmix --scope-profile="mpi-calls,$1" ./many "${@:2}"
    profile=$(echo scope-profile-*.h5)
}

# recorded FILE: the number of events of MPI calls, and of calls without one, rank by rank
recorded() {
    python '
import collections, h5py
ranks = collections.defaultdict(lambda: [0, 0])
profile = scope_profiler.read_h5(sys.argv[1])
for name in profile.region_names:
    for rank, region in profile[name].regions.items():
        ranks[rank][0] += region.num_calls if name.startswith("mpi:") else 0
table = h5py.File(sys.argv[1])["scope_profile"].get("unrecorded")
for rank, count in zip(table["ranks"], table["counts"]) if table else ():
    ranks[int(rank)][1] += int(count)
print(*(" ".join(map(str, ranks[rank])) for rank in sorted(ranks)), sep="\n")' "$1"
}

limited max-trace=580K 4000 100000
is "$status" 0 "max-trace=: the program ends as ever"
is "$(wc -l <"$results/err")" 1 "one line is printed"
like "$err" '^scope-profile: 4 ranks \(4 stopped\), [0-9,]+ MPI calls -> .*; the traces stay in ' \
    "which says that the traces were full"
passes "events and counted calls together are what the program did" agrees "$profile"
is "$(recorded "$profile" | awk '$1 > 20000 && $2 > 20000' | wc -l)" 4 "there are both, on each rank"
is "$(find scope-profile-*/ -name '*.sptrace' -size +511k -size -581k | wc -l)" 4 \
    "no trace is larger than that"
said=$(sp-merge -f scope-profile-*/ -o "$results/again.h5" 2>&1)
for rank in 0 3; do
    like "$said" "rank $rank: its trace was full \(57[0-9.]* KiB; max-trace= and max-run= set its limit\): \
[0-9]+ calls of [0-9.]+ s were counted, not recorded" "sp-merge says why, and how much: rank $rank"
done
like "$(sp-report "$profile")" 'Unrecorded +[0-9,]+ calls .* MPI_Send \(.* MPI_Waitall \(' \
    "sp-report tells them by function"
is "$(sp-report --json "$profile" | python 'print(*(rank["mpi_calls"] for rank in json.load(sys.stdin)["ranks"]))')" \
    "$(for rank in {0..3}; do awk -F'\t' '$1 == "call" { n += $2 } END { print n }' tally.$rank; done | xargs)" \
    "and all calls of each rank"

limited max-trace=300K 200 0
is "$status" 0 "no room for any event: the program ends as ever"
passes "all of its calls are counted" agrees "$profile"
is "$(recorded "$profile" | awk '$1 == 0' | wc -l)" 4 "and none is recorded"

limited max-run=1G 200 0
like "$status $out$err" "^0 scope-profile: 4 ranks, $(mpi_calls "$profile") MPI calls -> [^ ]*$" \
    "a limit larger than needed is not noticed"
passes "all calls are recorded" agrees "$profile"
is "$(recorded "$profile" | awk '$2 == 0' | wc -l)" 4 "and none is only counted"

# 3 bytes an event: 12 MB are wanted of each rank.
limited max-run=36M,merge=off 2 4000000
sizes=$(find scope-profile-*/ -name '*.sptrace' -printf '%s\n')
is "$(awk '$1 > 9 * 1048576 - 70000 && $1 <= 9 * 1048576' <<<"$sizes" | wc -l)" 4 \
    "max-run= is shared by the ranks" || diag "$sizes"
