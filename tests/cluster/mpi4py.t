#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An mpi4py script, unmodified: its region table is exactly what it did.
. "$(dirname "$0")/scenario.sh"
plan 6
fresh_directory

table="\
mpi:allreduce kind=collective bytes=4 peer=-1 root=-1 tag=-1 comm=0 2
mpi:barrier kind=collective bytes=0 peer=-1 root=-1 tag=-1 comm=0 2
mpi:bcast kind=collective bytes=4 peer=-1 root=0 tag=-1 comm=0 2
mpi:irecv kind=point-to-point bytes=64 peer=0 root=-1 tag=17 comm=0 1
mpi:isend kind=point-to-point bytes=64 peer=1 root=-1 tag=17 comm=0 1
mpi:wait kind=wait bytes=64 peer=0 root=-1 tag=17 comm=0 request=irecv 1
mpi:wait kind=wait bytes=64 peer=1 root=-1 tag=17 comm=0 request=isend 1"
include='^mpi:(all|bar|bc|ir|is|w)'

cp "$programs/exchange.py" .
run srun -N2 -n2 --mpi=pmix --scope-profile=mpi-calls /usr/bin/python3 exchange.py
is "$status" 0 "the script runs on two hosts"
is "$out" "" "it prints nothing"
file=$(echo scope-profile-*.h5)
like "$err" "^scope-profile: 2 ranks, [0-9,]+ MPI calls -> \./$file\$" "the one line names the profile"

is "$(python '
for region in scope_profiler.read_h5(sys.argv[1]).get_regions(include=sys.argv[2]):
    print(region.name, region.num_calls)' "$file" "$include" | LC_ALL=C sort)" "$table" \
    "read_h5 gives exactly these regions and calls"

# The table of inspect as lines "NAME CALLS": columns are separated by two blanks or more.
inspect() {
    COLUMNS=200 scope-profiler inspect "$file" --regions-only --columns region calls \
        --include "$include" | sed 's/\x1b\[[0-9;]*m//g'
}
passes "scope-profiler inspect reads the file" inspect
is "$(inspect | sed -n 's/^.*\(mpi:[a-z]* [a-z0-9= -]*[^ ]\)[ |│]\{1,\}\([0-9]\{1,\}\)[ |│]*$/\1 \2/p' |
    LC_ALL=C sort)" "$table" "scope-profiler inspect shows exactly this table"
