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

# --- several ranks on a socket -------------------------------------------------------------------

"$bin/make_traces" run plain
energy=(group=ENERGY 'event=PMC0 INSTRUCTIONS' 'event=PWR0 RAPL_CORE_ENERGY'
    'event=PWR1 RAPL_PKG_ENERGY' metric=Instructions formula=PMC0/time 'metric=Power [W]'
    formula=PWR1/time 'metric=Instructions per J' formula=PMC0/PWR1 'metric=Core [J]' formula=PWR0
    metric=Unknown)
# Ranks 0 and 2 are on one host of made-up runs, 1 and 3 on another.
record $world 0 'socket=0 0' 'socket=1 0' "${energy[@]}" end=1
record $world 2 'socket=2 0' 'socket=3 1' "${energy[@]}" end=1
record $world 1 'socket=0 0' 'socket=1 0' "${energy[@]}" end=1
record $world 3 "${energy[@]}" end=1
printf '%s\n' '2 1 1' 0:solve-0 '0 0 0 1 2.0 3 10 3 8 ' '0 0 1 1 2.0 3 20 4 0 ' \
    >$world/rank-000000.markers
printf '%s\n' '2 2 1' 0:solve-0 1:other-0 '0 0 2 1 4.0 3 30 5 16 ' '0 0 3 1 4.0 3 40 6 24 ' \
    '1 0 2 1 4.0 3 50 7 32 ' >$world/rank-000002.markers
printf '%s\n' '2 1 1' 0:solve-0 '0 0 0 1 1.0 3 1 1 40 ' '0 0 1 1 1.0 3 1 1 41 ' \
    >$world/rank-000001.markers
printf '%s\n' '1 1 1' 0:solve-0 '0 0 0 1 1.0 3 1 1 48 ' >$world/rank-000003.markers
ok 'ranks on one socket: status 0' exits 0 "$bin/sp-merge" -f run
ok 'the first of them tells of the socket' is run.h5 '
    region(0, "solve")["events"][2].tolist() == [8, 0]
    and region(2, "solve")["events"][2].tolist() == [0, 24]
    and region(2, "other")["events"][2].tolist() == [32]'
ok 'and each of its own' is run.h5 'region(2, "solve")["events"][:2].tolist() == [[30, 40], [5, 6]]'
ok 'sockets of other hosts are others; each is told once in a rank' is run.h5 '
    region(1, "solve")["events"][2].tolist() == [40, 0]'
ok 'without sockets in its record, a rank has what it counted' is run.h5 '
    region(3, "solve")["events"][2].tolist() == [48]'
ok 'metrics follow' is run.h5 'region(2, "solve")["metrics"][:4].tolist() == [
    [7.5, 10], [0, 6], [30 / 16, 40 / 24], [5, 6]]'
ok 'threads that count not for their socket have what the one has that does' is run.h5 '
    region(0, "solve")["metrics"][2].tolist() == [10 / 8, 20 / 8]'
ok 'who counts is told' is run.h5 'list(
    region(2, "solve").attrs["scope_profile_counted_elsewhere"]) == [
    "CPU 2: socket 0 is counted in rank 0, on CPU 0"]
    and list(region(1, "solve").attrs["scope_profile_counted_elsewhere"]) == [
    "CPU 1: socket 0 is counted in rank 1, on CPU 0"]
    and "scope_profile_counted_elsewhere" not in region(0, "solve").attrs
    and rank(2).attrs["scope_profile_sockets"] == "2:0,3:1"'

# --- what LIKWID computes itself -----------------------------------------------------------------

# A program that answers as sp-likwid-read: a metric is 1000 times the region, and the thread.
mkdir bin
cp "$bin/sp-merge" bin
cat >bin/sp-likwid-read <<'END'
#!/bin/bash
printf '%s|' "$1" "$2" "$3" >>asked
how=$(<how)
case $how in
crash) kill -SEGV $$ ;;
hang) exec sleep 1000 ;;
end) echo 'no daemon' >&2 && exit 3 ;;
refuse) printf '%s\n' 'scope-profile-likwid 1' 'reason=the counters are locked' end=1 && exit 1 ;;
long) while :; do printf '%s\n' 0123456789; done ;;
esac
type=$1
[[ $how != type ]] || type=6/85/7
printf '%s\n' 'scope-profile-likwid 1' "type=$type" clock=2100000000 group=G 'event=PMC0 A' \
    'event=PWR1 RAPL_PKG_ENERGY' metric=One "metric=$([[ $how != names ]] && echo Two)" end=1
[[ $how != cut ]] || exit 0
awk -v how="$how" '/:/ { next } NF > 6 { thread = count[$1]++
    print $1, thread, $7 + (how == "value"), $8, 1000 * $1 + thread,
        (how == "word" ? "x" : "-1e-300") }' "$4"
[[ $how == whole ]] || echo whole=1
END
chmod +x bin/sp-likwid-read
model=$(sed -n '/^model name/ { s/^[^:]*: //p; q }' /proc/cpuinfo)
socket=$(cat /sys/devices/system/cpu/cpu0/topology/physical_package_id)
# measured RANK CPU EVENTS LINE...: the record of a rank that was measured on this host
measured() {
    record $world "$1" ${model:+"processor=$model"} type=23/49/0 clock=2000000000 \
        "socket=$2 $socket" group=G 'event=PMC0 A' 'event=PWR1 RAPL_PKG_ENERGY' metric=One \
        formula=PMC0 metric=Two formula=PMC0/time end=1 "LIKWID_EVENTS=$3" "LIKWID_THREADS=$2" \
        "${@:4}"
}
for i in 0 1 2; do
    measured $i 0 G
    printf '%s\n' "1 2 1" 0:a-0 1:b/c-0 "0 0 0 3 2.0 2 $i.5 7 " '1 0 0 1 1.0 2 nan 0 ' \
        >$world/rank-00000$i.markers
done
measured 3 0 H
printf '%s\n' '1 1 1' 0:a-0 '0 0 0 1 2.0 2 8 0 ' >$world/rank-000003.markers

# Steps of whoever tests here are none of this test's business.
alone=(unshare --pid --fork --mount-proc)
"${alone[@]}" true 2>/dev/null || alone=()
# asked HOW OPTION...: the program behaves like that; nothing is computed but by formulas
asked() {
    echo "$1" >how
    rm -f asked
    "${alone[@]}" bin/sp-merge -f "${@:2}" run
}
ok 'where LIKWID can be asked: status 0' exits 0 asked well
ok 'alike ranks are one question' test "$(<asked)" = '23/49/0|G|0|23/49/0|H|0|'
ok 'its metrics are in the file' is run.h5 '[region(n, name)["metrics"][:].tolist()
    for n in range(4) for name in sorted(rank(n)["regions"])] == [[[1000 * i], [-1e-300]]
    for i in (0, 1, 2, 3, 4, 5, 0)]'
ok 'and that they are' is run.h5 'all(r.attrs["source"] == "full_api" for n in range(4)
    for r in rank(n)["regions"].values()) and not any("scope_profile_not_read_back"
    in rank(n).attrs for n in range(4))'
ok 'a socket is counted once all the same' is run.h5 '[region(n, "a")["events"][:, 0].tolist()
    for n in range(3)] == [[0.5, 7], [1.5, 7], [2.5, 0]]'

# by_formulas HOW WHY: two tests
by_formulas() {
    ok "$1: is told" fails_with "$1" "$2"
    ok "$1: the marker file is read, and by formulas" is run.h5 'all(
        r.attrs["source"] == "marker_file" for n in range(4) for r in rank(n)["regions"].values())
        and [region(n, "a")["metrics"][:, 0].tolist() for n in (1, 3)] == [[1.5, 0.75], [8, 4]]
        and "'"${2%% (*}"'" in rank(0).attrs["scope_profile_not_read_back"]'
}
fails_with() {
    exits 0 asked "$1" --likwid-read=2 &&
        said "LIKWID did not compute its metrics, they are by the formulas .*: $2"
}
by_formulas crash 'it crashed with signal 11'
by_formulas hang 'it did not come back within 2 s'
by_formulas value 'line 1 of the numbers it answers is not as it has to be'
while read -r how why; do
    ok "$how: is told" fails_with "$how" "$why"
done <<'END'
end it ended with exit status 3 \(no daemon\)
refuse the counters are locked
long its answer is too long
type what was computed is for processors of type 6/85/7, the ranks' is 23/49/0
names LIKWID has other names here
cut line 1 of the numbers
whole line 7 of the numbers
word line 1 of the numbers
END
ok 'once it failed it is not asked again' test "$(<asked)" = '23/49/0|G|0|'

# unasked NAME WHY COMMAND...: one test
unasked() {
    ok "$1: it is not asked" leaves_it "$@"
}
leaves_it() {
    exits 0 "${@:3}" && test ! -e asked && is run.h5 '
        rank(0)["regions"]["a"].attrs["source"] == "marker_file"
        and "'"$2"'" in rank(0).attrs["scope_profile_not_read_back"]'
}
unasked 'not wanted' 'that was not wanted' asked well --likwid-read=0
beside_a_step() {
    echo well >how
    rm -f asked
    "${alone[@]}" bash -c '(exec -a "slurmstepd: [99.1]" sleep 1000) & sleep 0.2
        bin/sp-merge -f run; status=$?; kill $!; exit $status'
}
unasked 'a step runs here' 'step 99.1 runs on this host' beside_a_step
mv bin/sp-likwid-read bin/other
unasked 'no sp-likwid-read' 'sp-likwid-read is not installed here' asked well
mv bin/other bin/sp-likwid-read
sed -i 's/^processor=.*/processor=Other/; t; s/^type=/processor=Other\n&/' $world/*.likwid
unasked 'ranks of another processor' 'its processor is not this host' asked well
for i in 0 1 2 3; do measured $i 100000 G; done
sed -i 's/ 0 0 / 0 100000 /' $world/*.markers
unasked "CPUs that are not here" 'CPUs are on other sockets than those of this host' asked well
sed -i 's/ 0 100000 / 0 0 /' $world/*.markers
for i in 0 1 2 3; do measured $i 0 G 'constant=num_sockets 77'; done
unasked 'another kind of host' 'its host has other sockets' asked well
if ((EUID == 0)); then
    for i in 0 1 2 3; do measured $i 0 G; done
    chown 65534 run
    unasked "another user's run" "the run is another user" asked well
fi
done_testing
