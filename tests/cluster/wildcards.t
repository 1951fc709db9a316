#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Receives from anybody keep what was asked in their label; what came is in the trace, also where the
# program ignores the status. So is which requests of several a call finished.
. "$(dirname "$0")/scenario.sh"
plan 8
fresh_directory

# received RANK: what the wildcard receives of RANK got, one a line
received() {
    sp-dump scope-profile-*/*/rank-00000"$1".sptrace |
        sed -n 's/.* received .*source \([0-9]*\) tag \([0-9]*\) bytes \([0-9]*\)$/\1 \2 \3/p'
}

# The tags and bytes of the messages, as they are sent; the last one is probed for, then received.
messages="10 12, 11 16, 12 20, 20 4, 21 8, 22 12, 30 4, 31 8, 32 12, 40 8, 50 24, 51 28, 60 28, 60 28"
for mpi in openmpi mpich; do
    rm -rf ./*
    "mpicc_$mpi" -o wildcards "$programs/wildcards.c"
    run srun -N2 -n2 --mpi="${launcher[$mpi]}" --scope-profile=mpi-calls,merge=off ./wildcards
    is "$status" 0 "$mpi: the program runs"
    for rank in 0 1; do
        is "$(received $rank | paste -sd,)" "$(sed "s/\(^\|, \)/,$((1 - rank)) /g; s/^,//" <<<"$messages")" \
            "$mpi, rank $rank: the trace tells source, tag and bytes of each message that came"
    done
    in_work sp-merge scope-profile-*/ -o run.h5 >/dev/null 2>&1
    passes "$mpi: the labels keep what was asked" agrees run.h5
done
