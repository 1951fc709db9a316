#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Merged files in the hands of the real reader: the Python package scope-profiler.
# shellcheck source-path=SCRIPTDIR source=made_up.sh
. "${top_srcdir:-.}/tests/unit/made_up.sh"
python=${SP_PYTHON:-python3} check=$source/tests/unit/check_profile.py
"$python" -c 'import scope_profiler' 2>/dev/null || {
    echo "1..0 # SKIP $python has no scope_profiler: set SP_PYTHON"
    exit 0
}

for kind in plain threads cut polls full stuck; do
    "$bin/make_traces" "$kind" "$kind" && "$bin/sp-merge" "$kind" 2>/dev/null
done
"$bin/make_traces" large large 300000 && "$bin/sp-merge" large 2>/dev/null

# Four ranks, each: three irecv of 50 ns, three sends of 60 ns + its number, three waits of 200 ns,
# a dup of 100 ns around two reduces (10, 30 ns), a reduce of 100 ns around one of 10 ns.
all=kind=collective\ bytes=8\ peer=-1\ root=-1\ tag=-1\ comm=2
ok 'both readers agree, and with what was recorded' "$python" "$check" plain.h5 4 \
    "scope_profiler.session=4:27966:23428" \
    "mpi:irecv kind=point-to-point bytes=64 peer=-1 root=-1 tag=-1 comm=0=12:600:600" \
    "mpi:send kind=point-to-point bytes=64 peer=0 root=-1 tag=7 comm=0=3:189:189" \
    "mpi:wait kind=wait bytes=64 peer=-1 root=-1 tag=-1 comm=0 request=irecv=12:2400:2400" \
    "mpi:comm_dup kind=communicator bytes=-1 peer=-1 root=-1 tag=-1 comm=0=4:400:240" \
    "mpi:allreduce $all=16:600:560"
ok 'threads have lanes of their own' "$python" "$check" threads.h5 4 \
    "mpi:send kind=point-to-point bytes=64 peer=1 root=-1 tag=7 comm=0=4:5430:5430"
ok 'a world with a cut-off and a missing rank' "$python" "$check" cut.h5 4 \
    "scope_profiler.session=3"
ok 'many calls through small buffers' "$python" "$check" large.h5 1
ok 'clocks of hosts 1000 s apart are one timeline' "$python" -c '
import scope_profiler
profile = scope_profiler.read_h5("plain.h5")
starts = {int(region.start_times_ns[0]) for region in profile["scope_profiler.session"].regions.values()}
assert starts == {10}, starts
assert profile.total_time == 7003e-9, profile.total_time'
ok 'the state of every rank is in the file' "$python" -c '
import h5py
ranks = h5py.File("cut.h5")["scope_profile/ranks"]
assert [state.decode() for state in ranks["state"]] == [
    "complete", "complete", "cut off", "missing"], list(ranks["state"])
assert ranks["events"][()].tolist() == [14, 14, 14, 0]'
ok 'the file tells in which calls ranks were' "$python" -c '
import h5py
assert h5py.File("stuck.h5")["scope_profile/ranks/in_flight"].asstr()[:].tolist() == [
    "mpi:recv from 2 (tag 7) for 31.2 s",
    "mpi:wait for irecv from any (any tag) for 31.2 s on thread 0, "
    "mpi:send to 3 (tag 5) on comm 2 (world rank 3) for 2.2 s on thread 1",
    "", "mpi:allreduce on comm 2",
    "mpi:test for irecv from 2 (tag 7) again and again for 30.0 s"]
assert set(h5py.File("plain.h5")["scope_profile/ranks/in_flight"].asstr()[:]) == {""}'
ok 'tags repeat the label' "$python" -c '
import scope_profiler
from scope_profiler.mpi_wrappers import parse_mpi_region
profile = scope_profiler.read_h5("plain.h5")
for name in profile.region_names:
    tags = dict(tag.split(":", 1) for tag in profile[name].tags if ":" in tag)
    parsed = parse_mpi_region(name)
    assert (parsed is None) == name.startswith("scope_profiler."), name
    if parsed is not None:
        assert tags["mpi.operation"] == parsed.operation, (name, tags)
        assert int(tags["mpi.communicator"]) == int(name.split("comm=")[1].split()[0]), (name, tags)'

# Each rank besides: 100 polls of one request from 6200 to 6499, 30 of three things in turn from 6520
# to 6579, two polls on their own of which one fails, a test that succeeds, three sends that fail.
# The second thread of rank 0 polls five times from 300 to 710.
test=mpi:test\ kind=poll\ bytes=64\ peer=-1\ root=-1\ tag=-1\ comm=0\ request=irecv
probe=mpi:iprobe\ kind=poll\ bytes=-1\ peer=-1\ root=-1\ tag=5\ comm=0
mixed=mpi:poll\ kind=poll\ bytes=-1\ peer=-1\ root=-1\ tag=-1\ comm=0\ request=mixed
ok 'a run of polls is one event' "$python" "$check" polls.h5 4 \
    "$test=5:1606:1606" "$mixed=4:236:236" "$probe=8:60:60" \
    "${test/poll/wait}=4:20:20"
# table NAME COLUMNS ROWS: these columns of /scope_profile/NAME hold these rows, in Python
table() {
    "$python" -c '
import h5py, sys
table = h5py.File("polls.h5")["scope_profile"][sys.argv[1]]
columns = [[value.decode() if isinstance(value, bytes) else int(value) for value in table[name]]
           for name in sys.argv[2].split()]
got, expected = list(zip(*columns)), eval(f"({sys.argv[3]})")
assert got == expected, got' "$@"
}
ok 'each poll is counted under its own label' table polls 'ranks regions counts busy_ns' "
    [(0, '$test', 115, 260), (0, '${test/64/32}', 10, 10), (0, '$probe', 12, 25)]
    + [(rank, *row) for rank in (1, 2, 3)
       for row in (('$test', 110, 210), ('${test/64/32}', 10, 10), ('$probe', 12, 25))]"
refused=mpi:send\ kind=point-to-point\ bytes=64\ peer=4\ root=-1\ tag=99\ comm=0
ok 'failed calls are counted by error class' table failed 'ranks regions error_classes counts' "
    [(rank, *row) for rank in range(4)
     for row in (('$probe', 5, 1), ('$refused', 4, 1), ('$refused', 6, 2))]"
ok 'a pause that does not end lasts to the end of the session' \
    table pauses 'ranks start_ns duration_ns' '[(0, 6650, 10), (1, 6650, 10), (1, 6900, 101)]'
ok 'communicators have names and groups' \
    table communicators 'id kind parent name size members remote_size remote_members' "
    [(0, 'intra', -1, 'MPI_COMM_WORLD', 4, '0-3', 0, ''), (1, 'intra', -1, 'MPI_COMM_SELF', 1, '', 0, ''),
     (2, 'intra', 0, 'hälo', 4, '0-3', 0, ''), (3, 'inter', 0, '', 2, '0-1', 2, '2-3')]"
ok 'every rank has a handle of each' table communicator_handles 'id rank local_id local_rank handle' '
    [(id, rank, id, (rank, 0, rank, rank % 2)[id], 100 + id) for rank in range(4) for id in range(4)]'
ok 'what did not happen has no table' "$python" -c '
import h5py
plain, polls = (h5py.File(name) for name in ("plain.h5", "polls.h5"))
assert set(polls["scope_profile"]) - set(plain["scope_profile"]) == {"polls", "failed", "pauses"}
assert "scope_profile_paused_ns" not in plain["metadata"].attrs
assert polls["metadata"].attrs["scope_profile_paused_ns"] == 121'

# Each rank of "full" counts, without events, two sends as it recorded them, one that it did not, ...
ok 'the events of full traces are as ever' "$python" "$check" full.h5 4 \
    "scope_profiler.session=4:27966:23428" "mpi:allreduce $all=16:600:560"
ok 'calls without an event are counted by label; comm= is -1 where the trace lacks its definition' \
    "$python" -c '
import h5py
table = h5py.File("full.h5")["scope_profile/unrecorded"]
rows = sorted(zip(table["ranks"][:].tolist(), table["regions"].asstr()[:],
                  table["counts"][:].tolist(), table["total_ns"][:].tolist()))
expected = sorted((rank, f"mpi:{name} root=-1 {rest}".format((rank + 1) % 4), calls, ns)
    for rank in range(4) for name, rest, calls, ns in (
        ("send kind=point-to-point bytes=64 peer={}", "tag=7 comm=0", 2, 200),
        ("send kind=point-to-point bytes=32 peer={}", "tag=7 comm=0", 1, 0),
        ("wait kind=wait bytes=64 peer=-1", "tag=-1 comm=0 request=irecv", 1, 50),
        ("wait kind=wait bytes=-1 peer=-1", "tag=-1 comm=-1 request=mixed", 1, 5),
        ("allreduce kind=collective bytes=8 peer=-1", "tag=-1 comm=2", 3, 30),
        ("comm_dup kind=communicator bytes=-1 peer=-1", "tag=-1 comm=-1", 1, 7),
        ("test kind=poll bytes=64 peer=-1", "tag=-1 comm=0 request=irecv", 3, 3),
        ("finalize kind=other bytes=-1 peer=-1", "tag=-1 comm=-1", 1, 20)))
assert rows == expected, rows
assert h5py.File("full.h5")["scope_profile/ranks/dropped"][:].tolist() == [13, 13, 13, 15]'
for kind in plain threads cut large polls full; do
    ok "scope-profiler inspect $kind" "$python" -m scope_profiler inspect "$kind.h5"
done

done_testing
