#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sp-dump prints one trace, readable, and says what it cannot read.
. "$(dirname "$0")/scenario.sh"
plan 20
fresh_directory
mpicc_openmpi -o speaker "$programs/speaker.c"
in_work srun -N2 -n4 --mpi=pmix --scope-profile=mpi-calls,merge=off ./speaker >/dev/null 2>&1
trace=$(echo scope-profile-*/*/rank-000003.sptrace)
cp "$trace" "$results/trace"

run sp-dump "$trace"
is "$status" 0 "a whole trace: status 0"
like "$out" "rank +3 of 4" "it tells the rank"
like "$out" "node2" "the host"
like "$out" "Open MPI v4" "and the MPI library"
label='mpi:sendrecv_replace kind=point-to-point bytes=4 peer=0 root=-1 tag=0 comm=0'
is "$(grep -c "^ *[0-9.]* *[0-9.]* *[0-9]* $label\$" "$results/out")" 300 \
    "each call has a line with start, duration and label"
passes "the calls come in the order of their starts" bash -c \
    "grep '^ *[0-9.]* *[0-9.]* *[0-9]* mpi:' '$results/out' | awk '{ print \$1 }' | sort -cn"
is "$(grep '^ *[0-9.]* *[0-9.]* *[0-9]* mpi:' "$results/out" | sed -n '1s/.*mpi:\([a-z_]*\).*/\1/p')" \
    init "the first is init"
is "$(grep '^ *[0-9.]* *[0-9.]* *[0-9]* mpi:' "$results/out" | sed -n '$s/.*mpi:\([a-z_]*\).*/\1/p')" \
    finalize "the last is finalize"
is "$err" "" "nothing is on stderr"
passes "the trace stays as it is" cmp "$trace" "$results/trace"
run sp-dump scope-profile-*/*/*.sptrace
is "$(grep -c "$label\$" "$results/out"), $(grep -c ' of 4$' "$results/out")" "301, 4" \
    "several traces are printed one after another"
run bash -c "set -o pipefail; sp-dump $trace | head -1"
is "$err" "" "a pipe to head makes no noise"

truncate -s 5000 "$trace"
run sp-dump "$trace"
passes "a cut-off trace: status 1 or 2" test "$status" = 1 -o "$status" = 2
like "$err" "^sp-dump: [^"$'\n'"]*rank-000003" "and a message that names it"
seq 1000 >text
run sp-dump text
is "$status" 2 "no trace: status 2"
like "$err" "^sp-dump: [^"$'\n'"]*text" "and a message that names it"
mkfifo fifo
run sp-dump fifo nowhere
is "$status" 2 "a FIFO does not block"
run sp-dump
is "$status" 64 "no argument: status 64"
run sp-dump --version
like "$out" "^sp-dump.* [0-9]+\.[0-9]+" "--version prints it"
run sp-dump --help
like "$out" "Exit status" "--help tells the exit statuses"
