#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sp-report answers without Python what the Python package answers.
. "$(dirname "$0")/scenario.sh"
plan 27
fresh_directory
build_conformance openmpi
in_work srun -N2 -n4 --mpi=pmix --scope-profile=mpi-calls ./conformance collectives >/dev/null 2>&1
mv scope-profile-*.h5 run.h5

# The number of lines that tell of a rank.
rank_lines() {
    grep -v 'mpi:\|scope_profiler' "$results/out" | grep -c '^ *[0-3] .*%'
}

# --- text ----------------------------------------------------------------------------------------
run sp-report run.h5
is "$status: $err" "0: " "it prints, and nothing on stderr"
is "$(grep -c $'\x1b' "$results/out")" 0 "plain text in a pipe"
like "$out" "4[^"$'\n'"]* 2 nodes" "it tells ranks and nodes"
is "$(rank_lines)" 4 "a line per rank"
is "$(grep -c 'mpi:.* comm=' "$results/out")" \
    "$(python 'print(sum(n.startswith("mpi:") for n in
        scope_profiler.read_h5_summary(sys.argv[1]).region_names))' run.h5)" "a row per region"
passes "the one with the most time first, each named in full" python '
import re
results = scope_profiler.read_h5(sys.argv[2])
shown = re.findall(r"(mpi:\w+ kind=.*|scope_profiler\.session)\n", open(sys.argv[1]).read())
assert sorted(shown) == sorted(results.region_names), set(results.region_names) - set(shown)
totals = [sum(int(results[n][k].durations_ns.sum()) for k in results[n].ranks) for n in shown]
assert totals == sorted(totals, reverse=True)' "$results/out" run.h5

# --- JSON ----------------------------------------------------------------------------------------
run sp-report --json run.h5
is "$status" 0 "--json prints"
passes "--json agrees with the package: calls, ranks, total, mean, min, max of each region" python '
report = json.load(open(sys.argv[1]))
results = scope_profiler.read_h5(sys.argv[2])
assert len(report["regions"]) == len(results.region_names)
for row in report["regions"]:
    region = results.get_region(row["name"])
    assert row["calls"] == region.num_calls, row
    assert row["ranks"] == len(region.ranks), row
    for key, seconds in (("total_ns", region.total_duration), ("mean_ns", region.average_duration),
                         ("min_ns", region.min_duration), ("max_ns", region.max_duration)):
        assert abs(row[key] - seconds * 1e9) <= 1e-6 * seconds * 1e9 + 1, (row, key, seconds)' \
    "$results/out" run.h5
passes "--json agrees with the package: calls and time of each rank in MPI" python '
report = json.load(open(sys.argv[1]))
results = scope_profiler.read_h5(sys.argv[2])
assert [row["rank"] for row in report["ranks"]] == [0, 1, 2, 3]
for row in report["ranks"]:
    mine = {r.name: r[row["rank"]] for r in results.get_regions()
            if row["rank"] in r.ranks and r.name.startswith("mpi:")}
    calls = sum(r.num_calls for r in mine.values())
    assert row["mpi_calls"] == calls, row
    session = results.get_region("scope_profiler.session")[row["rank"]]
    assert abs(row["session_ns"] - session.total_duration * 1e9) <= 1e-6 * row["session_ns"]
    inside = sum(r.total_duration for name, r in mine.items()
                 if name.split()[0] not in ("mpi:init", "mpi:finalize"))
    assert abs(row["mpi_ns"] - inside * 1e9) <= 1e-6 * row["mpi_ns"] + 1000, (row, inside)
    assert abs(row["mpi_share"] - inside / session.total_duration) < 1e-5, row' \
    "$results/out" run.h5
passes "--json agrees with the package: the number of ranks" python '
assert json.load(open(sys.argv[1]))["num_ranks"] == 4' "$results/out"

# --- ranks, top, width ---------------------------------------------------------------------------
run sp-report --json --ranks 0-1,3 run.h5
passes "--ranks: only these, in every number" python '
report = json.load(open(sys.argv[1]))
results = scope_profiler.read_h5(sys.argv[2])
assert [row["rank"] for row in report["ranks"]] == [0, 1, 3]
for row in report["regions"]:
    region = results.get_region(row["name"])
    assert row["calls"] == sum(region[k].num_calls for k in region.ranks if k != 2), row' \
    "$results/out" run.h5
run sp-report --ranks 2 run.h5
is "$(rank_lines)" 1 "--ranks 2: one rank's line"
for wrong in 3-1 x "" "0," -1; do
    run sp-report --ranks="$wrong" run.h5
    is "$status" 64 "--ranks=$wrong: status 64"
done
run sp-report --ranks=4 run.h5
passes "--ranks of a rank that is not there is refused" test "$status" -ne 0
run sp-report --top 3 run.h5
is "$(grep -c '^ *[0-9,]* .*\(mpi:\|scope_profiler\)' "$results/out")" 3 "--top 3: three rows"
run sp-report --top=none run.h5
is "$status" 64 "--top=none: status 64"
for width in 60 80; do
    in_work env COLUMNS=$width script --quiet --return --command \
        "stty cols $width; sp-report run.h5" /dev/null >"$results/out" </dev/null
    is "$(tr -d '\r' <"$results/out" | sed 's/\x1b\[[0-9;]*m//g' |
        grep -E -m1 "^.{$((width + 1)),}")" "" "it fits a terminal of $width columns"
done
run bash -c 'set -o pipefail; sp-report run.h5 | head -1'
is "$err" "" "a pipe to head makes no noise"

# --- what is no profile --------------------------------------------------------------------------
seq 1000 >text
run sp-report text
is "$status" 2 "a file that is no profile: status 2"
like "$err" "^sp-report: [^"$'\n'"]*text" "and a message that names it"
is "$(wc -l <"$results/err")" 1 "of one line"
head -c 20000 run.h5 >cut.h5
run sp-report cut.h5
is "$status" 2 "a cut-off profile: status 2"
