#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs that something else than their program ends, or whose traces lose their place: every call up
# to the death is in the merged file, which tells of each rank how it ended, as far as it was seen.
# Nobody gets a file of somebody else's written so. (Ends of the programs' own: exit-status.t.)
. "$(dirname "$0")/scenario.sh"
plan 46

# A cluster of its own, since hosts get lost: two for most of it, two to be cut off from one
# another, one to lose its slurmd, two of which one loses a slurmstepd.
own=$(mktemp -d /tmp/scope-ends.XXXXXX)
chmod 755 "$own"
SP_CLUSTER=$own/cluster
mini_cluster=$SP_TOP/contrib/mini-cluster
clean_up() {
    cd /
    fsfreeze --unfreeze "$own/frozen" 2>/dev/null
    "$mini_cluster" down --dir "$SP_CLUSTER" >"$own/down.out" 2>&1
    wait
    umount "$own/full" "$own/frozen" "$own/quota"
    rmdir "$memory_group"
    rm -rf "$own" "$results"
}
results='' memory_group=''
trap clean_up EXIT

# The hosts see what is mounted before they are made.
for disk in full frozen; do
    truncate --size 12M "$own/$disk.image"
    mkfs.ext4 -q -m 0 "$own/$disk.image"
    mkdir "$own/$disk"
    mount -o loop "$own/$disk.image" "$own/$disk"
done
# ext4 and xfs have quotas where the kernel was built for them, btrfs has its own.
truncate --size 128M "$own/quota.image"
mkfs.btrfs -q "$own/quota.image" >/dev/null # it prints a note all the same
mkdir "$own/quota"
mount -o loop "$own/quota.image" "$own/quota"
passes "a quota is set" btrfs quota enable "$own/quota"
btrfs qgroup limit 8M "$own/quota"
# Slurm notices soon that a host has gone, and does not wait long for tasks that ignore SIGTERM.
passes "a cluster starts" "$mini_cluster" up --dir "$SP_CLUSTER" --hosts 7 \
    --plugstack-line "optional $SP_STAGE/lib/slurm/scope_profile.so" --conf-line KillWait=5 \
    --conf-line SlurmdTimeout=6 --conf-line MessageTimeout=5
fresh_directory
trap clean_up EXIT
chown "$(stat -c %U "$work")" "$own/full" "$own/frozen" "$own/quota"
mpicc_openmpi -o death "$programs/death.c"

as_root() {
    "$mini_cluster" run --dir "$SP_CLUSTER" --root "$@"
}

# --- jobs -----------------------------------------------------------------------------------------

# begin NAME WORD...: a step of that name starts, in a directory of that name
begin() {
    local name=$1
    shift
    in_work mkdir "$name"
    (
        status=0
        # shellcheck disable=SC2016 # the inner shell expands
        as_user env --chdir="$work/$name" timeout --kill-after=5 90 \
            bash -c 'echo $$ >"../$0.pid"; exec srun --job-name="$0" --mpi=pmix "$@"' "$name" "$@" \
            >"$results/$name.out" 2>"$results/$name.err" </dev/null || status=$?
        echo "$status" >"$results/$name.status"
    ) &
}

# wait_for FILE...: until all are there, or a minute is over
wait_for() {
    local file end=$((SECONDS + 60))
    for file in "$@"; do
        until [[ -e $file ]] || ((SECONDS > end)); do sleep 0.05; done
    done
}

# ended NAME: waits for the end of the step, and sets status and err
ended() {
    wait_for "$results/$1.status"
    status=$(<"$results/$1.status") err=$(<"$results/$1.err")
}

job_of() {
    as_user squeue --noheader --name="$1" --format=%A
}

# tells NAME ENDS [FILE]: the merged file tells that ranks ended so, and has every call up to then
tells() {
    local file=${3:-$(echo "$work/$1"/scope-profile-*.h5)}
    is "$(ends_in "$file")" "$2" "$1: the file tells how ranks ended"
    passes "$1: it has every call up to then" agrees "$file" "$work/$1"
}
profiled=--scope-profile=mpi-calls

# --- what takes Slurm a while begins now ----------------------------------------------------------
begin limit -w node1,node2 -n2 --time=1 $profiled ../death stubborn
begin cut -w node3,node4 -n2 $profiled ../death idle
begin slurmd -w node5 -n2 $profiled env AWAIT=go ../death finalize0
begin slurmstepd -w node6,node7 -n2 $profiled ../death idle
wait_for {limit,cut,slurmd,slurmstepd}/tally.{0,1}

# A limit is a minute at least, but a job's end can be set; slurmctld looks each half a minute.
passes "the time limit is shortened" as_root scontrol update JobId="$(job_of limit)" EndTime=now+1
passes "a host is cut off" as_root --node 4 ip link set eth0 down
kill -KILL "$(<"$SP_CLUSTER/run/slurmd-node5.pid")"
touch slurmd/go
rank=$(sp-dump --header slurmstepd/scope-profile-*/*/rank-000001.sptrace | sed -n 's/^pid *//p')
kill -KILL "$(ps -o ppid= -p "$rank")"
# srun waits for the tasks of a slurmstepd that was killed, with or without us.
kill "$(<slurmstepd.pid)"

# --- scancel --------------------------------------------------------------------------------------
begin cancel -w node1,node2 -n2 $profiled ../death recv
wait_for cancel/tally.{0,1}
as_user scancel "$(job_of cancel)"
ended cancel
is "$status" 143 "cancel: srun's status"
tells cancel "ranks 0-1: signal 15 (SIGTERM), job cancelled"

# --- no room --------------------------------------------------------------------------------------
# out of the program's tally: millions of calls
begin full -w node1,node2 -n2 $profiled,out="$own/full" env CALLS=3000000 ../death finalize0
ended full
is "$status" 0 "full disk: the program runs to its end"
is "$(grep -c '^scope-profile: ' <<<"$err")" 1 "full disk: one line tells of it"
in_work sp-merge "$own"/full/scope-profile-*.0 -o full.h5 2>"$results/merge"
tells full "ranks 0-1: normal" full.h5
in_work rm -rf "$own"/full/scope-profile-*
begin killed-full -w node1,node2 -n2 $profiled,out="$own/full" \
    env CALLS=3000000 ../death kill
ended killed-full
in_work sp-merge "$own"/full/scope-profile-*.0 -o killed-full.h5 2>"$results/merge"
tells killed-full "ranks 0-1: signal 9 (SIGKILL), cause unknown" killed-full.h5

begin quota -w node1,node2 -n2 $profiled,out="$own/quota" env CALLS=6000000 ../death finalize0
ended quota
is "$status" 0 "quota: the program runs to its end"
is "$(grep -c '^scope-profile: ' <<<"$err")" 1 "quota: one line tells of it"
in_work sp-merge "$own"/quota/scope-profile-*.0 -o quota.h5 2>"$results/merge"
# At its quota btrfs takes nothing any more, not even over what is there: no counts, no exit record.
like "$(ends_in quota.h5)" "unknown: no exit record" "quota: the file tells how ranks ended"
like "$(tail -n 1 "$results/merge")" "2 ranks .*, [1-9],[0-9]{3},[0-9]{3} MPI calls -> ./quota.h5" \
    "quota: it has millions of calls up to then"

# shellcheck disable=SC2016 # bash in the step expands
begin file-size -w node1,node2 -n2 $profiled \
    bash -c 'ulimit -f 1024; exec env CALLS=3000000 ../death finalize0'
ended file-size
is "$status" 0 "file-size limit: no SIGXFSZ, the program runs to its end"
tells file-size "ranks 0-1: normal"

in_work mkdir closed
in_work chmod 555 closed
begin read-only -w node1,node2 -n2 $profiled,out="$work/closed" ../death finalize3
ended read-only
is "$status" 3 "read-only directory: the program runs to its end"
is "$(grep -c '^scope-profile: ' <<<"$err")" 1 "read-only directory: one line tells of it"
is "$(listing "$work/closed")" "" "read-only directory: nothing is in it"

# --- a step of two components ---------------------------------------------------------------------
# shellcheck disable=SC2016 # bash in the step expands
component='mkdir -p "$SLURM_SCOPE_PROFILE_RUN"; exit "$SLURM_PROCID"'
begin components --mpi=none -w node1 -n2 $profiled,merge=off bash -c "$component" : \
    -w node2 -n2 bash -c "$component"
ended components
is "$(cat components/scope-profile-*/exit-node[12] | cut -d' ' -f1-3,5 | sort)" \
    "exit=1 task=0 local=0 status=0
exit=1 task=1 local=1 status=256
exit=1 task=2 local=0 status=512
exit=1 task=3 local=1 status=768" "two components: tasks have the numbers that ranks would have"

# --- a run directory that goes away ---------------------------------------------------------------
begin removed -w node1,node2 -n2 $profiled env AWAIT=go ../death finalize3
wait_for removed/tally.{0,1}
in_work rm -rf removed/scope-profile-*
touch removed/go
ended removed
is "$status" 3 "removed run directory: the program runs to its end"
is "$(listing removed)" "go tally.0 tally.1" "removed run directory: nobody makes it again"

# --- links in the way -----------------------------------------------------------------------------
echo secret >"$own/secret"
echo precious >precious
chown --reference=. precious
begin links -w node1,node2 -n2 $profiled env AWAIT=go ../death finalize0
wait_for links/tally.{0,1}
run=$(echo links/scope-profile-*.0)
in_work ln -sf "$own/secret" "$run/exit-node1"
in_work ln -sf "$work/precious" "$run/exit-node2"
touch links/go
ended links
is "$(cat "$own/secret" "$work/precious")" $'secret\nprecious' \
    "links in place of exit records: what they lead to is as it was"
tells links "ranks 0-1: unknown: no exit record"

in_work mkdir elsewhere
begin moved -w node1,node2 -n2 $profiled,merge=off env AWAIT=go ../death finalize0
wait_for moved/tally.{0,1}
run=$(echo moved/scope-profile-*.0)
in_work mv "$run" moved/away
in_work ln -s "$work/elsewhere" "$run"
touch moved/go
ended moved
is "$(listing elsewhere)" "" "a link in place of the run directory: nothing is written there"

# --- out of memory --------------------------------------------------------------------------------
# Slurm here has no account of it: the kernel kills, and nobody is told why.
memory_limit() {
    if [[ -d /sys/fs/cgroup/memory ]]; then # version 1
        memory_group=$(mktemp -d /sys/fs/cgroup/memory/scope-ends.XXXXXX)
        echo "$1" >"$memory_group/memory.limit_in_bytes"
    else
        memory_group=$(mktemp -d /sys/fs/cgroup/scope-ends.XXXXXX)
        echo +memory >/sys/fs/cgroup/cgroup.subtree_control
        echo "$1" >"$memory_group/memory.max"
    fi
}
memory_limit 64M
begin memory -w node1 -n1 $profiled env AWAIT=go ../death hoard
wait_for memory/tally.0
sp-dump --header memory/scope-profile-*/*/rank-000000.sptrace | sed -n 's/^pid *//p' \
    >"$memory_group/cgroup.procs"
touch memory/go
ended memory
is "$status" 137 "out of memory: srun's status"
tells memory "rank 0: signal 9 (SIGKILL), cause unknown"

# --- a file system that does not answer -----------------------------------------------------------
begin frozen -w node1 -n4 $profiled,merge=off,out="$own/frozen" ../death idle
wait_for frozen/tally.{0,1,2,3}
fsfreeze --freeze "$own/frozen"
as_user scancel "$(job_of frozen)"
ended frozen
is "$status" 143 "frozen file system: it keeps neither slurmstepd nor srun"
fsfreeze --unfreeze "$own/frozen"
in_work sp-merge "$own"/frozen/scope-profile-*.0 -o frozen.h5 2>"$results/merge"
tells frozen "ranks 0-3: unknown: no exit record" frozen.h5

# --- what Slurm has noticed meanwhile -------------------------------------------------------------
ended slurmd
is "$status" 0 "slurmd killed: srun's status"
tells slurmd "ranks 0-1: normal"

ended slurmstepd
tells slurmstepd "rank 0: signal 9 (SIGKILL), cause unknown; rank 1: unknown: no exit record"

ended cut
tells cut "rank 0: signal 15 (SIGTERM), a node of the job failed; rank 1: unknown: no exit record"

ended limit
is "$status" 143 "time limit: srun's status"
tells limit "rank 0: signal 15 (SIGTERM), time limit reached; \
rank 1: signal 9 (SIGKILL), time limit reached"
