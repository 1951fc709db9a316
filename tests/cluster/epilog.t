#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# merge=epilog: the job's epilogs make the profile, exactly one of them, whatever started the step and
# however it ended; and they are the net under a srun that was killed.
. "$(dirname "$0")/epilog.sh"
plan 39
epilog_on
site merge-wait=3
mpicc_openmpi -o neighbours "$programs/neighbours.c"
mpicc_mpich -o mpich "$programs/neighbours.c"
mpicc_mpich -o speaker "$programs/speaker.c"
spool=$(mktemp -d "$SP_CLUSTER/spool.XXXXXX")
chmod 755 "$spool"
trap 'epilog_off; rm -rf "$spool"' EXIT
what=--scope-profile=mpi-calls,merge=epilog

# batch: submit, until the job and its epilogs are over
batch() {
    submit "$@"
    settle
}

# --- who starts the step --------------------------------------------------------------------------
run srun -N2 -n4 --mpi=pmix "$what" ./neighbours 0.1
direct=$(sed -n 's/.*scope-profile-\(.*\)\.h5$/\1/p' <<<"$err")
is "$status$(grep -c scope-profile <<<"$err")" 01 "srun: its status is the program's, and says one line"
like "$err" "^scope-profile: when the job has ended, the profile will be $work/scope-profile-$direct.h5" \
    "which names the profile"
settle
merged "$direct" 4 "srun: a complete profile, no log and no traces"
like "$(told "$direct")" "^scope-profile: job [0-9]+ step 0: 4 ranks, [0-9,]+ MPI calls -> $work/scope" \
    "the system's log tells of it"

batch -- "srun --mpi=pmix $what ./neighbours 0.1" 'srun hostname' \
    "srun -n2 -N1 --mpi=pmix $what ./neighbours 0.1" "srun $what hostname"
merged "$job.0" 4 "srun inside sbatch"
merged "$job.2" 2 "its steps each have their own profile"
is "$(listing . | grep -c "scope-profile-$job\.[13]")" 0 "a program without MPI leaves nothing"

batch --scope-profile=mpi-calls,out=%u -- 'mpirun.openmpi ./neighbours 0.1' \
    'mpirun.openmpi ./neighbours 0.1' \
    "sp-merge scope-profile-\$SLURM_JOB_ID.mpirun-2 -o mine.h5 || sp-merge */*.mpirun-2"
is "$(listing "$(as_user id -un)" | tr ' ' '\n' | grep "^scope-profile-$job\." | xargs)" \
    "scope-profile-$job.mpirun-1.h5 scope-profile-$job.mpirun-2 scope-profile-$job.mpirun-2.h5" \
    "what mpirun started in a batch script, but for what the script merged itself"
is "$(sp-report --json ./*/"scope-profile-$job.mpirun-1.h5" | python3 -c '
import json, sys
print(json.load(sys.stdin)["num_ranks"])')" 4 "all ranks of it"
batch --scope-profile=mpi-calls,merge=off -- 'mpirun.openmpi ./neighbours 0.1'
is "$(listing . | tr ' ' '\n' | grep "^scope-profile-$job\." | xargs)" "scope-profile-$job.mpirun-1" \
    "unless it is not to be merged"
rm -rf ./*.mpirun-* "$(as_user id -un)"

# Ranks may be at work on a node whose epilog has not come.
site merge-wait=20
node2_is waits
submit --scope-profile=mpi-calls -- 'mpirun.openmpi ./neighbours 0.1' 'mpiexec.mpich ./mpich 0.1'
passes "mpirun: the epilog of a node says that it is done" \
    await test -e "scope-profile-$job.mpirun-2/done-node1"
is "$(listing . | tr ' ' '\n' | grep "^scope-profile-$job\..*h5$")" '' "and waits for the other node"
node2_is alive
settle
merged "$job.mpirun-1" 4 "which is then merged, too: mpirun"
merged "$job.mpirun-2" 4 "and mpiexec"
site merge-wait=3
node2_is dead
batch --scope-profile=mpi-calls -- 'mpirun.openmpi ./neighbours 0.1'
like "$(cat "scope-profile-$job.mpirun.log")" \
    "scope-profile-$job.mpirun-1: 1 of 2 nodes were done: merging what is there" \
    "but not for ever"
node2_is alive
run salloc -N2 -n4 --scope-profile=mpi-calls mpirun.openmpi ./neighbours 0.1
job=$(sed -n 's/.*Granted job allocation //p' <<<"$err")
settle
merged "$job.mpirun-1" 4 "mpirun inside salloc"

run salloc -N2 -n4 srun --mpi=pmix "$what" ./neighbours 0.1
job=$(sed -n 's/.*Granted job allocation //p' <<<"$err")
settle
merged "$job.0" 4 "srun inside salloc"

run sbatch --parsable --array=0-1 -N1 -n2 -o job.out \
    --wrap "srun --mpi=pmix $what,out=array/%A-%a ./neighbours 0.1"
array=${out%%$'\n'*}
settle
is "$(find array -type f -printf '%h %f\n' | sed 's/-[0-9]*\.0\.h5/-JOB.0.h5/' | sort | xargs)" \
    "array/$array-0 scope-profile-JOB.0.h5 array/$array-1 scope-profile-JOB.0.h5" \
    "the tasks of an array"

# second_world: JOB.STEP of the profile of a run's second world. srun says nothing where the epilog was
# faster.
second_world() {
    settle
    listing . | tr ' ' '\n' | sed -n 's/^scope-profile-\([0-9]*\.0\)-2\.h5$/\1/p'
}
run srun -N1 -n1 --mpi=none "$what" bash -c './speaker; ./speaker'
two=$(second_world)
is "$(ranks_of "$two") $(ranks_of "$two-2") $(find . -path "./scope-profile-$two*" -name '*.sptrace')" \
    "1 1 " "two MPI programs in one task: a profile of each"
rm -f "scope-profile-$two"*.h5

# Without PMI each task is a world of its own. What it says need not be UTF-8.
run srun --mpi=none "$what" -N1 -n1 ./speaker : -N1 -n1 ./speaker
het=$(second_world)
is "$(listing . | tr ' ' '\n' | grep "${het:-nothing}" | xargs)" \
    "scope-profile-$het-2.h5 scope-profile-$het.h5" \
    "both components of a heterogeneous job"

batch -- "for i in {1..20}; do srun -N1 -n1 --overlap --mpi=pmix $what ./neighbours 0.1 & done; wait"
is "$(find . -name "scope-profile-$job.*.h5" | wc -l) $(find . -name '*.sptrace' | wc -l)" "20 0" \
    "20 steps at once"

# A job that starts anew has a directory of its own, whatever became of the first.
batch --requeue -- "srun --mpi=pmix $what ./neighbours 0.1" \
    '((SLURM_RESTART_COUNT > 0)) || { scontrol requeue $SLURM_JOB_ID; sleep 60; }'
is "$(listing . | tr ' ' '\n' | grep "^scope-profile-$job\.0" | xargs)" \
    "scope-profile-$job.0-r1.h5 scope-profile-$job.0.h5" "a requeued job: a profile of each start"

# --- steps that do not end well -------------------------------------------------------------------
# begun DIRECTORY: a line of a script that waits until the ranks of the run are at work
begun() {
    echo "for i in {1..400}; do (( \$(ls $1/*/*.sptrace 2>/dev/null | wc -l) < 4 )) || break;" \
        'sleep 0.05; done; sleep 0.3'
}
run_directory="$work/scope-profile-\$SLURM_JOB_ID.0"

batch -- "srun --mpi=pmix $what ./neighbours 60 & $(begun "$run_directory")" \
    'scancel $SLURM_JOB_ID.0; wait'
is "$(ends_in "scope-profile-$job.0.h5" | grep -c 'signal')" 1 \
    "a step that was cancelled: how its ranks ended is told"
is "$(cat "scope-profile-$job.0.log")" \
    "scope-profile: 4 ranks (4 cut off), $(mpi_calls "scope-profile-$job.0.h5") MPI calls -> $work/scope-profile-$job.0.h5; the traces stay in $work/scope-profile-$job.0" \
    "the log beside it says what is missing"
is "$(stat --format=%U "scope-profile-$job.0.log" "scope-profile-$job.0.h5" | sort -u)" \
    "$(stat --format=%U .)" "the files are the user's"

# A node that dies never makes its marker.
node2_is dead
batch -- "srun --mpi=pmix $what ./neighbours 0.1" "rm $run_directory/done-node2"
node2_is alive
like "$(head -n1 "scope-profile-$job.0.log")" \
    "^scope-profile: $work/scope-profile-$job.0: 1 of 2 nodes were done: merging what is there\$" \
    "a node that was never done: after merge-wait= the others merge"
is "$(ranks_of "$job.0") $(told "$job.0" | grep -c 'MPI calls')" "4 1" "exactly one of them"

# at_work: whether the ranks of the job have begun their traces
at_work() {
    (($(find "$spool" scope-profile-"$job".0 -name '*.sptrace' 2>/dev/null | wc -l) == 4))
}

# Somebody kills the step's daemon on one of the nodes, and what it leaves.
kill_step() {
    local pid
    for pid in $(on_node 2 sh -c 'for p in /proc/[0-9]*; do
        [ "$(readlink $p/ns/uts)" = "$(readlink /proc/self/ns/uts)" ] || continue
        tr "\0" " " <$p/cmdline | grep -qE "^slurmstepd: \[[0-9]+\.0\]|^./neighbours" && echo ${p#/proc/}
    done' 2>/dev/null); do
        kill -KILL "$pid"
    done
}
site merge-wait=20 "spool=$spool"
submit -- "srun --mpi=pmix $what ./neighbours 60"
await at_work
kill_step
as_user scancel "$job"
settle
like "$(cat "scope-profile-$job.0.log")" "^scope-profile: 4 ranks \(4 cut off\)" \
    "a slurmstepd that was killed: its node's epilog does what it left to be done"
is "$(find "$spool" -mindepth 1)" '' "and nothing is left in the node's spool"
site merge-wait=20
submit -- "srun --mpi=pmix $what ./neighbours 4"
await at_work
slurmd=$(<"$SP_CLUSTER/run/slurmd-node2.own-pid")
kill -KILL "$slurmd"
passes "a slurmd that was killed: the other node's epilog merges" \
    await test -e "scope-profile-$job.0.h5"
"$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --root --node 2 -- \
    setsid --fork slurmd -D -f "$slurm_conf" </dev/null >>"$SP_CLUSTER/log/slurmd-node2.out" 2>&1
# shellcheck disable=SC2016 # bash -c expands
await bash -c '[[ $(<"$1") != "$2" ]]' - "$SP_CLUSTER/run/slurmd-node2.own-pid" "$slurmd"
cp "$SP_CLUSTER/run/slurmd-node2.own-pid" "$SP_CLUSTER/run/slurmd-node2.pid"
settle
merged "$job.0" 4 "all of it, which the node's own finds done when it comes"
site merge-wait=3

# --- the net under merge=srun ---------------------------------------------------------------------
batch -- "srun --mpi=pmix --scope-profile=mpi-calls ./neighbours 60 & $(begun "$run_directory")" \
    'kill -KILL $!; wait'
is "$(listing . | tr ' ' '\n' | grep -c "^scope-profile-$job\.0\.h5")" 1 "srun is killed: the epilog merges"
like "$(cat "scope-profile-$job.0.log")" "4 ranks \(4 cut off\)" "and says what became of the ranks"
batch -- 'srun --mpi=pmix --scope-profile=mpi-calls ./neighbours 0.1' \
    'srun --mpi=pmix --scope-profile=mpi-calls,merge=off ./neighbours 0.1'
is "$(told "$job.0")$(told "$job.1")$(ranks_of "$job.0")" 4 "what srun merged is left alone, and merge=off"
is "$(find "scope-profile-$job.1" -name '*.sptrace' | wc -l)" 4 "keeps its traces"

# --- the time it takes ----------------------------------------------------------------------------
site epilog-detach=yes merge-wait=60
node2_is dead
batch -- "srun --mpi=pmix $what ./neighbours 0.1" "mv $run_directory/done-node2 $work/held"
passes "epilog-detach=yes: the node does not wait for the merge" test ! -e "scope-profile-$job.0.h5"
in_work mv held "scope-profile-$job.0/done-node2"
node2_is alive
is_over() {
    [[ -e scope-profile-$job.0.h5 && -z $(registered | xargs) ]]
}
await is_over
is "$(ranks_of "$job.0")" 4 "which comes later"

# --- afterwards -----------------------------------------------------------------------------------
is "$(registered | xargs)" '' "the registries of both hosts are empty"
is "$(as_root sinfo --noheader --Node --format='%N %T %E' | xargs)" "node1 idle none node2 idle none" \
    "no node is drained"
