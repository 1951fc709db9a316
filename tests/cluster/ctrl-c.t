#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ctrl-C twice, and SIGTERM: srun ends as without profiling, and what was recorded is not lost.
. "$(dirname "$0")/scenario.sh"
plan 8
fresh_directory
mpicc_openmpi -o waiter "$programs/waiter.c"

# interrupted SIGNALS WORD...: srun gets these signals when both ranks wait in MPI_Recv
interrupted() {
    rm -rf tally.* scope-profile-* said
    # A background command of bash ignores SIGINT unless told otherwise.
    # shellcheck disable=SC2016 # the inner shell expands
    run bash -c 'signals=$1
        shift
        env --default-signal=INT srun -N2 -n2 --mpi=pmix "$@" ./waiter 2>said &
        srun=$!
        until [[ -e tally.0 && -e tally.1 ]]; do sleep 0.05; done
        for signal in $signals; do
            kill -s "$signal" $srun
            until grep -q "^srun: interrupt (one\|^srun: forcing" said || ! kill -0 $srun; do
                sleep 0.02
            done 2>/dev/null
        done
        wait $srun
        status=$?
        cat said >&2
        exit $status' bash "$@"
}

for signals in "INT INT" TERM; do
    interrupted "$signals"
    without=$status
    interrupted "$signals" --scope-profile=mpi-calls
    is "$status" "$without" "$signals: srun's status is $without as without profiling"
    is "$(grep -c '^scope-profile: ' "$results/err")" 1 "$signals: one line of ours"
    passes "$signals: there is a merged file" test -f "$(echo scope-profile-*.h5)"
    passes "$signals: every call that ended is in the file" \
        "$SP_PYTHON" "$programs/compare_tally.py" "$(echo scope-profile-*.h5)" .
done
