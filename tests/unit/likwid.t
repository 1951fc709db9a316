#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Records and marker files of LIKWID beside made-up traces, in the profile file.
# shellcheck disable=SC2016 # bash -c expands its own arguments
# shellcheck source-path=SCRIPTDIR source=made_up.sh
. "${top_srcdir:-.}/tests/unit/made_up.sh"

said() { grep -qE -e "$1" "$work/.stderr"; }
# is FILE PYTHON: an expression about f, the file, and rank(N), its group
is() {
    /usr/bin/python3 -c '
import sys
import h5py
f = h5py.File(sys.argv[1])
def rank(n):
    return f[f"rank{n}/likwid"]
def region(n, name):
    return rank(n)["regions"][name]
assert eval("(" + sys.argv[2] + ")"), sys.argv[2]' "$1" "$2"
}

# record WORLD RANK LINE...: what such a rank's counters are
record() {
    { echo 'scope-profile-likwid 1' && printf '%s\n' "${@:3}"; } >"$1/rank-00000$2.likwid"
}
clock=(group=CLOCK 'event=FIXC1 ACTUAL_CPU_CLOCK' 'event=FIXC2 MAX_CPU_CLOCK'
    'event=PMC0 RETIRED_INSTRUCTIONS' 'event=PMC1 SAME' 'event=PWR1 SAME')

"$bin/make_traces" run plain
world=run/made-up.0
ok 'a run without counters: status 0' exits 0 "$bin/sp-merge" run
ok 'has no group of them' is run.h5 'all("likwid" not in f.get(f"rank{n}", {}) for n in range(4))'

record $world 0 library=/lib/liblikwid.so.5.2 clock=2000000000 'constant=num_sockets 2' \
    "${clock[@]}" metric=CPI formula=PMC1/PMC0 'metric=Clock [MHz]' \
    'formula=1.E-06*(FIXC1/FIXC2)/inverseClock' metric=None metric=Unknown formula=PMC7 \
    metric=Sockets 'formula=num_sockets*(PMC0-PMC0+1)' end=1 \
    LIKWID_EVENTS=CLOCK LIKWID_THREADS=0
cp "$source/tests/likwid/markers/one-cpu" $world/rank-000000.markers
record $world 1 "${clock[@]}" group=MEM 'event=DFC0 CHANNEL' end=1
printf '%s\n' '2 4 2' 0:solve-0 1:solve-1 2:x/y-0 3:x\|y-0 '0 0 2 1 1.5 5 1 2 3 4 5 ' \
    '0 0 3 2 2.5 5 6 7 8 9 nan ' '1 1 2 1 1.0 1 7 ' '2 0 2 1 1 5 1 1 1 1 1 ' \
    '3 0 2 1 1 5 2 2 2 2 2 ' >$world/rank-000001.markers
record $world 2 'reason=the counters are locked'
record $world 3 "${clock[@]}" end=1
ok 'counters: status 0' exits 0 "$bin/sp-merge" -f run
ok 'ranks without any are named' said \
    'are missing: rank 2: the counters are locked; rank 3: the rank wrote none: its program'
ok 'a region of one thread' is run.h5 'region(0, "solve")["events"][:].tolist() == [
    [6e6], [3e6], [1.2e6], [1.8e6], [24]] and region(0, "solve")["call_counts"][:].tolist() == [3]
    and region(0, "solve")["cpus"][:].tolist() == [0]'
ok 'names as LIKWID has them' is run.h5 'list(region(0, "solve").attrs["event_names"]) == [
    "ACTUAL_CPU_CLOCK", "MAX_CPU_CLOCK", "RETIRED_INSTRUCTIONS", "SAME", "SAME"]
    and list(region(0, "solve").attrs["counter_names"]) == [
    "FIXC1", "FIXC2", "PMC0", "PMC1", "PWR1"]
    and region(0, "solve").attrs["group_name"] == "CLOCK"
    and region(0, "solve").attrs["source"] == "marker_file"'
ok 'metrics by the formulas of the record' is run.h5 'region(0, "solve")["metrics"][
    [0, 1, 4]].round(6).tolist() == [[1.5], [4000], [2]]
    and list(region(0, "solve").attrs["metric_names"]) == [
    "CPI", "Clock [MHz]", "None", "Unknown", "Sockets"]'
ok 'what cannot be told is no number' is run.h5 'all(region(0, "solve")["metrics"][i] !=
    region(0, "solve")["metrics"][i] for i in (2, 3))'
ok 'without formulas no metrics, but the dataset' is run.h5 'region(1, "x/y".replace(
    "/", "|"))["metrics"].shape == (0, 1)
    and region(1, "solve (MEM)").attrs["metric_names"].shape == (0,)'
ok 'a slash in a tag' is run.h5 'region(0, "a|b-c").attrs["tag"] == "a/b-c"'
ok 'variables and what was counted with' is run.h5 'rank(0).attrs["LIKWID_EVENTS"] == "CLOCK"
    and rank(0).attrs["LIKWID_THREADS"] == "0" and rank(0).attrs["num_regions"] == 2
    and rank(0).attrs["scope_profile_clock_hz"] == "2000000000"'
ok 'threads are columns' is run.h5 'region(1, "solve (CLOCK)")["events"][:, 0].tolist() == [
    1, 2, 3, 4, 5] and region(1, "solve (CLOCK)")["cpus"][:].tolist() == [2, 3]
    and region(1, "solve (CLOCK)")["events"][4, 1] != region(1, "solve (CLOCK)")["events"][4, 1]'
ok 'a region in two event sets' is run.h5 'region(1, "solve (MEM)")["events"][:].tolist() == [[7]]
    and region(1, "solve (MEM)").attrs["group_id"] == 1'
ok 'tags that HDF5 cannot tell apart' is run.h5 'sorted(
    r.attrs["tag"] for r in rank(1)["regions"].values() if r["events"].shape[0] == 5) == [
    "solve (CLOCK)", "x/y", "x|y"]'
ok 'the reason of a rank that was not counted' is run.h5 'rank(2).attrs["num_regions"] == 0
    and rank(2).attrs["scope_profile_reason"] == "the counters are locked"'

ok 'sp-dump: status 0' exits 0 "$bin/sp-dump" $world/rank-000000.sptrace
printed() { tail -n "$1" "$work/.stdout" | cmp - "$work/expected"; }
cat >expected <<'END'
hardware counters LIKWID_EVENTS=CLOCK LIKWID_THREADS=0
  CPU 0, 3 calls, 0.000001312 s in solve
                     6000000 ACTUAL_CPU_CLOCK FIXC1
                     3000000 MAX_CPU_CLOCK FIXC2
                     1200000 RETIRED_INSTRUCTIONS PMC0
                     1800000 SAME PMC1
                          24 SAME PWR1
  CPU 0, 1 call, 0.000000130 s in a/b-c
                     2000000 ACTUAL_CPU_CLOCK FIXC1
                     1000000 MAX_CPU_CLOCK FIXC2
                      400000 RETIRED_INSTRUCTIONS PMC0
                      600000 SAME PMC1
                           8 SAME PWR1
END
ok 'prints the counters' printed 13
ok 'or why there are none' exits 0 "$bin/sp-dump" $world/rank-000002.sptrace
echo 'hardware counters: the counters are locked' >expected
ok 'in a line' printed 1

head -c 150 "$source/tests/likwid/markers/one-cpu" >$world/rank-000000.markers
echo 'no record' >$world/rank-000001.likwid
ok 'a cut marker file and a bad record: status 0' exits 0 "$bin/sp-merge" -f run
ok 'are told' said 'rank 0: rank-000000.markers: line 5 is cut off; rank 1: is no record'
ok 'what is whole is there' is run.h5 'list(rank(0)["regions"]) == ["solve"]'
ok 'without a record names are numbers' is run.h5 'list(
    region(1, "solve ()").attrs["event_names"])[:2] in (["event_0", "event_1"], ["event_0"])
    and region(1, "x|y").attrs["counter_names"].shape == (0,)'
ok 'removed with the traces' exits 0 "$bin/sp-merge" -f --remove run
ok 'nothing of it is left' test ! -e run
done_testing
