#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sp-merge and sp-dump on made-up traces: every exit status, every kind of broken input.
# shellcheck disable=SC2016 # bash -c expands its own arguments
# shellcheck source-path=SCRIPTDIR source=made_up.sh
. "${top_srcdir:-.}/tests/unit/made_up.sh"

said() { grep -q -e "$1" "$work/.stderr"; }
printed() { grep -q -e "$1" "$work/.stdout"; }
said_lines() { [ "$(wc -l <"$work/.stderr")" = "$1" ]; }
absent() { [ ! -e "$1" ]; }
no_temporary() { [ -z "$(find . -name '*.tmp')" ]; }
fresh() {
    rm -rf run run*.h5
    "$bin/make_traces" run "$@"
}
trace=run/made-up.0/rank-000001.sptrace

fresh plain
ok 'a complete run is merged, status 0' exits 0 "$bin/sp-merge" run
ok 'and told in one line' said '^sp-merge: 4 ranks, 56 MPI calls -> ./run.h5$'
ok 'into a file beside it' test -s run.h5
ok 'the traces stay' test -s "$trace"
ok 'a file that is there is not overwritten, status 3' exits 3 "$bin/sp-merge" run
ok 'and the message says how it could be' said 'run.h5 is there already: -f'
ok '-f overwrites it' exits 0 "$bin/sp-merge" -f run
sleep 1.1 # a time of day in the file would be another
ok '-o names the file' exits 0 "$bin/sp-merge" run/ -o other.h5
ok 'with the same bytes' cmp run.h5 other.h5
mkfifo fifo.h5
ok '-f replaces no FIFO or device: status 3' exits 3 "$bin/sp-merge" -f run -o fifo.h5
ok 'which stays what it was' test -p fifo.h5
rm fifo.h5
ok 'a directory that is not there: status 3' exits 3 "$bin/sp-merge" run -o nowhere/x.h5
ok 'an unwritable disk: status 3' exits 3 bash -c 'ulimit -f 8; trap "" XFSZ; exec "$0" run -o full.h5' "$bin/sp-merge"
ok 'likewise if SIGXFSZ is not ignored: status 3' exits 3 bash -c 'ulimit -f 8; exec "$0" run -o full.h5' "$bin/sp-merge"
ok 'and a message' said '^sp-merge: .*cannot write: File too large$'
ok 'no half file is left' absent full.h5
ok 'nor a temporary one' no_temporary
ok 'standard streams are closed: status 0' bash -c '"$0" run -o closed.h5 <&- >&- 2>&-' "$bin/sp-merge"
ok 'with the same bytes' cmp other.h5 closed.h5
ok 'nobody reads its messages: status 0' exits 0 python3 -c '
import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
sys.exit(subprocess.run(sys.argv[1:], stderr=writer).returncode)' "$bin/sp-merge" -v run -o unread.h5
ok 'with the same bytes' cmp other.h5 unread.h5
ok '--remove takes the traces away' exits 0 "$bin/sp-merge" -f --remove run
ok 'with the run directory' absent run

fresh plain
touch run/notes.txt
ok '--remove leaves what is not ours' exits 0 "$bin/sp-merge" --remove run
ok 'the stranger is still there' test -e run/notes.txt
ok 'the traces are not' absent run/made-up.0

fresh cut
ok 'a cut-off and a missing rank: status 1' exits 1 "$bin/sp-merge" --remove run
ok 'the cut-off one is named' said 'rank 2: trace ends at .* without MPI_Finalize, no exit record$'
ok 'the missing one is named' said 'rank 3: no trace'
ok 'and the traces stay' test -s "$trace"
ok '--auto says it in one line' exits 1 "$bin/sp-merge" --auto -f run
ok 'one line' said_lines 1
ok 'with the reason' said '^scope-profile: 4 ranks (1 cut off, 1 missing), 42 MPI calls -> ./run.h5; the traces stay in ./run$'

ok '--strict makes no file of it: status 2' exits 2 "$bin/sp-merge" --strict -f run -o strict.h5
ok 'and says so' said '^sp-merge: run/made-up.0: not everything is there, and without that no file was wanted$'
ok 'there is none' absent strict.h5

fresh plain
ok '--strict takes what is complete' exits 0 "$bin/sp-merge" --strict run
cp -r run second
ok 'a run that another process merges: status 3' \
    exits 3 flock run/merge-lock "$bin/sp-merge" -f run
ok 'and a message' said '^sp-merge: run: another process is merging it$'
rm run/merge-lock
ok 'whoever may read the job record keeps nobody out' exits 0 flock run/job "$bin/sp-merge" -f run
ok 'and no lock is left' absent run/merge-lock
ok 'several runs at once' exits 0 "$bin/sp-merge" -f run second
ok 'are a file each' cmp run.h5 second.h5
ok 'but not one file' exits 64 "$bin/sp-merge" run second -o both.h5
ok 'the worst status counts' exits 2 "$bin/sp-merge" -f run nowhere second

# --- a trace that cannot be opened again ----------------------------------------------------------
cat >refusing.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

static int opened;

/* It is opened to be looked at, to be read, and again to be merged: then there is no memory for it. */
int openat(int directory, const char *name, int flags, ...)
{
    int (*next)(int, const char *, int, int) =
        (int (*)(int, const char *, int, int))dlsym(RTLD_NEXT, "openat");
    if (strcmp(name, "rank-000001.sptrace") == 0 && ++opened == 3) {
        errno = ENOMEM;
        return -1;
    }
    return next(directory, name, flags, 0600);
}
END
cc -shared -fPIC -o refusing.so refusing.c -ldl
fresh plain
ok 'no memory to open a trace again: status 1' \
    exits 1 env LD_PRELOAD="$work/refusing.so" "$bin/sp-merge" run
ok 'and that is what is said' \
    said '^sp-merge: rank 1: its trace could not be opened again: rank-000001.sptrace: .*Cannot allocate memory$'

# --- threads ------------------------------------------------------------------------------------
"$bin/make_run" ranks -n 60 --events 500 --cut 2 --missing 1
for kind in plain threads polls full; do
    "$bin/make_traces" "$kind" "$kind"
done
for kind in plain threads polls full ranks; do
    for threads in 3 1; do # into a file of one name, which the messages have
        "$bin/sp-merge" --threads=$threads -f "$kind" 2>"said.$threads"
        cp "$kind.h5" "by.$threads"
    done
    ok "three threads make the same file: $kind" cmp by.1 by.3
    ok 'and say the same' cmp said.1 said.3
done
for threads in 0 257 2x ''; do
    ok "--threads=$threads: status 64" exits 64 "$bin/sp-merge" -f --threads=$threads run
done

# --- nothing of what was asked for ---------------------------------------------------------------
asked() { # WHAT TEXT: a run without a call, of which was asked WHAT
    "$bin/make_run" none --events 0 --what "$1"
    ok "no call of $1" exits 0 "$bin/sp-merge" --auto none
    ok 'is told' said "^scope-profile: 4 ranks, 0 MPI calls -> ./none.h5$2\$"
    rm -rf none none.h5
}
asked mpi-calls=io+wait,max-run=1G '; mpi-calls=io+wait was asked for'
asked mpi-calls,start=paused '; start=paused was asked for'
asked mpi-calls=all ''

# --- memory -------------------------------------------------------------------------------------
"$bin/make_run" deep -n 4 --hosts 1 --events 300000
"$bin/make_run" varied -n 2 --hosts 1 --alike --regions 100000 --events 200000
limited() { # KIB COMMAND...: with so much address space
    bash -c 'ulimit -v "$0" && exec "$@"' "$@"
}
ok '--memory=64M holds within 112 MiB of address space' \
    exits 0 limited 114688 "$bin/sp-merge" --memory=64M --threads=2 deep -o small.h5
ok 'and more of it makes no other file' \
    bash -c '"$0" deep && cmp deep.h5 small.h5' "$bin/sp-merge"
ok 'too many names for it: status 3' \
    exits 3 limited 114688 "$bin/sp-merge" --memory=64M --labels=full -f varied
ok 'and what to do' said 'more memory than --memory= allows: give more, or --labels=op$'
ok 'there is no file' absent varied.h5
ok '--labels=op needs less' \
    exits 0 limited 114688 "$bin/sp-merge" --memory=64M --labels=op -f varied
"$bin/make_run" calls -n 4 --hosts 1 --alike --regions 100000 --events 100000
ok 'too many calls for it: status 3' exits 3 "$bin/sp-merge" --memory=64M --labels=op calls
ok 'and what to do' said 'calls: what its ranks called needs more memory than --memory= allows'
"$bin/make_run" dupes -n 1 --communicators 500000
ok 'too many communicators of one rank: status 3' \
    exits 3 limited 196608 "$bin/sp-merge" --memory=64M dupes
ok 'and what to do' said 'what it called needs more memory than --memory= allows: give more'
"$bin/make_run" dupes-of-many -n 30 --communicators 20000
ok 'of many ranks: status 3' exits 3 limited 196608 "$bin/sp-merge" --memory=64M dupes-of-many
ok 'and what to do' said 'what its ranks called needs more memory than --memory= allows: give more'
# With messages between hosts, of more kinds than their times may be kept of.
"$bin/make_run" between -n 30 --regions 12000 --events 100000
ok 'more kinds of messages than can be followed' \
    exits 0 limited 196608 "$bin/sp-merge" --memory=160M --labels=op between
for size in 63M 0 64X; do
    ok "--memory=$size: status 64" exits 64 "$bin/sp-merge" -f --memory=$size run
done

# --- labels -------------------------------------------------------------------------------------
names() {
    h5dump -d /region_table/names -y "$1" | grep -c '"mpi:'
}
rm -rf many
"$bin/make_run" many -n 4 --alike --regions 4000 --events 4000
ok 'many different calls' exits 0 "$bin/sp-merge" many
ok 'get labels that tell less' said 'labels tell less (labels=size-class; --labels=full keeps them apart)$'
ok 'by classes of sizes' test "$(names many.h5)" = 13
ok 'without a call less' said '^sp-merge: 4 ranks, 16,000 MPI calls -> ./many.h5$'
ok '--labels=full keeps them apart' exits 0 "$bin/sp-merge" -f --labels=full many
ok 'all of them' test "$(names many.h5)" = 4000
ok '--labels=op' exits 0 "$bin/sp-merge" -f --labels=op many
ok 'makes one of them' test "$(names many.h5)" = 1
ok 'an unknown grain: status 64' exits 64 "$bin/sp-merge" -f --labels=fine many
ok '--auto' exits 0 "$bin/sp-merge" -f --auto many
ok 'says that labels tell less' said '(labels=size-class); the traces stay in ./many$'
ok 'and keeps the traces' test -d many/made-up-0

fresh full
ok 'traces that were full: status 1' exits 1 "$bin/sp-merge" run
missing=': 13 calls of 0.000 s were counted, not recorded'
ok 'the reason is told, and how much is missing' \
    said "^sp-merge: rank 0: its trace was full (320.3 KiB; max-trace= and max-run= set its limit)$missing\$"
ok 'another reason' said "rank 1: the file system, or the user's quota, had no space for its trace$missing\$"
ok 'also where no slot tells of these calls' said "rank 2: its trace .*(ulimit -f)$missing\$"
ok 'and what was not even counted' said "rank 3: .*$missing, 2 were not even counted\$"
ok 'all are calls' said '^sp-merge: 4 ranks (4 stopped), 108 MPI calls -> ./run.h5$'
ok '--auto says it in one line' exits 1 "$bin/sp-merge" --auto -f run
ok 'one line' said_lines 1
ok 'with the number of ranks' said '^scope-profile: 4 ranks (4 stopped), 108 MPI calls -> ./run.h5; the traces stay'
ok 'sp-dump prints what was counted' exits 0 "$bin/sp-dump" "$trace"
ok 'calls, time, and what they were' printed '^  *3  0.000000030  *mpi:allreduce kind=collective bytes=8 .* comm=2$'
ok 'and what they waited for' printed '^  *1  0.000000050  *mpi:wait .* comm=0 request=irecv$'
ok 'behind the records' bash -c 'sed "1,/^ *calls *total .s. *counted, not recorded$/d" .stdout | [ "$(grep -c "^ .* mpi:")" = 8 ]'
ok '-n does without' bash -c '! "$0" -n 1 "$1" | grep -q counted' "$bin/sp-dump" "$trace"

# damaged OFFSET HEX...: the trace with these bytes there, merged
damaged() {
    local offset=$1
    shift
    printf "$(printf '\\x%s' "$@")" | dd of="$trace" bs=1 seek="$offset" conv=notrunc status=none
    "$bin/sp-merge" -f run 2>.stderr
}
counted=$((12288 + 64 + 512 * 64)) # of the first call: count, ticks, ...
fresh full
damaged $counted ff ff ff ff ff ff ff ff
ok 'a count that cannot be is left out' said 'rank 1: .* 11 calls of .*, 2 were not even counted$'
damaged $counted ff ff ff ff ff ff ff 7f ff ff ff ff ff ff ff 7f
ok 'huge ones are taken for what they say' said 'rank 1: .*: 9223372036854775818 calls of [0-9]*.[0-9]* s were'
ok 'also by sp-dump' exits 0 "$bin/sp-dump" "$trace"
ok 'which prints them' printed '^ *9223372036854775807 .* mpi:send '
damaged $((counted + 24)) ff ff
ok 'an operation that is not there leaves its calls out' said 'rank 1: .*: 11 calls of'
truncate -s $counted "$trace"
ok 'a trace that ends there has none' exits 1 "$bin/sp-merge" -f run
ok 'and is merged' said 'rank 1: .*: cut off at 45120 of [0-9]* bytes: merged without what follows'
ok 'without them' said '(3 stopped, 1 damaged), 81 MPI calls'

fresh full
damaged $((8192 + 16)) ff ff ff ff ff ff ff ff
ok 'so many dropped calls as no number can tell are told as the largest one' \
    bash -c '"$0" --json run.h5 | grep -q "\"scope_profile_events_dropped\": *9223372036854775807"' \
    "$bin/sp-report"

fresh plain
ok '--auto on a complete run' exits 0 "$bin/sp-merge" --auto "$PWD/run"
ok 'prints the line' said '^scope-profile: 4 ranks, 56 MPI calls -> ./run.h5$'
ok 'and removes the traces' absent run
ok '--auto without a run directory says nothing' exits 0 "$bin/sp-merge" --auto run
ok 'nothing' said_lines 0
ok 'by hand that is status 2' exits 2 "$bin/sp-merge" run

# --- how ranks ended ------------------------------------------------------------------------------
fresh ends
ok 'ranks that were cut off: status 1' exits 1 "$bin/sp-merge" -v run
ok 'a rank that was killed' \
    said 'rank 2: killed by signal 9 (SIGKILL), cause unknown, 20\.0 s after the start$'
ok 'one that left without MPI_Finalize' \
    said 'rank 3: ended with exit status 0 without MPI_Finalize, 2\.0 s after the start$'
ok 'one of which only the task is known' \
    said 'rank 4: its task ended with signal 11 (SIGSEGV), core dumped, 3\.0 s after the start$'
ok 'one of which nothing is known' said 'rank 5: trace ends at .*, no exit record$'
ok 'how the clocks of two hosts were put together' said \
    'clocks of 2 hosts: corrected by up to 0 us by 0 messages and 8 comparisons in collectives '
ok 'no others are losses' said_lines 9
ok '-v tells of all' said 'how they ended: ranks 0,6: normal; rank 1: exit status 3; rank 2: signal 9 (SIGKILL), cause unknown; rank 3: exit status 0 without MPI_Finalize; rank 4: its task ended with signal 11 (SIGSEGV), core dumped; rank 5: unknown: no exit record; rank 7: exit status 7$'
fresh launched
ok 'a launcher that failed: status 1' exits 1 "$bin/sp-merge" -v run
ok 'tells of its ranks' \
    said 'rank 2: its launcher ended with exit status 137, 1\.0 s after the start$'
ok 'of all of them' said 'how they ended: ranks 0-3: its launcher ended with exit status 137$'
fresh plain
"$bin/make_traces" ends ends && cp ends/exit-* run
ok 'exit records are no loss' exits 0 "$bin/sp-merge" --remove run
ok 'and go with the traces' absent run

# spoilt NAME: a merge of good traces beside something else called exit-node0
spoilt() {
    ok "$1: status 1" exits 1 timeout 20 "$bin/sp-merge" --remove run
    ok 'it is named in one line' said "^sp-merge: exit-node0: $2: how some ranks ended may be missing\$"
    ok 'which is all' said_lines 3
    ok 'and it stays' bash -c 'ls run/exit-node0'
}
fresh plain
ln -s job run/exit-node0
spoilt 'a link' 'is a symbolic link, which is not followed'
fresh plain
mkfifo run/exit-node0
spoilt 'a FIFO' 'is no regular file'
fresh plain
truncate -s 2M run/exit-node0
spoilt 'a huge file' 'is longer than 1048576 bytes'
fresh plain
{ cat ends/exit-node0 && printf 'exit=1 task=' && cat ends/exit-node0; } >run/exit-node0
spoilt 'a line that was cut off' 'line 5 is no exit record'
ok 'the others are taken' bash -c '"$0" --json run.h5 | grep -q "end_ns\":1000000000"' "$bin/sp-report"
fresh plain
echo 'job-end=1 cause=time-limit realtime=1700000010000000000' >run/job-end
cp ends/exit-* run
ok 'why the job ended goes with the traces' exits 0 "$bin/sp-merge" --remove run
ok 'all of it' absent run
fresh ends
echo 'job-end=1 cause=time-limit realtime=1700000010000000000' >run/job-end
ok 'the end of the job explains that of a rank: status 1' exits 1 "$bin/sp-merge" run
ok 'killed by the time limit' \
    said 'rank 2: .*killed by signal 9 (SIGKILL), time limit reached, 20\.0 s after the start$'
fresh plain
echo 'it was late' >run/job-end
ok 'a wrong end of the job: status 1' exits 1 "$bin/sp-merge" --remove run
ok 'is named' said '^sp-merge: job-end: does not tell why the job ended: how some ranks ended may be missing$'
ok 'and stays' test -s run/job-end
fresh plain
mkdir run/exit-node0
ok 'a directory is no exit record: status 0' exits 0 "$bin/sp-merge" run
rm -rf ends

fresh plain
truncate -s 100 "$trace"
ok 'a trace cut off in its header: status 1' exits 1 "$bin/sp-merge" run
ok 'and is named' said 'made-up.0/rank-000001.sptrace'
fresh plain
echo 'no trace' >"$trace"
ok 'a file that is no trace: status 1' exits 1 "$bin/sp-merge" run
ok 'and is named' said 'rank-000001.sptrace: not a rank trace'
fresh plain
mv "$trace" run/real && ln -s ../real "$trace"
ok 'a link is not followed: status 1' exits 1 "$bin/sp-merge" run
fresh plain
rm "$trace" && mkfifo "$trace"
ok 'a FIFO does not hang it: status 1' exits 1 timeout 20 "$bin/sp-merge" run
fresh plain
cp run/made-up.0/rank-000000.sptrace "$trace"
ok 'a trace under another rank'\''s name is not taken twice' exits 1 "$bin/sp-merge" run
ok 'and is named' said 'rank-000001.sptrace: holds rank 0'
fresh plain
at=$(grep -abo '17\.0' "$trace" | head -n 1)
printf '18.1' | dd of="$trace" bs=1 seek="${at%%:*}" conv=notrunc status=none
ok 'a trace of another job: status 1' exits 1 "$bin/sp-merge" run
ok 'is named' said 'rank-000001.sptrace: is of the run 18.1, and this is 17.0'
ok 'and all others are merged' said '4 ranks (1 unreadable), 42 MPI calls'
fresh plain
printf '\xff\xff' | dd of="$trace" bs=1 seek=14 conv=notrunc status=none
ok 'a newer minor version' bash -c '"$0" --header "$1" | grep -q "^format *[0-9]*\.65535$"' \
    "$bin/sp-dump" "$trace"
ok 'is merged, all of it: status 0' exits 0 "$bin/sp-merge" run
fresh plain
rm run/job
ok 'a run without a job record is merged with losses' exits 1 "$bin/sp-merge" run
fresh plain
for i in run/made-up.0/*; do echo x >"$i"; done
ok 'nothing usable: status 2' exits 2 "$bin/sp-merge" run
ok 'no file' absent run.h5
ok 'no temporary one' no_temporary
rm -rf run && mkdir run
ok 'an empty directory: status 2' exits 2 "$bin/sp-merge" run
ok 'tells what a run directory is' \
    said '^sp-merge: no trace in run: a run directory is called scope-profile-JOB.STEP$'

fresh worlds
ok 'two worlds become two files' exits 0 "$bin/sp-merge" run -o both.x.h5
ok 'the earlier world first' bash -c '"$0" both.x.h5 | grep -q "^Ranks *2 "' "$bin/sp-report"
ok 'the later one second' bash -c '"$0" both.x-2.h5 | grep -q "^Ranks *3 "' "$bin/sp-report"
ok 'default names are numbered too' exits 0 "$bin/sp-merge" --auto run
ok 'in one line' said '^scope-profile: 2 worlds, 5 ranks, 70 MPI calls -> ./run.h5 ... ./run-2.h5$'
ok 'and are there' test -s run-2.h5

ok 'no run directory: status 64' exits 64 "$bin/sp-merge"
ok 'an unknown option: status 64' exits 64 "$bin/sp-merge" --nonsense run
ok '--help' exits 0 "$bin/sp-merge" --help
ok '--version' exits 0 "$bin/sp-merge" --version

fresh plain
ok 'every cut of a trace is merged without a crash' bash -c '
    size=$(stat -c %s "$1")
    cp "$1" whole
    # in large steps through the statistics, which lie empty between the slots and the windows
    for ((cut = 0; cut < size; cut += cut > 12500 && cut < 264000 ? 9973 : 101)); do
        head -c "$cut" whole >"$1"
        "$0" -f run -o cut.h5 2>/dev/null
        status=$?
        [ "$status" -le 1 ] || { echo "cut at $cut: status $status"; exit 1; }
    done' "$bin/sp-merge" "$trace"

# interrupted SIGNAL: it ends sp-merge while the temporary file is there, and that goes along.
interrupted() {
    local pid status number
    number=$(kill -l "$1")
    for _ in {1..20}; do # a merge that is done before the signal comes proves nothing
        rm -f run.h5
        "$bin/sp-merge" run 2>/dev/null &
        pid=$!
        until compgen -G '.sp-merge-*' >/dev/null || ! kill -0 "$pid" 2>/dev/null; do :; done
        kill -"$1" "$pid" 2>/dev/null
        status=0
        wait "$pid" || status=$?
        [ "$status" = $((128 + number)) ] && return
    done
    echo "status $status"
    return 1
}
fresh large 2000000
ok 'SIGTERM ends a merge' interrupted TERM
ok 'SIGXCPU, of a limit of processor time, too' interrupted XCPU
ok 'without a file' absent run.h5
ok 'and without a temporary one' no_temporary

fresh threads
dump=run/made-up.0/rank-000000.sptrace
ok 'sp-dump prints a trace' exits 0 "$bin/sp-dump" "$dump"
ok 'with its calls' printed ' 0.000000300  0.000000200    0 mpi:wait kind=wait bytes=64 .* request=irecv'
ok 'of all threads' printed ' 0.000000250  0.000005250    1 mpi:send'
fresh polls
ok 'each poll of a run is a call' exits 0 "$bin/sp-merge" run
ok 'in the number of calls' said '^sp-merge: 4 ranks, 605 MPI calls -> ./run.h5$'
ok 'sp-dump prints what a program does beside calling' exits 0 "$bin/sp-dump" run/made-up.0/rank-000001.sptrace
ok 'a run of polls' printed ' 0.000006200  0.000000299    0 mpi:test .*: 100 polls, busy 0.000000200 s$'
ok 'of several operations' printed ' 0.000006520  0.000000059    0 mpi:poll kind=poll .* request=mixed: 30 polls, busy 0.000000030 s$'
ok 'each of which is told' printed ' 0 polled 10 polls, busy 0.000000010 s: mpi:iprobe kind=poll '
ok 'an error' bash -c 'grep -A 1 " 0 failed error class 4$" .stdout | grep -q "0.000006620 .* mpi:send"'
ok 'a pause' printed ' 0.000006650  *0 recording pauses$'
ok 'its end' printed ' 0.000006660  *0 recording goes on$'
ok 'a name' printed ' 0 communicator 2: name h.*lo$'
ok '--header prints the header alone' exits 0 "$bin/sp-dump" --header "$dump"
ok 'the rank' printed '^rank *0 of 4$'
ok 'and no call' bash -c '! grep -q mpi: .stdout'
ok '-n limits the records' bash -c '[ "$("$0" -n 2 "$1" | sed "1,/^ *start/d" | wc -l)" = 2 ]' "$bin/sp-dump" "$dump"
ok 'what is no trace: status 2' exits 2 "$bin/sp-dump" run/job
ok 'one of two: status 1' exits 1 "$bin/sp-dump" run/job "$dump"
ok 'no trace given: status 64' exits 64 "$bin/sp-dump"
ok 'a closed pipe is no noise' bash -c '"$0" "$1" 2>noise | head -n 1 >/dev/null; [ ! -s noise ]' "$bin/sp-dump" "$dump"
ok 'a file size limit is told' exits 3 bash -c 'ulimit -f 1; "$0" "$1" >limited' "$bin/sp-dump" "$dump"
ok 'by a message' said '^sp-dump: cannot write to standard output$'
ok 'a full disk is told' exits 3 bash -c '"$0" "$1" >/dev/full' "$bin/sp-dump" "$dump"

# A node's copy of its traces without an end.
fresh plain
printf 'sptraces\1\0\0\0\20\0\0\0' >run/spool-node1.sptraces
ok 'traces that a node did not copy, --strict: status 2' exits 2 "$bin/sp-merge" --wait=0 --strict run
ok 'names the container' said '^sp-merge: spool-node1.sptraces: not all traces were copied'
ok 'and says why there is no file' said '^sp-merge: run: not everything is there, and without that'
ok 'and there is none' absent run.h5
ok 'without it: status 1' exits 1 "$bin/sp-merge" --wait=0 run

# Who merges it has the directory locked where there is no job record.
fresh plain
rm run/job
ok 'a run without a job record that another merges: status 3' exits 3 flock run "$bin/sp-merge" run
ok 'and is told' said '^sp-merge: run: another process is merging it$'

# Every world keeps its directory open.
fresh plain
for ((i = 1; i <= 40; i++)); do
    cp -r run/made-up.0 "run/made-up.$i"
done
ok 'more worlds than files may be open at first' exits 0 \
    bash -c 'ulimit -Sn 32; exec "$0" run -o run-m.h5' "$bin/sp-merge"
ok 'are all merged' said '^sp-merge: 41 worlds, 164 ranks, 2,296 MPI calls'
rm -f run-m*.h5
ok 'more than may be open at all: status 1 or 3' exits 0 \
    bash -c 'ulimit -n 32; "$0" --remove run -o run-m.h5; [[ $? == [13] ]]' "$bin/sp-merge"
ok 'one that is missing is named' said '^sp-merge: cannot read run/made-up.*: Too many open files$'
ok 'and how many more there are' said '^sp-merge: ... and [1-9][0-9]* more like this$'
ok 'and none is removed' test "$(find run -name "*.sptrace" | wc -l)" = 164
rm -f run-m*.h5
ok '--auto' exits 0 bash -c 'ulimit -n 32; "$0" --auto run -o run-m.h5; [[ $? == [13] ]]' "$bin/sp-merge"
ok 'says so in its line' \
    said '; cannot read run/made-up.*: Too many open files; the traces stay in ./run'
ok 'one line of it' said_lines 1

# At offset 48 a trace tells how large its world is.
fresh plain
printf '\0\0\0\2' | dd of="$trace" bs=1 seek=48 conv=notrunc status=none
ok 'a trace may claim a world of 2^25 ranks: status 1' exits 1 "$bin/sp-merge" run
ok 'which makes no huge file' test "$(stat -c %s run.h5)" -lt 20000000
ok 'and what is missing is counted' said '^sp-merge: 33,554,432 ranks (33554428 missing), 56 MPI calls'

done_testing
