# SPDX-License-Identifier: BSD-3-Clause
# What the scenarios of the epilog share: a cluster whose epilog is ours, and what it did.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/scenario.sh"

slurm_conf=$SP_CLUSTER/slurm.conf
epilog_log=$SP_CLUSTER/log/epilog

# epilog_on: from now on the cluster has our epilog; undone at the end
epilog_on() {
    local node
    fresh_directory
    cp "$plugstack" "$slurm_conf" "$results"
    trap epilog_off EXIT
    cat >"$SP_CLUSTER/epilog" <<END
#!/bin/sh
hold=$SP_CLUSTER/epilog-\$SLURMD_NODENAME
for i in \$(seq 300); do
    [ "\$(cat "\$hold" 2>/dev/null)" = waits ] || break
    sleep 0.1
done
[ -e "\$hold" ] || $SP_STAGE/libexec/scope-profile/epilog.d/90-scope-profile 2>>$epilog_log
END
    chmod 755 "$SP_CLUSTER/epilog"
    : >"$epilog_log"
    for node in 1 2; do # steps of other scenarios had no epilog
        on_node "$node" find /run/scope-profile -mindepth 1 -delete 2>/dev/null
    done
    echo "Epilog=$SP_CLUSTER/epilog" >>"$slurm_conf"
    as_root scontrol reconfigure
}

# node2_is STATE: its epilog waits (30 s at most), never comes (dead), or comes as ever (alive)
node2_is() {
    if [[ $1 == alive ]]; then
        # What a node that is dead had in its registry is lost.
        ! grep -qs dead "$SP_CLUSTER/epilog-node2" ||
            on_node 2 find /run/scope-profile -mindepth 1 -delete
        rm -f "$SP_CLUSTER/epilog-node2"
    else
        echo "$1" >"$SP_CLUSTER/epilog-node2"
    fi
}

epilog_off() {
    node2_is alive
    cat "$results/plugstack.conf" >"$plugstack"
    cat "$results/slurm.conf" >"$slurm_conf"
    as_root scontrol reconfigure
    rm -f "$SP_CLUSTER/epilog"
    cd /
    rm -rf "$work" "$results"
}

# as_root CMD..., on_node N CMD...: as root on the login host, on host N
as_root() {
    "$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --root -- "$@"
}

on_node() {
    local node=$1
    shift
    "$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --root --node "$node" -- "$@"
}

# hasten: a job that was requeued would wait for two minutes, but Slurm refuses to start it in the
# second in which it was stopped
hasten() {
    local job
    for job in $(as_root squeue --noheader --states=PENDING --format='%A %r' |
        sed -n 's/ BeginTime$//p'); do
        sleep 1.5
        as_root scontrol update "jobid=$job" starttime=now
    done
}

# settle: until all jobs and their epilogs are over, 60 s at most
settle() {
    local round
    for ((round = 0; round < 600; round++)); do
        hasten
        [[ -n $(as_root squeue --noheader --states=all --format=%T | grep -vE \
            'COMPLETED|CANCELLED|FAILED|TIMEOUT|REVOKED') ||
            -n $(as_root sinfo --noheader --Node --format=%T | grep -v '^idle$') ]] || return 0
        sleep 0.1
    done
    return 1
}

# registered: the names in the registries of both hosts
registered() {
    on_node 1 ls -A /run/scope-profile | xargs
    on_node 2 ls -A /run/scope-profile | xargs
}

# processes NAME: the ids of those with this name on the hosts of this cluster
processes() {
    local pid id
    id=$(<"$SP_CLUSTER/id")
    for pid in $(ps -o pid= -C "$1"); do
        ! grep -qs " mini-cluster-$id " "/proc/$pid/mountinfo" || echo "$pid"
    done
}

# told JOB.STEP: what the epilogs of all hosts said of it
told() {
    grep "^scope-profile: job ${1%.*} step ${1#*.}: " "$epilog_log"
}

# merged RUN [RANKS]: one test, that there is a complete profile of so many ranks and nothing else
merged() {
    is "$(listing . | tr ' ' '\n' | grep "^scope-profile-$1" | xargs) $(ranks_of "$1")" \
        "scope-profile-$1.h5 ${2:-4}" "$3"
}

# ranks_of RUN: the ranks in its profile that came to the end
ranks_of() {
    python 'import h5py
with h5py.File(sys.argv[1]) as file:
    print(sum(state == b"complete" for state in file["scope_profile/ranks/state"]))' \
        "scope-profile-$1.h5"
}
