#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A merge that is killed costs the merge alone: srun's status is the program's, the traces stay, and
# one line says how to merge them.
. "$(dirname "$0")/scenario.sh"
plan 6
fresh_directory
plugstack=$SP_CLUSTER/plugstack.conf
cp "$plugstack" "$results/plugstack.conf"
trap 'cat "$results/plugstack.conf" >"$plugstack"; cd /; rm -rf "$work" "$results"' EXIT
mpicc_openmpi -o speaker "$programs/speaker.c"
# Stands in for a sp-merge that somebody kills in the middle: it ends by SIGKILL.
printf '#!/bin/bash\nkill -KILL $$\n' >killed-merge
chmod 755 killed-merge

sed "/scope_profile\.so/s|\$| merge-tool=$PWD/killed-merge|" "$results/plugstack.conf" >"$plugstack"
run srun -N2 -n2 --mpi=pmix --scope-profile=mpi-calls ./speaker
is "$status" 0 "srun's status is the program's"
like "$err" 'scope-profile: the merge was stopped; "sp-merge .*" makes the profile' \
    "one line says what happened and what to do"
is "$(grep -c '^scope-profile: ' "$results/err")" 1 "one line"
is "$(find . -name '*.sptrace' | wc -l)" 2 "both traces are there"
said=$(sed -n 's/.*"sp-merge \(.*\)" makes.*/\1/p' "$results/err")
passes "what the line says works" as_user "$SP_STAGE/bin/sp-merge" "$said"
passes "and makes the profile" test -s "$said.h5"
