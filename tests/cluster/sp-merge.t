#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sp-merge by hand: its exit statuses, what it never overwrites and never deletes, and what it makes
# of a run directory that is not as it should be.
. "$(dirname "$0")/scenario.sh"
plan 60
fresh_directory
mpicc_openmpi -o speaker "$programs/speaker.c"
in_work srun -N2 -n4 --mpi=pmix --scope-profile=mpi-calls,merge=off ./speaker >/dev/null 2>&1
original=$(echo scope-profile-*.0)
mv "$original" original

# fresh: "run" is the run directory as it was left
fresh() {
    rm -rf run run.h5
    cp -a original run
}
# untouched NAME: not a byte in run is another; who is interrupted leaves his lock, open to the next
untouched() {
    passes "$1: no trace was touched" diff -r --exclude=merge-lock original run
}

like "$(echo original/*/)" '^original/[^/ ]+/$' "one world has a directory of its own"
is "$(cd original/*/ && echo *)" \
    "rank-000000.sptrace rank-000001.sptrace rank-000002.sptrace rank-000003.sptrace" \
    "and one trace per rank"
is "$(stat --format=%U original/job)" "$(as_user id -un)" "the job record is the user's"

# --- a complete run ------------------------------------------------------------------------------
fresh
run sp-merge run/
is "$status" 0 "complete: status 0"
is "$(mpi_calls run.h5)" "1,208" "complete: every call is there"
untouched complete
is "$(listing .)" "original run run.h5 speaker" "the file is beside the directory, nothing else"
run sp-merge run
is "$status" 3 "a file that is there is not overwritten: status 3"
like "$err" "run\.h5" "the message names it"
like "$err" "-f|--force" "and says what to do"
cp run.h5 before.h5
run sp-merge -f run
is "$status" 0 "-f overwrites it"
rm -f before.h5
run sp-merge run -o elsewhere.h5
is "$status" 0 "-o: status 0"
passes "-o names the file" test -f elsewhere.h5
run sp-merge -v run -o verbose.h5
like "$out$err" "rank 3|ranks" "-v tells what is read"
rm -f elsewhere.h5 verbose.h5 run.h5
run sp-merge --remove run
is "$status: $(listing .)" "0: original run.h5 speaker" "--remove removes the traces of a complete file"

# --- with losses ---------------------------------------------------------------------------------
fresh
rm run/*/rank-000002.sptrace
run sp-merge --remove run
is "$status" 1 "a missing rank: status 1"
like "$err" "rank 2" "the message names the rank"
is "$(python 'r = scope_profiler.read_h5(sys.argv[1]); print(r.num_ranks, sorted(
    set(k for g in r.get_regions() for k in g.ranks)))' run.h5)" "4 [0, 1, 3]" \
    "the file has the others, of four ranks"
is "$(find run -name "*.sptrace" | wc -l)" 3 "with losses --remove removes nothing"

fresh
trace=$(echo run/*/rank-000001.sptrace)
size=$(stat --format=%s "$trace")
truncate -s $((size / 2)) "$trace"
cp -a run cut
run sp-merge run
passes "a cut-off trace: status 0 or 1" test "$status" -le 1
like "$(python 'print(scope_profiler.read_h5(sys.argv[1]).num_ranks)' run.h5)" 4 \
    "a cut-off trace: the file opens"
passes "a cut-off trace stays as it is" diff -r cut run
rm -rf cut

# Only the first page, then nothing of what follows is there.
fresh
truncate -s 5000 "$(echo run/*/rank-000001.sptrace)"
run sp-merge run
is "$status" 1 "a trace cut in its head: status 1"
like "$err" "rank 1|rank-000001" "the message names it"

# not_a_trace NAME: a rank's trace is something else; the others are merged
not_a_trace() {
    run sp-merge run
    is "$status" 1 "$1: status 1"
    like "$err" "rank 1|rank-000001" "$1: the message names it"
    is "$(python 'r = scope_profiler.read_h5(sys.argv[1]); print(r.num_ranks, sorted(
        set(k for g in r.get_regions() for k in g.ranks)))' run.h5)" "4 [0, 2, 3]" \
        "$1: the others are merged"
}
fresh
seq 10000 >"$(echo run/*/rank-000001.sptrace)"
not_a_trace "a file that is no trace"
fresh
trace=$(echo run/*/rank-000001.sptrace)
: >"$trace"
not_a_trace "an empty file"
fresh
trace=$(echo run/*/rank-000001.sptrace)
rm "$trace" && mkfifo "$trace"
not_a_trace "a FIFO"
fresh
trace=$(echo run/*/rank-000001.sptrace)
mv "$trace" aside && ln -s "$work/aside" "$trace"
not_a_trace "a link"
rm -f aside
fresh
cp "$(echo run/*/rank-000000.sptrace)" "$(echo run/*/rank-000001.sptrace)"
not_a_trace "another rank's trace"

# --- nothing usable ------------------------------------------------------------------------------
rm -rf run run.h5
mkdir run
run sp-merge run
is "$status" 2 "an empty directory: status 2"
like "$err" "^sp-merge: .*run" "the message names it"
run sp-merge nowhere
is "$status" 2 "no such directory: status 2"
fresh
for trace in run/*/*.sptrace; do
    echo nothing >"$trace"
done
run sp-merge run
is "$status" 2 "no usable trace: status 2"
is "$(listing .)" "original run speaker" "and no file, whole or in part, is left"

# --- cannot write --------------------------------------------------------------------------------
fresh
mkdir closed && chmod 755 closed # root's, and not the user's to write
run sp-merge run -o closed/file.h5
is "$status" 3 "a directory that cannot be written: status 3"
like "$err" "^sp-merge: .*closed" "the message names it"
run sp-merge run -o nowhere/file.h5
is "$status" 3 "a directory that is not there: status 3"
run bash -c 'ulimit -f 8; trap "" XFSZ; sp-merge run -o small.h5'
is "$status" 3 "no room for the file: status 3"
run bash -c 'ulimit -f 8; sp-merge run -o small.h5'
is "$(listing .)" "closed original run speaker" "nothing is left of a file that had no room"
rm -rf closed .sp-merge-*
untouched "after all that"

# --- interrupted ---------------------------------------------------------------------------------
# At whatever moment it comes, SIGINT or SIGTERM leaves the whole file or none.
# shellcheck disable=SC2016 # the inner shell expands
in_work bash -c 'for i in {1..40}; do
    ((i % 2)) && signal=INT || signal=TERM
    timeout --signal=$signal "0.0$((i / 10))$((i % 10))" sp-merge run -o interrupted.h5 &&
        sp-merge run -o interrupted.h5 && exit 1 # it would have overwritten a whole file
    rm -f interrupted.h5
    [[ $(ls -A) == "$1" ]] || exit 1
done' bash "$(printf 'original\nrun\nspeaker')" >"$results/out" 2>&1
is "$?: $(listing .)" "0: original run speaker" "an interrupted merge leaves nothing"
untouched "an interrupted merge"

# --- usage ---------------------------------------------------------------------------------------
run sp-merge
is "$status" 64 "without an argument: status 64"
run sp-merge --sparkle run
is "$status" 64 "an unknown option: status 64"
like "$err" "^sp-merge: .*sparkle" "and is named"
run sp-merge --registry=/nowhere run
is "$status: $err" "64: $(printf '%s\n' 'sp-merge: --registry is for --epilog' \
    'Try `sp-merge --help'"'"' or `sp-merge --usage'"'"' for more information.')" \
    "an option that would do nothing: status 64"
run sp-merge --version
is "$status" 0 "--version: status 0"
like "$out" "^sp-merge.* [0-9]+\.[0-9]+" "--version prints it"
run sp-merge --help
is "$status" 0 "--help: status 0"
like "$out" "Exit status: 0 complete" "--help tells the exit statuses"
