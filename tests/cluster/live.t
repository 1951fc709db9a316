#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job hangs: sp-dump --live tells who waits for whom while it runs, and when it was cancelled, the
# profile file says the same.
. "$(dirname "$0")/scenario.sh"
plan 26
fresh_directory

# start MPI ARGUMENT...: runs the program in the background until all of its ranks are where they stay
start() {
    local mpi=$1
    shift
    "mpicc_$mpi" -o stuck "$programs/stuck.c"
    in_work timeout --kill-after=5 120 srun -N2 -n4 --mpi="${launcher[$mpi]}" \
        --scope-profile=mpi-calls ./stuck "$@" >"$results/job_out" 2>"$results/job_err" </dev/null &
    srun=$!
    for _ in {1..300}; do
        look=$(in_work sp-dump --live 2>/dev/null)
        [[ $look == *"rank 3 in mpi:barrier"* && $look == *"rank 2 outside MPI"* &&
            $look =~ rank\ 0\ (in|calling)\ mpi:(recv|test) &&
            $look =~ rank\ 1\ in\ mpi:(recv|waitall) ]] && break
        sleep 0.2
    done
}

# cancel: ends the job, whatever srun says to that
cancel() {
    # shellcheck disable=SC2046 # one word each
    as_user scancel $(as_user squeue --noheader --format=%i)
    wait "$srun"
}

# in_flight FILE: the column, times left out
in_flight() {
    python 'import h5py, re
for text in h5py.File(sys.argv[1])["scope_profile/ranks/in_flight"].asstr():
    print(re.sub(r"for [0-9.]+ m?s$", "for TIME", text))' "$1"
}

# --- ranks in three kinds of calls ---------------------------------------------------------------
start openmpi
time='[0-9.]+ m?s'
like "$look" "^\./scope-profile-[0-9.]+: 4 ranks on 2 hosts at [0-9:]{8}"$'\n' "the run is named"
like "$look" "  rank 0 in mpi:recv from 2 \(tag 7\) for $time"$'\n' "who receives, and from whom"
like "$look" "  rank 1 in mpi:waitall( for [^"$'\n'"]*)? for $time"$'\n' "who waits for requests"
like "$look" "  rank 3 in mpi:barrier on comm 0 for $time; not in it: 3 ranks \(0-2\)"$'\n' \
    "who is in a barrier, and who is not"
like "$look" "  rank 2 outside MPI for $time"$'\n' "whom they all wait for"
like "$look" "     2  node2  outside MPI for $time, after mpi:barrier on comm 0"$'\n' \
    "a line for each rank tells its host"
like "$look" "comm 0: MPI_COMM_WORLD" "the communicator is named"
run sp-dump --live scope-profile-*.0
is "$status: $err" "0: " "the run directory can be named: status 0"
seen=$("$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --node 2 --chdir "$work" -- \
    sp-dump --live --json . 2>&1)
is "$(python 'world, = json.load(sys.stdin)["worlds"]
print([rank["threads"][0]["state"] for rank in world["ranks"]],
      all(0 < rank["threads"][0]["age_ns"] < 120e9 for rank in world["ranks"]))' <<<"$seen")" \
    "['call', 'call', 'outside', 'call'] True" "from a host of the job it looks the same, as JSON"
like "$(as_user squeue --noheader --format=%T)" RUNNING "the job runs on"
is "$(cat "$results/job_out")" "" "and knows nothing of it"
cancel
like "$(tr -d '\0' <"$results/job_err")" "scope-profile: 4 ranks \(4 cut off\), [0-9]+ MPI calls -> " \
    "the cancelled job has a profile"
is "$(in_flight scope-profile-*.h5 | sed 's/waitall for .* for/waitall for/')" \
    "$(printf '%s for TIME\n' "mpi:recv from 2 (tag 7)" mpi:waitall "" "mpi:barrier on comm 0" |
        sed 's/^ for TIME$//')" "which says the same of each rank"
run sp-dump --live
like "$out" "  4 ranks \(0-3\) killed by signal 15 \(SIGTERM\), job cancelled, $time( to $time)? ago" \
    "--live knows that they have ended"
like "$out" "     0  node1  killed by [^"$'\n'"]* ago, in mpi:recv from 2 \(tag 7\) for $time"$'\n' \
    "and where they were"
run sp-merge -v -f scope-profile-*.0
like "$err" "rank 0: in mpi:recv from 2 \(tag 7\) for $time when it was killed by signal 15 " \
    "sp-merge tells it, too"
like "$err" "where they were then: rank 0: mpi:recv from 2 \(tag 7\); rank 1: mpi:waitall[^;]*; rank 2: \
outside MPI; rank 3: mpi:barrier on comm 0"$'\n' "-v in one line"
rm -rf scope-profile-*

# --- a rank that polls, and a communicator of some -------------------------------------------------
start mpich polls
like "$look" "  rank 0 calling mpi:test for irecv from 2 \(tag 7\) again and again for $time"$'\n' \
    "who spins in MPI_Test waits as well"
like "$look" "again and again for $time \([0-9]+ times\)"$'\n' "and how often it asked"
like "$look" "  rank 1 in mpi:recv from 0 \(tag 5\) on comm 3 \(world rank 3\) for $time"$'\n' \
    "a peer in another communicator is told as both"
like "$look" "comm 3: odd, world ranks 3, 1" "and which communicator that is"
like "$look" "  rank 3 in mpi:barrier on comm 0 for $time" "the others as ever"
cancel
is "$(in_flight scope-profile-*.h5)" "mpi:test for irecv from 2 (tag 7) again and again for TIME
mpi:recv from 0 (tag 5) on comm 3 (world rank 3) for TIME

mpi:barrier on comm 0 for TIME" "the profile says the same"
is "$(python 'import h5py
with h5py.File(sys.argv[1]) as file:
    ranks, ids = file["scope_profile/ranks"], file["scope_profile/communicators/id"]
    print([int(id) for id in sorted(ids)], {int(status) for status in ranks["end_status"]})' \
    scope-profile-*.h5)" "[0, 1, 2, 3] {15}" "and how they ended"

# --- nothing to look at ----------------------------------------------------------------------------
rm -rf scope-profile-*
run sp-dump --live
is "$status" 2 "no run: status 2"
like "$err" "^sp-dump: no trace in \." "and a message"
