#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What root starts for a user can do nothing that the user could not, whatever that user prepares: it
# neither reads nor writes what is not theirs, and it neither hangs nor drains a node.
. "$(dirname "$0")/epilog.sh"
plan 27
epilog_on
mpicc_openmpi -o neighbours "$programs/neighbours.c"
owner=$(stat --format=%U .)
secret=$SP_CLUSTER/secret
mkdir -m 700 "$secret"
echo "root's own" >"$secret/file"
trap 'epilog_off; rm -rf "$secret"' EXIT

# Jobs have one step on both nodes. What their user does then in $run, the run directory, is what
# the epilog will find.
prelude=('srun --mpi=pmix --scope-profile=mpi-calls,merge=epilog ./neighbours 0.1'
    "run=$work/scope-profile-\$SLURM_JOB_ID.0" 'trace=$(echo $run/*/rank-000001.sptrace)')

# untouched NAME: one test, that root's directory is as it was and nothing of it came out
untouched() {
    is "$(listing "$secret")$(cat "$secret/file")$(grep -rl "root's own" "$work" "$epilog_log")" \
        "fileroot's own" "$1"
}

# --- links, FIFOs, files that change --------------------------------------------------------------
site merge-wait=3 epilog-timeout=10
submit -- "ln -sf $secret/file \$run/job; ln -sf $secret/file \$trace; ln -sf $secret/file \$run/exit-node1"
settle
is "$(ranks_of "$job.0")" 3 "links to root's file: the other ranks are merged"
untouched "and the file is neither read nor written"
submit -- "mv \$run \$run.away; ln -s $secret \$run"
settle
untouched "a link to root's directory in place of the run"
like "$(told "$job.0")" "scope-profile-$job.0: is no directory: links are not followed" "is told of"
is "$(stat --format=%U "scope-profile-$job.0.log")" "$owner" "in the user's own log as well"
node2_is dead
submit -- "ln -s $secret/file \$run.log; ln -s $secret/new \$run.h5; rm \$run/done-node2"
settle
node2_is alive
untouched "links in place of the profile and of its log"
submit -- 'rm $trace; mkfifo $trace'
settle
is "$(ranks_of "$job.0")" 3 "a FIFO in place of a trace costs that rank alone"

# Who may read a file may lock it.
in_work mkfifo held
submit -- "cat held"
await test -e "scope-profile-$job.0/job"
exec {lock}<"scope-profile-$job.0/job"
flock "$lock"
echo >held
settle
exec {lock}<&-
merged "$job.0" 4 "a job record that somebody else has locked is none of the epilog's business"

cat >cutter <<'END'
#!/bin/bash
until trace=$(ls scope-profile-*/*/rank-000001.sptrace 2>/dev/null); do sleep 0.1; done
for ((i = 0; i < 3000; i++)); do
    ! compgen -G 'scope-profile-*.h5' >/dev/null || exit 0
    truncate -cs $((400000 + i % 7 * 50000)) $trace 2>/dev/null
done
END
chmod 755 cutter
chown "$owner" cutter neighbours
rm -rf scope-profile-*
in_work ./cutter &
cutter=$!
submit --
settle
wait "$cutter"
is "$(stat --format=%U "scope-profile-$job.0.h5")" "$owner" "a trace that changes while it is merged: a profile"

# --- names ----------------------------------------------------------------------------------------
submit --job-name=$'x\nuser=0' -- 'exit 0'
settle
merged "$job.0" 4 "a job with a newline in its name is merged"
run srun --job-name=$'x\nuser=0' -N2 -n4 --mpi=pmix \
    --scope-profile='mpi-calls,merge=epilog,out=%x' ./neighbours 0.1
settle
is "$(find x_user=0 -type f -printf '%u\n' | sort -u)" "$owner" "also where that is part of the path"

# --- srun --uid= of root --------------------------------------------------------------------------
chmod 777 .
rm -rf scope-profile-* x_user=0
uid=$(id -u "$owner")
"$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --root --chdir "$work" -- \
    srun --uid="$uid" --gid="$(id -g "$owner")" -N2 -n4 --mpi=pmix --scope-profile=mpi-calls \
    ./neighbours 0.1 2>"$results/err" >"$results/out"
settle
is "$(find . -user root | wc -l)" 0 "srun --uid= by root writes nothing as root"
is "$(find . -name 'scope-profile-*.h5' -printf '%u\n')" "$owner" "the epilog merges for it, as the user"

# --- the registry ---------------------------------------------------------------------------------
submit -- "exec >$work/seen; ls /run/scope-profile; cat /run/scope-profile/\$SLURM_JOB_ID.0; \
mkdir /run/scope-profile/17.0; rm -rf /run/scope-profile; stat --format='%U %a' /run/scope-profile"
settle
is "$(cat seen)" "root 700" "users can neither read nor change the registry"
on_node 1 chmod 777 /run/scope-profile
on_node 2 chmod 777 /run/scope-profile
submit --
settle
is "$(find "scope-profile-$job.0" -name '*.sptrace' | wc -l)" 4 \
    "a registry that others may write to is not believed: the traces stay"
on_node 1 chmod 700 /run/scope-profile
on_node 2 chmod 700 /run/scope-profile

# --- the process that merges ----------------------------------------------------------------------
# With a node that is never done it waits. Its user looks at it, and stops it.
site merge-wait=60 epilog-timeout=12
node2_is dead
submit -- 'rm $run/done-node2'
merger=''
for ((round = 0; round < 300; round++)); do
    for merger in $(processes sp-merge); do
        [[ $(ps -o user:32= -p "$merger") != "$owner" ]] || break 2
    done
    sleep 0.1
done
is "$(tr '\0' '\n' <"/proc/$merger/environ" | cut -d= -f1 | sort | xargs)" "SLURMD_NODENAME SLURM_JOB_ID SLURM_JOB_UID" \
    "the hook hands on what is needed of the environment"
is "$(sed -n 's/^\(Uid\|Gid\):\t//p' "/proc/$merger/status" | tr '\t' '\n' | sort -u | xargs)" \
    "$(printf '%s\n' "$uid" "$(id -g "$owner")" | sort -u | xargs)" "it has no id but the user's"
is "$(sed -n 's/^Groups:\t//p' "/proc/$merger/status" | xargs)" "$(id -G "$owner")" "no group but theirs"
is "$(sed -n 's/^CapPrm:\t//p' "/proc/$merger/status")" 0000000000000000 "no capability"
is "$(readlink "/proc/$merger/cwd") $(find "/proc/$merger/fd" -type l -printf '%f %l\n' | sort |
    sed 's/:\[.*//' | xargs)" "/ 0 /dev/null 1 /dev/null 2 pipe 3 $work/scope-profile-$job.0" \
    "no descriptor of root's"
run cat "/proc/$merger/environ"
is "$status" 1 "it cannot be traced by its user's processes"
for merger in $(processes sp-merge); do
    [[ $(ps -o user:32= -p "$merger") != "$owner" ]] || as_user kill -STOP "$merger"
done
settle
node2_is alive
like "$(cat "scope-profile-$job.0.log")" "the merge was ended.*: the traces stay in $work/scope-profile-$job.0" \
    "stopped by its user it is ended in time"
is "$(find . -name '.sp-merge*') $(find "scope-profile-$job.0" -name '*.sptrace' | wc -l)" " 4" \
    "no temporary file is left, and the traces are"

# --- afterwards -----------------------------------------------------------------------------------
is "$(find "$work" -user root | wc -l)" 0 "nothing in the user's directory is root's"
is "$(registered | xargs)" '' "the registries are empty"
is "$(as_root sinfo --noheader --Node --format='%N %T %E' | xargs)" "node1 idle none node2 idle none" \
    "no node is drained"
is "$(processes sp-merge)" '' "no process is left"
