#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Merged files in the hands of the real reader: the Python package scope-profiler.
set -uo pipefail

case ${1-} in
--help)
    echo "usage: reader_python.t    (SP_PYTHON: a Python that has scope_profiler, default python3)"
    exit 0
    ;;
esac

python=${SP_PYTHON:-python3}
bin=$(cd "${top_builddir:-.}" && pwd)
check=$(cd "${top_srcdir:-.}/tests/unit" && pwd)/check_profile.py
"$python" -c 'import scope_profiler' 2>/dev/null || {
    echo "1..0 # SKIP $python has no scope_profiler: set SP_PYTHON"
    exit 0
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

count=0
failed=0

# ok NAME COMMAND...: one test.
ok() {
    local name=$1
    shift
    count=$((count + 1))
    if "$@" >"$work/.out" 2>&1; then
        echo "ok $count - $name"
    else
        failed=$((failed + 1))
        echo "not ok $count - $name"
        sed 's/^/# /' "$work/.out"
    fi
}

for kind in plain threads cut; do
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
for kind in plain threads cut large; do
    ok "scope-profiler inspect $kind" "$python" -m scope_profiler inspect "$kind.h5"
done

echo "1..$count"
[ "$failed" = 0 ]
