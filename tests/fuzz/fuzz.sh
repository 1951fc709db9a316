#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the libFuzzer programs, two at a time, each from seeds made of traces, real ones among them,
# and from the corpus that earlier runs found. Speaks TAP; what an input did wrong is left in
# fuzz/findings.
set -uo pipefail

seconds=${1-}
if [[ ! $seconds =~ ^[0-9]+$ ]] || ((seconds < 12)); then
    echo "usage: fuzz.sh SECONDS    (of all together, 12 at least)"
    echo "top_srcdir and top_builddir tell where"
    exit 64
fi
cd "${top_builddir:?}/fuzz" || exit
source=${top_srcdir:?}/tests/fuzz
memory=$(mktemp -d -p /dev/shm sp-fuzz.XXXXXX) || exit
trap 'rm -rf "$memory"' EXIT
export TMPDIR=$memory UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1

# record MPI: a rank of a real program, until it is killed
record() {
    local victim=$PWD/../tests/kill/real/$1 run=$memory/runs/$1 end=$((SECONDS + 20)) rank
    [[ -x $victim ]] || return 0
    LD_PRELOAD=$PWD/../.libs/libscope_preload.so SCOPE_PROFILE_RUN=$run "$victim" 1 64 \
        100>/dev/null &>/dev/null &
    rank=$!
    until [[ $(stat --format=%s "$run"/*/*.sptrace 2>/dev/null || echo 0) -gt 400000 ]] ||
        ((SECONDS > end)); do sleep 0.02; done
    kill -KILL "$rank"
    wait "$rank" 2>/dev/null
    [[ -d $run ]]
}

# Each kind of made-up run, as made in tests/unit, and the sample of the other tests here.
make_seeds() {
    local kind
    rm -rf seeds
    mkdir -p "$memory/runs/sample/w" findings
    for kind in plain threads init polls full ends launched stuck cut worlds; do
        ../make_traces "$memory/runs/$kind" "$kind" || return
    done
    ../sample_trace "$memory/runs/sample/w" || return
    record openmpi && record mpich || return
    python3 "$source/seeds.py" seeds "$memory"/runs/* || return
    mkdir -p seeds/text
    local texts=('Ampi-calls=wait+io,out=a\,b/%j,max-run=10G,merge=off,polls=all'
        'B/scratch/%u/%x-%j.%s' 'C0-3,7,9-12' 'F/lib/a.so:/lib/ours.so /lib/b.so'
        'Gsend0123456789012345678901234567890123456789')
    local markers=$source/../likwid/markers
    local i=0 text
    for text in "${texts[@]}"; do
        printf '%s' "$text" >"seeds/text/$i"
        i=$((i + 1))
    done
    { printf D && cat "$memory/runs/plain/job"; } >seeds/text/job
    { printf E && cat "$memory/runs/ends/exit-node0"; } >seeds/text/exit
    for text in "$markers"/*; do
        { printf H && cat "$text"; } >"seeds/text/${text##*/}"
    done
    printf '%s\n' 'Hscope-profile-likwid 1' group=CLOCK 'event=PMC0 A' metric=CPI reason=x \
        LIKWID_MODE=1 >seeds/text/likwid
    printf 'H1.E-06*(FIXC1/FIXC2)/inverseClock-(-time)' >seeds/text/formula
    printf 'Ejob-end=1 cause=cancelled realtime=1700000000000000000\n' >seeds/text/end
    printf '%s\n' 'Iscope-profile-step 1' job=17 step=0 nodes=2 component=0 user=1001 \
        group=1001 groups=1001,27 merge=srun run=/d/scope-profile-17.0 spool= timeout=30 wait=30 threads=1 \
        detach=no mpirun=no >seeds/text/step
    rm -rf "$memory/runs"
}

# fuzz NUMBER NAME SECONDS OPTION...: one test
fuzz() {
    local number=$1 name=$2 log=$2.log result=ok
    mkdir -p "corpus/$name"
    "./fuzz_$name" -max_total_time="$3" -timeout=10 -rss_limit_mb=1024 \
        -close_fd_mask=3 -print_final_stats=1 -artifact_prefix="findings/$name-" "${@:4}" \
        "corpus/$name" "seeds/$name" >"$log" 2>&1 || result='not ok'
    printf '%s %d - %s: %s inputs in %s s, %s places seen\n' "$result" "$number" "$name" \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$3" \
        "$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)"
    [[ $result == ok ]] || {
        tail -n 60 "$log" | sed 's/^/# /'
        return 1
    }
}

echo 1..4
make_seeds || { echo "Bail out! no seeds" && exit 1; }
bad=0
{
    fuzz 1 trace $((seconds * 4 / 12)) -max_len=32768 -malloc_limit_mb=64 || bad=1
    fuzz 2 text $((seconds / 12)) -max_len=4096 -malloc_limit_mb=16 || bad=1
    fuzz 4 container $((seconds / 12)) -max_len=32768 -malloc_limit_mb=64 || bad=1
    exit $bad
} &
# HDF5 keeps memory from one input to the next: leaks of the merge are looked for at the end alone.
fuzz 3 merge $((seconds * 6 / 12)) -max_len=32768 -malloc_limit_mb=256 \
    -detect_leaks=0 || bad=1
wait $! || bad=1
exit $bad
