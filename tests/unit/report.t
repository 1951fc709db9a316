#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sp-report on merged files, on the package's golden files, and on what is no profile.
# shellcheck disable=SC2016 # bash -c expands its own arguments
set -uo pipefail

case ${1-} in
--help)
    echo "usage: report.t    (top_builddir and top_srcdir tell where programs and fixtures are)"
    exit 0
    ;;
esac

bin=$(cd "${top_builddir:-.}" && pwd)
fixtures=$(cd "${top_srcdir:-.}/tests/fixtures" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

count=0
failed=0
status=0

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
        sed 's/^/# /' "$work/.out" "$work/report" "$work/errors" 2>/dev/null
    fi
}

report() {
    status=0
    "$bin/sp-report" "$@" >report 2>errors || status=$?
}
has() { grep -q -E -e "$1" report; }
ended() { [ "$status" = "$1" ]; }

"$bin/make_traces" run threads && "$bin/sp-merge" run 2>/dev/null

report run.h5
ok 'a report, status 0' ended 0
ok 'says what ran' has '^Command +\./stencil 100% é$'
ok 'and how large it was' has '^Ranks +4 on 2 nodes, 57 MPI calls, 35.00 % of the time in MPI$'
ok 'the share of MPI of rank 1' has '^ +1 +14 +6\.99 us +1\.13 us +16\.21 %$'
ok 'a region: calls, ranks, total, mean, max, share' \
    has '^ +12 +4 +2\.40 us +200 ns +200 ns +8\.58 %  mpi:wait kind=wait .* request=irecv$'
ok 'the widest first' bash -c 'grep -E "scope_profiler.session|mpi:" report | head -n 1 | grep -q session'
ok 'plain text in a pipe' bash -c '! grep -q "$(printf "\033")" report'

report --ranks 1,3 run.h5
ok '--ranks leaves out others' has '^Ranks +4 on 2 nodes, 28 MPI calls'
report --top 1 run.h5
ok '--top limits the regions' has '8 more regions'
report --ranks 1-x run.h5
ok 'a wrong list: status 64' ended 64

report --json --top 2 run.h5
ok '--json is JSON' python3 -c '
import json
report = json.load(open("report"))
assert report["num_ranks"] == 4 and report["mpi_calls"] == 57, report
assert report["metadata"]["SLURM_JOB_ID"] == "17", report
assert [rank["mpi_calls"] for rank in report["ranks"]] == [15, 14, 14, 14], report
assert len(report["regions"]) == 2, report
session, send = report["regions"]
assert session["name"] == "scope_profiler.session" and session["calls"] == 4, session
assert send["calls"] == 4 and send["total_ns"] == 5430 and send["max_ns"] == 5250, send
assert abs(send["share"] - 5430 / session["total_ns"]) < 1e-12, send'

for schema in 2 3; do
    report "$fixtures/schema-$schema.h5"
    ok "the golden file of schema $schema" has '^ +3 +1 +33 ns +11 ns +15 ns +-  solve$'
done

ok 'the table fits a terminal' script -qec "stty cols 90; '$bin/sp-report' run.h5 >/dev/tty" screen
ok 'no line is wider' bash -c '[ "$(tr -d "\r" <screen | grep -v ^Script | grep -E "mpi:|Command" | wc -L)" -le 90 ]'
ok 'names are cut' grep -q 'mpi:.*\.\.\.' screen

report missing.h5
ok 'no file: status 2' ended 2
echo 'no HDF5' >text.h5
report text.h5
ok 'no HDF5: status 2' ended 2
report .
ok 'a directory: status 2' ended 2
mkfifo fifo.h5
ok 'a FIFO does not hang it' bash -c 'timeout 20 "$0" fifo.h5; [ $? = 2 ]' "$bin/sp-report"
report
ok 'no argument: status 64' ended 64

ok 'damaged files end in an error, not in a crash' bash -c '
    size=$(stat -c %s run.h5)
    for ((at = 0; at < size; at += 211)); do
        cp run.h5 damaged.h5
        printf "\377\377\377\377" | dd of=damaged.h5 bs=1 seek="$at" conv=notrunc status=none
        timeout 20 "$0" damaged.h5 >/dev/null 2>&1
        status=$?
        case $status in 0 | 2) ;; *) echo "byte $at: status $status"; exit 1 ;; esac
    done' "$bin/sp-report"

echo "1..$count"
[ "$failed" = 0 ]
