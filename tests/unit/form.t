#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a merged file is like: compressed, of an older schema, without events, with MPI's own handles.
# shellcheck disable=SC2016 # bash -c expands its own arguments
# shellcheck source-path=SCRIPTDIR source=made_up.sh
. "${top_srcdir:-.}/tests/unit/made_up.sh"
python=${SP_PYTHON:-python3} check=$source/tests/unit/check_profile.py

said() { grep -q -e "$1" "$work/.stderr"; }
merge() { "$bin/sp-merge" -f "$@" 2>/dev/null; }
limited() { # KIB COMMAND...: with so much address space
    bash -c 'ulimit -v "$0" && exec "$@"' "$@"
}
storage() { # FILE: how /events/durations is stored
    h5dump -pH -d /events/durations "$1" | grep -o -e CONTIGUOUS -e 'DEFLATE { LEVEL [0-9] }'
}
same_data() { # FILE FILE: whatever is in one is in the other, however it is stored
    h5diff "$1" "$2" # says nothing if so
}
has_package() {
    "$python" -c 'import scope_profiler' 2>/dev/null
}

for kind in plain threads polls; do
    "$bin/make_traces" "$kind" "$kind"
    merge "$kind"
done
"$bin/make_run" ranks -n 40 --events 500 --noise 1000
merge ranks

# --- compression ----------------------------------------------------------------------------------
for kind in plain threads polls ranks; do
    merge --compress=4 --threads=3 "$kind" -o packed.h5
    ok "compressed, $kind has the same data" same_data "$kind.h5" packed.h5
    merge --compress=4 --threads=1 "$kind" -o alone.h5
    ok 'and the same bytes by one thread' cmp packed.h5 alone.h5
done
ok 'of the level that was asked for' test "$(storage packed.h5)" = 'DEFLATE { LEVEL 4 }'
ok 'which takes less' test "$(stat -c %s packed.h5)" -lt "$(stat -c %s ranks.h5)"
merge --compress=9 ranks -o most.h5
ok 'another level' test "$(storage most.h5)" = 'DEFLATE { LEVEL 9 }'
merge --compress=0 ranks -o none.h5
ok '0 is none' cmp none.h5 ranks.h5
merge --compress=auto ranks -o auto.h5
ok 'auto compresses many events as the package does' cmp auto.h5 packed.h5
merge --compress=auto plain -o auto.h5
ok 'and leaves few as they are' cmp auto.h5 plain.h5
for level in 10 -1 '' fast 4x; do
    ok "--compress=$level: status 64" exits 64 "$bin/sp-merge" -f --compress="$level" plain
done
ok 'an unwritable disk: status 3' \
    exits 3 bash -c 'ulimit -f 8; exec "$0" --compress=1 ranks -o full.h5' "$bin/sp-merge"
ok 'no half file is left' test ! -e full.h5
ok 'nor a temporary one' test -z "$(find . -name '*.tmp')"

# A rank of 1.1 million events, 17.6 MB, does not fit the quarter of 64 MiB.
"$bin/make_run" deep -n 2 --hosts 1 --events 1100000 --noise 1000
merge deep
ok '--memory=64M holds within 128 MiB of address space, compression included' \
    exits 0 limited 131072 "$bin/sp-merge" --memory=64M --threads=2 --compress=1 deep -o small.h5
ok 'with the same data' same_data deep.h5 small.h5
ok 'and more of it makes no other file' \
    bash -c '"$0" --compress=1 deep -o large.h5 && cmp large.h5 small.h5' "$bin/sp-merge"

# --- schema 2 -------------------------------------------------------------------------------------
for kind in plain threads polls ranks; do
    merge --schema=2 "$kind" -o old.h5
    "$bin/sp-report" "$kind.h5" | sed 's/^.*\.h5$//' >new.txt
    "$bin/sp-report" old.h5 | sed 's/^.*\.h5$//' >old.txt
    ok "in schema 2, $kind says the same" diff new.txt old.txt
    cp old.h5 "$kind-2.h5"
done
ok 'it is schema 2' bash -c 'h5dump -a /scope_profiler_schema old.h5 | grep -q "(0): 2$"'
merge --schema=2 --compress=4 ranks -o old-packed.h5
ok 'compressed or not' same_data old.h5 old-packed.h5
for schema in 1 4 '' x; do
    ok "--schema=$schema: status 64" exits 64 "$bin/sp-merge" -f --schema="$schema" plain
done

# --- statistics only ------------------------------------------------------------------------------
cp -r ranks kept
ok 'a file that would be too large' exits 0 "$bin/sp-merge" -f --remove --max-file=400K kept
ok 'says that it has no events' \
    said '^sp-merge: with events it would be larger than --max-file= allows: it has statistics only$'
ok 'and has none' bash -c '! h5dump -n kept.h5 | grep -q " /events"'
ok 'it says so itself' \
    bash -c 'h5dump -a /metadata/scope_profile_events kept.h5 | grep -q "left out"'
ok 'it is small' test "$(stat -c %s kept.h5)" -lt 409600
ok 'the traces stay' test -d kept/made-up-0
ok '--auto says it in its one line' exits 0 "$bin/sp-merge" -f --auto --max-file=400K kept
ok 'with where the traces are' said \
    '^scope-profile: 40 ranks, 20,000 MPI calls -> ./kept.h5; with events it would be larger than max-file: it has statistics only; the traces stay in ./kept$'
"$bin/make_run" asked -n 40 --events 500 --noise 1000 --what mpi-calls,max-file=400K
ok 'the run itself may have asked for that' exits 0 "$bin/sp-merge" --auto asked
ok 'as --auto says' said 'statistics only; the traces stay in ./asked$'
ok 'and whoever merges by hand did not' exits 0 "$bin/sp-merge" -f asked
ok 'nothing is said then' said '^sp-merge: 40 ranks, 20,000 MPI calls -> ./asked.h5$'
ok 'and there are events' bash -c 'h5dump -n asked.h5 | grep -q " /events"'
ok 'sp-report reports on statistics only' "$bin/sp-report" kept.h5
merge --max-file=1G ranks -o roomy.h5
ok 'one that is not too large is as ever' cmp roomy.h5 ranks.h5
ok 'compressed, more fits' exits 0 "$bin/sp-merge" -f --max-file=400K --compress=9 ranks -o packed.h5
ok 'with its events' same_data packed.h5 ranks.h5
ok 'what does not fit while it is compressed' \
    exits 0 "$bin/sp-merge" -f --memory=64M --max-file=4M --compress=1 deep -o deep-none.h5
ok 'says so, too' said 'statistics only$'
merge --max-file=4M deep -o deep-never.h5
ok 'and is then the same file' cmp deep-none.h5 deep-never.h5
ok '--max-file=: status 64' exits 64 "$bin/sp-merge" -f --max-file= plain

# --- handles --------------------------------------------------------------------------------------
merge --comm=handle polls -o handles.h5
labels() {
    h5dump -d /region_table/names -w 0 -y "$1" | grep -o 'comm=[-0-9]*' | sort -u | tr '\n' ' '
}
ok 'labels tell job-wide numbers' test "$(labels polls.h5)" = 'comm=0 comm=2 '
ok 'or the handles of Fortran' test "$(labels handles.h5)" = 'comm=100 comm=102 '
ok 'and the file says so' \
    bash -c 'h5dump -a /metadata/scope_profile_comm handles.h5 | grep -q handle'
ok '--comm=name: status 64' exits 64 "$bin/sp-merge" -f --comm=name plain

# --- the package ----------------------------------------------------------------------------------
has_package || {
    ok "the package # SKIP $python has no scope_profiler: set SP_PYTHON" true
    done_testing
}
for file in packed small plain-2 threads-2 polls-2 ranks-2 handles; do
    ranks=40
    case $file in
    small) ranks=2 ;;
    plain* | threads* | polls* | handles) ranks=4 ;;
    esac
    ok "the package reads $file.h5" "$python" "$check" "$file.h5" "$ranks"
done
ok 'of a file without events it reads the sums' "$python" -c '
import scope_profiler
full = scope_profiler.read_h5("ranks.h5")
for read in scope_profiler.read_h5, scope_profiler.read_h5_summary:
    profile = read("kept.h5")
    assert profile.num_ranks == 40 and sorted(profile.region_names) == sorted(full.region_names)
    for name in full.region_names:
        for rank, region in full[name].regions.items():
            other = profile[name].regions[rank]
            for field in ("num_calls", "total_duration", "min_duration", "max_duration",
                          "exclusive_duration"):
                got, expected = getattr(other, field), getattr(region, field)
                assert abs(got - expected) < 1e-12, (name, rank, field, got, expected)'
merge --max-file=1 plain -o plain-none.h5
ok 'and scope-profiler inspect prints them' "$python" -m scope_profiler inspect plain-none.h5
done_testing
