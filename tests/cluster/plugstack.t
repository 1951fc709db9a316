#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A wrong word in plugstack.conf is named in the log, and the job runs.
. "$(dirname "$0")/scenario.sh"
plan 7
fresh_directory
plugstack=$SP_CLUSTER/plugstack.conf
cp "$plugstack" "$results/plugstack.conf"
trap 'cat "$results/plugstack.conf" >"$plugstack"; cd /; rm -rf "$work" "$results"' EXIT
mpicc_openmpi -o speaker "$programs/speaker.c"

# Words of this run alone, for the logs are older.
for word in "colour$$=blue" "sparkling$$"; do
    sed "/scope_profile\.so/s|\$| $word|" "$results/plugstack.conf" >"$plugstack"
    run srun -n1 --scope-profile=mpi-calls,out="$word" --mpi=pmix ./speaker
    is "$status" 0 "$word: the job runs"
    passes "$word: and is profiled" test -f "$(echo "$word"/scope-profile-*.h5)"
    passes "$word: a log names the word" grep -r "scope.profile.*${word%=*}" "$SP_CLUSTER/log" \
        "$results/err"
done
cat "$results/plugstack.conf" >"$plugstack"
run srun -n1 true
is "$err" "" "with no wrong word nothing is said"
