#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the administrator says in plugstack.conf holds for everybody who says nothing; SCOPE_PROFILE and
# the option say otherwise. A program that cannot be profiled is none of its user's business then.
. "$(dirname "$0")/scenario.sh"
plan 36
fresh_directory
cp "$plugstack" "$results/plugstack.conf"
trap 'cat "$results/plugstack.conf" >"$plugstack"; cd /; rm -rf "$work" "$results"' EXIT
mpicc_openmpi -o neighbours "$programs/neighbours.c"
gcc -static -o alone -x c - <<<'int main(void) { return 0; }'
programs_here="alone neighbours"

# profiles: the profile files below the working directory
profiles() {
    find . -name 'scope-profile-*.h5' | wc -l
}

# starts_anew: removes all but the programs
starts_anew() {
    find . -mindepth 1 -maxdepth 1 ! -name alone ! -name neighbours -exec rm -rf {} +
}

speak() {
    starts_anew
    run "$@" --mpi=pmix ./neighbours 0.1
}

# --- by default -----------------------------------------------------------------------------------
site default=mpi-calls
speak srun -n2
is "$status$(profiles)" 01 "default=mpi-calls: a step whose user said nothing is profiled"
is "$(grep -c . <<<"$err")" 1 "which the user notices in one line"
like "$err" '^scope-profile: 2 ranks, [0-9,]+ MPI calls -> \./scope-profile-' "that tells of the file"
starts_anew
run srun -n2 hostname
is "$status$err$(listing .)" "0$programs_here" "a program without MPI leaves nothing, not even a line"
run srun -n2 ./alone
is "$status$err$(listing .)" "0$programs_here" "nor does one that cannot be profiled"
run srun -n1 --scope-profile=mpi-calls ./alone
like "$err" '^scope-profile: ./alone is statically linked' "unless its user asked for it"
speak srun -n2 --scope-profile=off
is "$status$(profiles)$err" 00 "--scope-profile=off: no profile"
speak env SCOPE_PROFILE=off srun -n2
is "$status$(profiles)$err" 00 "SCOPE_PROFILE=off: no profile"
speak srun -n2 --export=NONE
is "$status$(profiles)" 01 "--export=NONE: it is profiled all the same"
speak srun -n2 --scope-profile=mpi-calls,merge=off
is "$status$(profiles)$err" 00 "the option says how"
is "$(find . -name '*.sptrace' | wc -l)" 2 "and there are traces"
# shellcheck disable=SC2016 # the job's shell expands
starts_anew
run sbatch --wait -n2 -o job.out --wrap 'srun --mpi=pmix ./neighbours 0.1; srun hostname'
is "$status$(profiles)" 01 "steps of a batch job are profiled"
is "$(grep -c scope-profile: job.out)" 1 "with one line for those with MPI"
# The inner step is one of its own, and profiled as such.
starts_anew
run srun -n1 bash -c 'srun --overlap -n1 --mpi=pmix ./neighbours 0.1'
is "$status$(profiles)" 01 "a step within a step is profiled once"

# --- by variable ----------------------------------------------------------------------------------
site ''
speak srun -n2
is "$status$(profiles)$err" 00 "without a default, nobody is profiled who did not ask"
speak env SCOPE_PROFILE=mpi-calls srun -n2
is "$status$(profiles)" 01 "SCOPE_PROFILE=mpi-calls asks"
speak env SCOPE_PROFILE=mpi-calls srun -n2 --scope-profile=off
is "$status$(profiles)$err" 00 "the option has the last word"
speak env SCOPE_PROFILE=mpi-cals srun -n2
is "$status$(profiles)" 00 "SCOPE_PROFILE with a typing error: the job runs unprofiled"
like "$err" '^scope-profile: SCOPE_PROFILE: unknown word "mpi-cals".*: the step is run without profiling$' \
    "and one line says why"
is "$(grep -c . <<<"$err")" 1 "one"
speak env SCOPE_PROFILE=help srun -n2
is "$status$(profiles)" 00 "SCOPE_PROFILE=help is not for jobs"

# --- the other words ------------------------------------------------------------------------------
in_work mkdir elsewhere
mkdir -p "$work/elsewhere"
site "out=$work/elsewhere/%u merge=off max-run=1M"
starts_anew
in_work mkdir elsewhere
run srun -n2 --scope-profile=mpi-calls --mpi=pmix ./neighbours 0.1
is "$status$(find elsewhere/*/scope-profile-* -name '*.sptrace' | wc -l)" 02 \
    "out= and merge=off of the site hold for who says nothing else"
like "$(grep -h what= elsewhere/*/scope-profile-*/job)" 'max-run=1M' "so does max-run="
speak srun -n2 --scope-profile=mpi-calls,out=mine,merge=srun
is "$status$(find mine -name '*.h5' | wc -l)" 01 "not for who does"

partition=$(as_user sinfo --noheader --format=%R | head -n 1)
# entries: what root notes of steps
entries() {
    for node in 1 2; do
        "$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --root --node $node -- \
            ls /run/scope-profile
    done
}
before=$(entries)
site "default=mpi-calls deny-partition=other,$partition"
speak srun -n2
is "$status$(profiles)$err" 00 "deny-partition=: no profile by default there"
speak srun -n2 --scope-profile=mpi-calls
is "$status$(profiles)" 00 "nor by request"
like "$err" "^scope-profile: .*does not profile in partition $partition: it is run without profiling\$" \
    "which is told in one line"
is "$(grep -c . <<<"$err")" 1 "one"
is "$(entries)" "$before" "and root notes nothing of either step"

site default=mpi-calls allow-user=nobody
speak srun -n2
is "$status$(profiles)$err" 00 "allow-user=: no profile by default for others"
speak srun -n2 --scope-profile=mpi-calls
is "$status$(profiles)" 00 "nor by request"
like "$err" 'this site does not let you profile' "which is told"
site "default=mpi-calls allow-user=nobody,$(stat -c %U .)"
speak srun -n2
is "$status$(profiles)" 01 "who is named is profiled"
site "allow-user=$(stat -c %u .)"
speak srun -n2 --scope-profile=mpi-calls
is "$status$(profiles)" 01 "also by number"

# --- a mistake of the administrator's -------------------------------------------------------------
site default=mpi-cals
speak srun -n2
is "$status$(profiles)$err" 00 "default= with a typing error: jobs run, and users hear nothing"
passes "the log names it" grep -r 'scope-profile.*default=mpi-cals' "$SP_CLUSTER/log"
