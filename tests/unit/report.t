#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sp-report on merged files, on the package's golden files, and on what is no profile.
# shellcheck disable=SC2016 # bash -c expands its own arguments
# shellcheck source-path=SCRIPTDIR source=made_up.sh
. "${top_srcdir:-.}/tests/unit/made_up.sh"
fixtures=$source/tests/fixtures
unset COLUMNS
status=0

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
report ''
ok 'an empty name: status 64' ended 64
ok 'and that is what is said' grep -q 'the name of the file is empty' errors
for tool in sp-dump sp-merge sp-report sp-run; do
    for word in --help --version --usage; do
        ok "$tool $word on a full disk: status 3" \
            exits 3 bash -c '"$0" "$1" >/dev/full' "$bin/$tool" "$word"
    done
done

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

# --- polls, failed calls, pauses ------------------------------------------------------------------
report run.h5
ok 'what did not happen is not told' bash -c '! grep -E "^(Polls|Unrecorded|Failed|Paused)" report'
"$bin/make_traces" polls polls && "$bin/sp-merge" polls 2>/dev/null
report polls.h5
ok 'polls are told by function, with the time in them' \
    has '^Polls +533 calls found nothing yet, which took 1\.03 us: 485 MPI_Test \(930 ns\), 48 MPI_Iprobe \(100 ns\); '
ok 'each of them is a call' has '^Ranks +4 on 2 nodes, 605 MPI calls, 20\.41 % of the time in MPI$'
ok 'also in the table of ranks; what lies between them is no time in MPI' \
    has '^ +0 +155 +6\.99 us +1\.46 us +20\.89 %$'
ok 'failed calls are told by function and error class' \
    has '^Failed +16 MPI calls: 8 MPI_Send \(error class 6\), 4 MPI_Iprobe \(error class 5\), 4 MPI_Send \(error class 4\)$'
ok 'pauses are told' has '^Paused +121 ns in which calls were not recorded: 3 pauses of 2 ranks$'
COLUMNS=60 report polls.h5
ok 'in short, a poll that found nothing is told from one that did' \
    bash -c '[ -z "$(sed "1,/^calls /d" report | grep -o "mpi:.*" | sort | uniq -d)" ]'
report --ranks 2 polls.h5
ok '--ranks leaves out what others did' has '^Polls +132 calls .* 120 MPI_Test \(220 ns\), 12 MPI_Iprobe'
ok 'likewise pauses' bash -c '! grep Paused report'
report --json polls.h5
ok 'JSON has them all' python3 -c '
import json
report = json.load(open("report"))
assert report["mpi_calls"] == 605 and report["paused_ns"] == 121 and report["pauses"] == 3, report
assert report["polls"] == [{"function": "MPI_Test", "calls": 485, "busy_ns": 930},
                           {"function": "MPI_Iprobe", "calls": 48, "busy_ns": 100}], report["polls"]
assert [(row["function"], row["error_class"], row["calls"]) for row in report["failed"]] == [
    ("MPI_Send", 6, 8), ("MPI_Iprobe", 5, 4), ("MPI_Send", 4, 4)], report["failed"]'

# --- calls that were not recorded -------------------------------------------------------------------
"$bin/make_traces" full full && "$bin/sp-merge" full 2>/dev/null
report full.h5
ok 'unrecorded calls are told by function, with the time in them' has \
    '^Unrecorded  52 calls .*, which took 1\.26 us: 12 MPI_Allreduce \(120 ns\), 12 MPI_Send \(800 ns\), .*; the regions below are without them$'
ok 'they are calls' has '^Ranks +4 on 2 nodes, 108 MPI calls, 20\.45 % of the time in MPI$'
ok 'of each rank; MPI_Finalize is no part of its session' has '^ +0 +27 +6\.99 us +1\.43 us +20\.39 %$'
ok 'the regions are those of the events' has '^ +16 +4 +600 ns .* mpi:allreduce '
report --ranks 2 full.h5
ok '--ranks leaves out those of others' has '^Unrecorded  13 calls '
report --json full.h5
ok 'JSON has them' python3 -c '
import json
report = json.load(open("report"))
assert report["mpi_calls"] == 108 and report["polls"] == [], report
assert [tuple(row.values()) for row in report["unrecorded"]] == [
    ("MPI_Allreduce", 12, 120), ("MPI_Send", 12, 800), ("MPI_Test", 12, 12), ("MPI_Wait", 8, 220),
    ("MPI_Comm_dup", 4, 28), ("MPI_Finalize", 4, 80)], report["unrecorded"]
assert [(rank["mpi_calls"], rank["unrecorded"]) for rank in report["ranks"]] == 4 * [(27, 13)]'

# A trace that says it has 2^63 - 1 calls.
printf '\377\377\377\377\377\377\377\177' | dd of=full/made-up.0/rank-000001.sptrace bs=1 \
    seek=$((12288 + 64 + 512 * 64)) conv=notrunc status=none
"$bin/sp-merge" -f full 2>/dev/null
report full.h5
ok 'more calls than a number of JSON can be' has '^ +1 +9,223,372,036,854,775,832 '
report --json full.h5
ok 'are the largest there' python3 -c '
import json
report = json.load(open("report"))
assert report["unrecorded"][0] == {"function": "MPI_Send", "calls": 2**63 - 1, "total_ns": 800}, report
assert report["ranks"][1]["mpi_calls"] == report["mpi_calls"] == 2**63 - 1, report
assert report["ranks"][2]["mpi_calls"] == 27, report'

for ranks in 4 0,4 7-9; do
    report --ranks "$ranks" run.h5
    ok "--ranks $ranks of four ranks: status 64" ended 64
    ok 'nothing is printed' test ! -s report
    ok 'but which ranks there are' grep -q '^sp-report: run.h5: no.* rank.*: the file has calls of ranks 0-3$' errors
done
report --ranks 2-9 run.h5
ok 'a range needs one rank that is there' ended 0

# --- how ranks ended ------------------------------------------------------------------------------
report run.h5
ok 'ranks that came to MPI_Finalize, nothing more known: nothing is told' \
    bash -c '! grep -E "^Ends" report'
"$bin/make_traces" ends ends && "$bin/sp-merge" ends 2>/dev/null
report ends.h5
ok 'how ranks ended' has '^Ends +ranks 0,6: normal; rank 1: exit status 3; rank 2: signal 9 \(SIGKILL\), cause unknown; rank 3: exit status 0 without MPI_Finalize; rank 4: its task ended with signal 11 \(SIGSEGV\), core dumped; rank 5: unknown: no exit record; rank 7: exit status 7$'
report --ranks 0,6 ends.h5
ok 'normal ends are no news' bash -c '! grep -E "^Ends" report'
report --ranks 6-7 ends.h5
ok '--ranks leaves out how others ended' has '^Ends +rank 6: normal; rank 7: exit status 7$'
report --json ends.h5
ok 'JSON has them all' python3 -c '
import json
ends = json.load(open("report"))["ends"]
assert [row["rank"] for row in ends] == list(range(8)), ends
assert ends[2] == {"rank": 2, "state": "cut off", "end": "signal 9 (SIGKILL), cause unknown",
                   "end_status": 9, "end_ns": 20 * 10**9, "in_flight": "",
                   "outstanding": ""}, ends[2]
assert ends[5] == {"rank": 5, "state": "cut off", "end": "unknown: no exit record",
                   "end_status": None, "end_ns": None, "in_flight": "",
                   "outstanding": ""}, ends[5]
# Another clock: by the time of day. Nothing ends before its last sign of life.
assert ends[7]["end_ns"] == 30 * 10**9 and ends[1]["end_ns"] == 7001, ends'
"$bin/make_traces" dead cut && "$bin/sp-merge" dead 2>/dev/null
report dead.h5
ok 'nothing known of ranks that were cut off or are missing: that is told' \
    has '^Ends +ranks 0-2: unknown: no exit record; rank 3: unknown: no trace$'

for schema in 2 3; do
    report "$fixtures/schema-$schema.h5"
    ok "the golden file of schema $schema" has '^ +3 +1 +33 ns +11 ns +15 ns +-  solve$'
done

# --- widths --------------------------------------------------------------------------------------
# shown_names: the regions' names in a report, sorted; what is wrapped is put together again
shown_names() {
    sed '1,/^calls /d' report | python3 -c '
import re, sys
names = []
for line in sys.stdin:
    numbers = re.match(r" *[\d,]+  +[\d,]+  .*?(?:%|-)(?=  |$)", line)
    if numbers:
        names.append(line[numbers.end():].strip())
    elif names:
        names[-1] = (names[-1] + " " + line.strip()).strip()
print("\n".join(sorted(names)))'
}
long=a-directory-with-a-name/that-is-longer/than-a-line-of-the/narrowest-terminal
mkdir -p "$long"
"$bin/make_traces" names names && "$bin/sp-merge" names 2>/dev/null
"$bin/make_traces" init init && "$bin/sp-merge" init 2>/dev/null
mv names.h5 init.h5 "$long"
cat >names.expected <<'END'
mpi:wait irecv 64 B peer=1 tag=17 comm=0
mpi:wait irecv 64 B peer=1 tag=171717 comm=0
mpi:wait irecv 64 B peer=1 tag=18 comm=0
mpi:wait irecv 64 B peer=2 tag=17 comm=0
mpi:wait irecv 640 B peer=1 tag=17 comm=0
mpi:wait irecv 9223372036854775806 B peer=2147483647 tag=2147483647 comm=0
mpi:wait irecv 9223372036854775807 B peer=2147483647 tag=2147483647 comm=0
mpi:wait irecv comm=0
scope_profiler.session
END
for width in 40 41 60 72 80 100 120; do
    COLUMNS=$width report "$long/names.h5"
    ok "$width columns: no line is wider" bash -c '[ "$(wc -L <report)" -le "$0" ]' "$width"
    shown_names >names.shown
    ok "$width columns: every name is there, in its short form" diff names.expected names.shown
done
COLUMNS=80 report run.h5
ok 'one line a row where that is possible' \
    has '^ +12 +4 +2\.40 us +200 ns +8\.58 %  mpi:wait irecv 64 B comm=0$'
COLUMNS=200 report run.h5
ok 'the full names where they fit' has ' 8\.58 %  mpi:wait kind=wait .* request=irecv$'
COLUMNS=1 report run.h5
ok 'a terminal narrower than 40 columns is taken for one of 40' \
    bash -c '[ "$(wc -L <report)" -le 40 ] && grep -q "irecv 64 B" report'
for columns in '' 0 -5 wide; do
    COLUMNS=$columns report run.h5
    ok "COLUMNS=$columns: none" has 'mpi:wait kind=wait .* request=irecv$'
done
for width in 60 90; do
    ok "a terminal of $width columns" \
        script -qec "stty cols $width; '$bin/sp-report' run.h5 >/dev/tty" screen
    ok 'no line is wider' bash -c \
        '[ "$(tr -d "\r" <screen | grep -v ^Script | wc -L)" -le "$0" ]' "$width"
    ok 'and there are names' grep -q 'mpi:wait irecv 64 B comm=0' screen
done

report "$long/init.h5"
ok 'a region outside the session has no share' has '^ +4 +4 .* -  mpi:finalize kind=other '
ok 'whatever its time' bash -c \
    'sed "1,/^calls/d" report | head -n 1 | grep -q "mpi:finalize" && ! grep -q "[0-9]\{3\}\.[1-9].* %" report'
ok 'the session has all of it' has ' 100\.00 %  scope_profiler\.session$'
report --json "$long/init.h5"
ok 'in JSON it is a number like any other' python3 -c '
import json
finalize = json.load(open("report"))["regions"][0]
assert finalize["name"].startswith("mpi:finalize") and finalize["share"] > 1, finalize'

# --- where it prints to --------------------------------------------------------------------------
# to_nobody SIGPIPE COMMAND...: its standard output is a pipe that nobody reads; SIGPIPE: default,
# or ignored
to_nobody() {
    status=0
    python3 -c '
import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
done = subprocess.run(sys.argv[2:], stdout=writer, restore_signals=sys.argv[1] == "default")
sys.exit(done.returncode % 256)' "$@" 2>errors || status=$?
}
to_nobody default "$bin/sp-report" --json run.h5
ok 'nobody reads it: it dies of SIGPIPE' ended 243
ok 'without noise' test ! -s errors
to_nobody ignored "$bin/sp-report" --json run.h5
ok 'nobody reads it, SIGPIPE is ignored: status 0' ended 0
ok 'without noise' test ! -s errors
status=0
(ulimit -f 1 && exec "$bin/sp-report" --json run.h5) >report 2>errors || status=$?
ok 'a file size limit: status 3' ended 3
ok 'and a message' grep -q '^sp-report: cannot write to standard output$' errors
status=0
"$bin/sp-report" run.h5 >/dev/full 2>errors || status=$?
ok 'a full disk: status 3' ended 3
status=0
"$bin/sp-report" run.h5 >&- 2>errors || status=$?
ok 'standard output is closed: status 3' ended 3

report missing.h5
ok 'no file: status 2' ended 2
echo 'no HDF5' >text.h5
report text.h5
ok 'no HDF5: status 2' ended 2
report .
ok 'a directory: status 2' ended 2
ok 'and how to make a file of it' \
    grep -q '^sp-report: \. is a directory: sp-merge makes a profile file of a run' errors
mkfifo fifo.h5
ok 'a FIFO does not hang it' bash -c 'timeout 20 "$0" fifo.h5; [ $? = 2 ]' "$bin/sp-report"
report
ok 'no argument: status 64' ended 64

for file in polls.h5 full.h5; do
    ok "damaged files end in an error, not in a crash: $file" bash -c '
        # HDF5 may loop on one until ten seconds of processor time are over.
        size=$(stat -c %s "$1")
        for ((at = 0; at < size; at += 211)); do
            cp "$1" damaged.h5
            printf "\377\377\377\377" | dd of=damaged.h5 bs=1 seek="$at" conv=notrunc status=none
            timeout 60 "$0" damaged.h5 >/dev/null 2>&1
            status=$?
            case $status in 0 | 2) ;; *) echo "byte $at: status $status"; exit 1 ;; esac
        done' "$bin/sp-report" "$file"
done

done_testing
