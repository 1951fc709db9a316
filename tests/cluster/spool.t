#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# spool=: traces are written on the node and come to the run directory as one file per node.
# Nothing stays on the node, whatever the user makes of the spool; what cannot be spooled is written
# as ever.
. "$(dirname "$0")/scenario.sh"
plan 44
fresh_directory
cp "$plugstack" "$results/plugstack.conf"
spool=$(mktemp -d "$SP_CLUSTER/spool.XXXXXX") old=$(mktemp -d "$SP_CLUSTER/spool.XXXXXX")
trap 'cat "$results/plugstack.conf" >"$plugstack"; cd /; rm -rf "$work" "$results" "$spool" "$old"' EXIT
chmod 755 "$spool" "$old"
mpicc_openmpi -o neighbours "$programs/neighbours.c"
mpicc_openmpi -o death "$programs/death.c"
mpicc_mpich -o mpich "$programs/death.c"
gcc -shared -fPIC -o "$results/private_tmp_plugin.so" "$programs/private_tmp_plugin.c"
chmod 755 "$results"

# leftover NAME: a step's directory in $old, with things of its user in it, who made it look old
leftover() {
    mkdir -m 700 "$old/$1"
    mkdir "$old/$1/world-0"
    echo x >"$old/$1/world-0/rank-000000.sptrace"
    ln -s "$SP_CLUSTER/home/precious" "$old/$1/link"
    ln -s "$SP_CLUSTER/home" "$old/$1/world-0/link"
    chown -R --no-dereference --reference=. "$old/$1"
    touch --date='5 minutes ago' "$old/$1"
}
# They count as left when a minute old.
for name in 7.0-0-0 7.2-0-0 7.3-0-0 notes; do
    leftover "$name"
done

# step ARGUMENT...: a step of four tasks on two nodes that keeps its traces, in $run
step() {
    rm -rf scope-profile-*
    run srun -N2 -n4 --mpi=pmix --scope-profile=mpi-calls,merge=off "$@"
    run_directory=$(echo scope-profile-*)
}

# files: what is in the run directory, its traces included, but for the records
files() {
    (cd "$run_directory" && find . -type f -printf '%f\n' |
        grep -v '^job\|^exit-\|^done-\|^epilog' | sort | xargs)
}

# merged STATUS NAME: sp-merge ends so
merged() {
    run sp-merge --wait=1 -f "$run_directory" -o out.h5
    is "$status" "$1" "$2"
}

is_empty() {
    is "$(find "$spool" -mindepth 1)" "" "$1: nothing is left in the spool"
}

containers="spool-node1.sptraces spool-node2.sptraces"
traces="rank-000000.sptrace rank-000001.sptrace rank-000002.sptrace rank-000003.sptrace"

# --- as it is meant ------------------------------------------------------------------------------
site "spool=$spool"
run srun -N2 -n4 --mpi=pmix --scope-profile=mpi-calls ./neighbours 0.1
is "$status: $(listing . | sed 's/-[0-9]*\./-N./')" \
    "0: death mpich neighbours scope-profile-N.0.h5" \
    "srun merges, and the run directory is gone"
like "$err" '^scope-profile: 4 ranks, [0-9,]+ MPI calls -> \./scope-profile-[0-9]+\.0\.h5$' \
    "of all ranks, with nothing to complain of"
is_empty "a step"
step ./neighbours 0.1
is "$(files)" "$containers" "traces come as one file per node"
merged 0 "and make a complete profile"
is_empty "merge=off"
step hostname
is "$status: $(sort "$results/out" | xargs)$run_directory" \
    "0: node1 node1 node2 node2scope-profile-*" "a program without MPI leaves nothing"
is_empty "a program without MPI"

# --- ranks that are killed, programs that follow one another -------------------------------------
step ./death kill
is "$(files)" "$containers" "ranks that are killed: their traces come"
merged 1 "with all that they called"
passes "call by call" agrees out.h5
is_empty "ranks that are killed"
step -N1 -n1 -w node1 --mpi=none bash -c './mpich finalize0; ./mpich finalize0'
is "$(files)" "spool-node1.sptraces" "two programs in one task: their traces come"
merged 0 "and make complete profiles"
passes "of two worlds" test -s out-2.h5
rm -f out*.h5 tally.*

# --- a user who plays with the spool -------------------------------------------------------------
echo precious >"$SP_CLUSTER/home/precious"
step "$programs/spoiler.sh" ./neighbours 0.1
is "$(files)" "$containers" "a spoilt spool: the traces come all the same"
merged 0 "and make a complete profile"
is_empty "a spoilt spool"
is "$(cat "$SP_CLUSTER/home/precious")" precious "what its links point to is untouched"
is "$(grep -ac 'root:\|precious' "$run_directory"/*.sptraces | sed 's/.*://' | xargs)" "0 0" \
    "and not copied"
rm "$SP_CLUSTER/home/precious"

# --- what cannot be spooled ----------------------------------------------------------------------
site "spool=$spool spool-size=4K"
step ./neighbours 0.1
is "$status$err: $(files)" "0: $traces" \
    "spool-size= leaves no room: traces are written as ever"
merged 0 "and make a complete profile"
chmod 777 "$spool"
site "spool=$spool"
step ./neighbours 0.1
is "$status$err: $(files)" "0: $traces" "a spool that others may write to is not used"
passes "which the log says" grep -rq "the spool $spool must be root's" "$SP_CLUSTER/log"
chmod 755 "$spool"
ln -s "$spool" "$results/link"
site "spool=$results/link"
step ./neighbours 0.1
is "$status$err: $(files)" "0: $traces" "nor is one that is a link"
{
    echo "optional $results/private_tmp_plugin.so $spool"
    sed "/scope_profile\.so/s|\$| spool=$spool|" "$results/plugstack.conf"
} >"$plugstack"
step ./neighbours 0.1
is "$status$err: $(files)" "0: $traces" "nor one that tasks see another directory for"
is_empty "a private directory"

site "spool=$spool"
step bash -c './neighbours 0.1; chmod 000 scope-profile-*'
chmod 755 "$run_directory"
passes "a run directory that takes no copy is told of" \
    grep -rq "the traces of $spool/.* could not be copied to the run directory" "$SP_CLUSTER/log"
is_empty "a copy that failed"

# A file of 8 TiB without anything in it takes minutes to read.
site "spool=$spool spool-timeout=1"
step -N1 -n1 -w node1 --mpi=none bash -c \
    './mpich finalize0; cd "$SLURM_SCOPE_PROFILE_SPOOL"/*-0; truncate --size=8T rank-000099.sptrace'
is "$status$err" 0 "a copy that takes too long: the step is over all the same"
passes "which the log says" \
    grep -rq "the traces of $spool/.* were not copied within spool-timeout=" "$SP_CLUSTER/log"
is_empty "a copy that was ended"

# --- a job that runs ------------------------------------------------------------------------------
rm -rf scope-profile-*
in_work srun -N2 -n4 --mpi=pmix --scope-profile=mpi-calls,merge=off ./neighbours 8 &
step=$!
traces_begun() {
    (($(find "$spool" -name '*.sptrace' | wc -l) == 4))
}
await traces_begun
run sp-dump --live .
is "$status $(grep -cE '^ +[0-3]  node[12]' <<<"$out")" "0 4" \
    "sp-dump --live reads what lies in a spool that it can see: all ranks"
mv "$spool" "$spool.away" # as on a host that has none of them
run sp-dump --live .
elsewhere="^sp-dump: the ranks on node[12] write to $spool/[^ ]* there: sp-dump --live on that node"
is "$(grep -c "$elsewhere" <<<"$err")" 2 "and tells where what it cannot see is"
mv "$spool.away" "$spool"
wait "$step"

# --- what others left ----------------------------------------------------------------------------
echo precious >"$SP_CLUSTER/home/precious"
while (($(date +%s) - $(stat --format=%Z "$old/notes") <= 61)); do
    sleep 0.5
done
leftover 7.1-0-0
exec {held}<"$old/7.2-0-0"
flock "$held"
for node in 1 2; do
    "$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --root --node "$node" -- \
        touch /run/scope-profile/7.3
done
site "spool=$old"
step ./neighbours 0.1
exec {held}<&-
is "$status$err: $(listing "$old")" "0: 7.1-0-0 7.2-0-0 7.3-0-0 notes" \
    "a step's directory that nobody holds, and no epilog will look for, goes with the next step"
is "$(cat "$SP_CLUSTER/home/precious")" precious "what links in it point to is untouched"
for node in 1 2; do
    "$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --root --node "$node" -- \
        rm /run/scope-profile/7.3
done
rm "$SP_CLUSTER/home/precious"

# --- copies that are not whole -------------------------------------------------------------------
site "spool=$spool"
step ./neighbours 0.1
truncate --size=-600000 "$run_directory/spool-node2.sptraces"
merged 1 "a copy that was stopped: what is there is merged"
like "$err" "sp-merge: spool-node2\.sptraces: not all traces were copied" "and it is said"
truncate --size=0 "$run_directory/spool-node1.sptraces"
rm "$run_directory/done-node1"
begun=$SECONDS
merged 1 "a node that brings nothing is waited for, but not for ever"
passes "for as long as --wait= says" test $((SECONDS - begun)) -lt 30
like "$err" "sp-merge: spool-node1\.sptraces: not all traces were copied" "and it is named"
echo nonsense >"$run_directory/spool-node1.sptraces"
merged 1 "nonsense in place of the copy costs that alone"
rm "$run_directory/spool-node1.sptraces"
mkfifo "$run_directory/spool-node1.sptraces"
merged 1 "so does a FIFO"
run sp-merge --wait=0 --remove -f "$run_directory"
passes "and traces of such a run are not removed" test -s "$run_directory/spool-node2.sptraces"
