#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What ranks were in when they ended, and sp-dump --live, on made-up traces.
# shellcheck disable=SC2016 # bash -c expands its own arguments
# shellcheck source-path=SCRIPTDIR source=made_up.sh
. "${top_srcdir:-.}/tests/unit/made_up.sh"

said() { grep -qxF -e "$1" "$work/.stderr"; }
printed() { grep -qxE -e "$1" "$work/.stdout"; }
printed_lines() { [ "$(wc -l <"$work/.stdout")" = "$1" ]; }

# --- the merge -----------------------------------------------------------------------------------
"$bin/make_traces" run stuck
ok 'ranks that were ended in MPI: status 1' exits 1 "$bin/sp-merge" -v run
ok 'a call: with whom, and how long' said 'sp-merge: rank 0: in mpi:recv from 2 (tag 7) for 31.2 s when it was killed by signal 9 (SIGKILL), cause unknown, 32.2 s after the start'
ok 'two threads' said 'sp-merge: rank 1: in mpi:wait for irecv from any (any tag) for 31.2 s on thread 0, mpi:send to 3 (tag 5) on comm 2 (world rank 3) for 2.2 s on thread 1 when it was killed by signal 15 (SIGTERM), cause unknown, 32.2 s after the start'
ok 'a rank outside MPI' said 'sp-merge: rank 2: outside MPI for 2.5 s when it ended with exit status 3 without MPI_Finalize, 3.0 s after the start'
ok 'one whose end nobody saw' said 'sp-merge: rank 3: trace ends at 2.000 s without MPI_Finalize, rank was in mpi:allreduce on comm 2, no exit record; other ranks go on for 38.0 s'
ok 'one that polled' said 'sp-merge: rank 4: in mpi:test for irecv from 2 (tag 7) again and again for 30.0 s when it was killed by signal 9 (SIGKILL), cause unknown, 40.0 s after the start'
ok '-v puts all of them into one line' said 'sp-merge: where they were then: rank 0: mpi:recv from 2 (tag 7); rank 1: mpi:wait for irecv from any (any tag) on thread 0, mpi:send to 3 (tag 5) on comm 2 (world rank 3) on thread 1; rank 2: outside MPI; rank 3: mpi:allreduce on comm 2; rank 4: mpi:test for irecv from 2 (tag 7) again and again'
rm run/exit-node0
ok 'without exit records: status 1' exits 1 "$bin/sp-merge" -f run
ok 'a call took at least as long as its rank is known to live' said 'sp-merge: rank 4: trace ends at 40.000 s without MPI_Finalize, rank was in mpi:test for irecv from 2 (tag 7) again and again for at least 30.0 s, no exit record'
ok 'or an unknown time' said 'sp-merge: rank 0: trace ends at 1.000 s without MPI_Finalize, rank was in mpi:recv from 2 (tag 7), no exit record; other ranks go on for 39.0 s'
"$bin/make_traces" complete plain
ok 'a complete run: status 0' exits 0 "$bin/sp-merge" -v complete
ok 'has nothing of it' bash -c '! grep -q "where they were" .stderr'

# --- looking -------------------------------------------------------------------------------------
# a made-up job is years old
days='[0-9]+ d [0-9]+ h'
killed="killed by signal 15 \(SIGTERM\), cause unknown"
tar -cf before.tar run
ok '--live: status 0' exits 0 "$bin/sp-dump" --live run
ok 'tells how many ranks' printed 'run: 5 ranks on 2 hosts at [0-9:]{8}'
ok 'who waits for whom' printed "  rank 3 in mpi:allreduce on comm 2 for $days; not in it: 4 ranks \(0-2, 4\)"
ok 'who is outside' printed "     2  node0  outside MPI for $days, after mpi:allreduce on comm 2"
ok 'who has ended' printed "     1  node1  $killed, $days ago, in mpi:wait for irecv from any \(any tag\) for 31.2 s"
ok 'and which communicator that is' printed 'comm 2: world ranks 0-4'
ok 'and leaves the run as it is' bash -c 'tar -cf after.tar run && cmp before.tar after.tar'
ok 'a world directory will do' exits 0 "$bin/sp-dump" --live run/made-up.0
ok 'with the same ranks' printed '[^ ]*/run: 5 ranks on 2 hosts at [0-9:]{8}'
ok '-n limits the lines' bash -c '[ "$("$0" --live -n 1 run | grep -c "  node[01]  ")" = 1 ]' "$bin/sp-dump"
mkdir parent && cp -a complete parent/scope-profile-1.0 && cp -a run parent/scope-profile-2.0
touch -d @1 parent/scope-profile-1.0
ok 'of several runs the newest is taken' exits 0 bash -c 'cd parent && exec "$0" --live' "$bin/sp-dump"
ok 'and named' printed './scope-profile-2.0: 5 ranks .*'
ok 'a run that has ended' exits 0 "$bin/sp-dump" --live complete
ok 'is told as that' printed "  4 ranks \(0-3\) through MPI_Finalize, $days ago"
ok '--watch comes to an end then' exits 0 "$bin/sp-dump" --watch complete
"$bin/make_traces" two worlds
ok 'worlds that have ended: the last one' exits 0 "$bin/sp-dump" --live two
ok 'alone' bash -c '[ "$(grep -c " ranks* on " .stdout)" = 1 ]'
ok '--json' exits 0 "$bin/sp-dump" --live --json run
ok 'is JSON' python3 -c '
import json
world, = json.load(open(".stdout"))["worlds"]
assert world["world_size"] == 5 and world["job"] == "17.0" and world["hosts"] == 2
assert [rank["threads"][0]["state"] for rank in world["ranks"]] == [
    "call", "dead", "outside", "call", "outside"], world
call = world["ranks"][0]["threads"][0]["call"]
assert call["operation"] == "recv" and call["peer"] == call["world_peer"] == 2 and call["tag"] == 7
assert world["ranks"][1]["threads"][0]["call_ns"] == 31200000000
assert world["groups"][0]["ranks"] == [0] and world["groups"][1]["not_in_it"] == [0, 1, 2, 4]'
ok '--json -n' exits 0 "$bin/sp-dump" --live --json -n 2 run
ok 'has as many ranks, and all groups' python3 -c '
import json
world, = json.load(open(".stdout"))["worlds"]
assert [rank["rank"] for rank in world["ranks"]] == [0, 1], world
assert len(world["groups"]) > 2 and world["world_size"] == 5, world'

# --- what is not as it should be -----------------------------------------------------------------
echo nothing >run/made-up.0/rank-000001.sptrace
ok 'a rank that cannot be read: status 1' exits 1 "$bin/sp-dump" --live run
ok 'is named' printed '     1 +without a trace that can be read: rank-000001.sptrace: not a rank trace'
rm run/made-up.0/rank-000001.sptrace
ok 'a rank without a trace' exits 0 "$bin/sp-dump" --live run
ok 'is told' printed '  rank 1 without a trace here: not through MPI_Init yet, or not recorded'
ok 'a directory without a run: status 2' exits 2 "$bin/sp-dump" --live .
ok 'is named' \
    said 'sp-dump: no trace in .: name the directory where the job was started, or that of its out='
ok 'no directory: status 2' exits 2 "$bin/sp-dump" --live nowhere
ok 'is named' said 'sp-dump: cannot open the run directory nowhere: No such file or directory'
ok 'two directories: status 64' exits 64 "$bin/sp-dump" --live run complete
ok '--json without --live: status 64' exits 64 "$bin/sp-dump" --json run
ok '--header with --live: status 64' exits 64 "$bin/sp-dump" --header --live run
ok 'no seconds: status 64' exits 64 "$bin/sp-dump" --watch=often run
ok 'a full disk is told' exits 3 bash -c '"$0" --live run >/dev/full' "$bin/sp-dump"
ok 'a closed pipe ends --watch' exits 0 bash -c '
    "$0" --watch=1 run 2>noise | head -n 1 && [ ! -s noise ]' "$bin/sp-dump"

done_testing
